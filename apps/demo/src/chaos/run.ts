/** One run: a stream of meetings, disorder in its midst, healing, and a verdict from outside. Nothing is left of it. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './checker.ts'
import { chaosClient, type ChaosClient } from './client.ts'
import { startCrew, type Crew } from './crew.ts'
import { createChaosDatabase } from './database.ts'
import { makeDisorder } from './disorder.ts'
import { drain } from './drain.ts'
import { startLoad, type Load } from './load.ts'
import { lookAround, RECEIVER } from './look.ts'
import type { Owner } from './owner.ts'
import { DISPATCHERS } from './plan.ts'
import { defects, type Defect, type DefectName } from './planted/defects.ts'
import { plantInBundle, plantInDatabase } from './planted/plant.ts'
import { copyBundles, rosterOf, type Roster } from './roster.ts'
import { startServer, type Server } from './server.ts'
import { newTally } from './tally.ts'
import { figuresOf, judge, type Verdict } from './verdict.ts'

export interface ChaosOptions {
  /** The checkout, for bundles and migrations. */
  readonly root: string
  readonly minutes: number
  readonly seed: number
  readonly defect: DefectName | undefined
  readonly tell: (line: string) => void
  /** Aborts when somebody wants it to end now. */
  readonly signal: AbortSignal
}

/** Short, so that a crash is made good in seconds. */
const LEASE_MS = 6_000
const DRAIN_MAX_MS = 90_000

/** Rejects when it could not be carried out, and when it was called off; nothing is left running either way. */
export const runChaos = async (options: ChaosOptions): Promise<Verdict> => {
  const stops: (() => Promise<unknown>)[] = []
  try {
    return await attack(options, await raise(options, stops))
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

interface Raised {
  readonly server: Server
  readonly owner: Owner
  readonly roster: Roster
  readonly crew: Crew
  readonly client: ChaosClient
  readonly load: Load
}

/** Starts everything, and puts beforehand into `stops` how each is stopped. */
const raise = async (
  { root, seed, defect: name, tell }: ChaosOptions,
  stops: (() => Promise<unknown>)[],
): Promise<Raised> => {
  const defect: Defect | undefined = name && defects[name]
  const folder = await mkdtemp(join(tmpdir(), 'aftercommit-chaos-run-'))
  stops.push(() => rm(folder, { recursive: true, force: true }))
  await copyBundles(root, folder, (bundle) => (defect ? plantInBundle(bundle, defect) : bundle))
  const server = await startServer()
  stops.push(() => server.stop())
  const database = await createChaosDatabase(server.url, join(root, 'prisma', 'migrations'))
  const { owner, tenant } = database
  stops.push(() => owner.close())
  if (defect) await plantInDatabase(owner, defect)
  const roster = rosterOf(folder)
  stops.push(() => roster.stop())
  const crew = await startCrew({ roster, database, leaseMs: LEASE_MS, dispatchers: DISPATCHERS })
  const client = chaosClient(crew.apiUrl, tenant.apiKey)
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await crew.control.putWebhookSettings(RECEIVER, { secret })
  const url = `${crew.simulatorUrl}/webhooks/${RECEIVER}`
  await client.post('/v1/webhook-endpoints', { url, secret }, RECEIVER)
  const load = startLoad({ seed, client, control: crew.control })
  stops.push(() => {
    client.giveUp()
    return load.stop()
  })
  tell(
    `PostgreSQL ${server.version}, one API, ${DISPATCHERS} dispatchers with leases of ${LEASE_MS / 1000} s, seed ${seed}.`,
  )
  return { server, owner, roster, crew, client, load }
}

const attack = async (
  { seed, minutes, tell, signal }: ChaosOptions,
  { server, owner, roster, crew, client, load }: Raised,
): Promise<Verdict> => {
  const { control } = crew
  const tally = newTally()
  const theatre = { seed, server, owner, crew, load, tally, leaseMs: LEASE_MS, tell }
  await makeDisorder(theatre, Date.now() + minutes * 60_000, () => signal.aborted)
  signal.throwIfAborted()

  tell('Everything is healed, and the work runs dry.')
  const faults = await control.readFaults()
  await control.clearFaults()
  await load.stop()
  // From here the database's clock is moved, and a receiver that checks the time would refuse what is signed.
  await control.putWebhookSettings(RECEIVER, { secret: null })
  const { unrest, movedMs } = await drain(owner, DRAIN_MAX_MS, signal)
  tell(unrest ?? `Quiet, after ${Math.round(movedMs / 60_000)} minutes by the database's clock.`)
  const seen = await lookAround(owner, control, client.asked)
  const staleRefused = countStale(await roster.logsOf('dispatcher'))
  const shiftedClocks = [...crew.workers.values()].filter(({ clockOffsetMs }) => clockOffsetMs !== 0).length
  return judge(check(seen), figuresOf(seen, faults, tally, { staleRefused, shiftedClocks }))
}

/** Settles and starts that came too late, as those who tried them wrote into their logs. */
const countStale = (logs: readonly string[]): number =>
  logs.reduce((sum, log) => sum + log.split('"message":"stale"').length - 1, 0)
