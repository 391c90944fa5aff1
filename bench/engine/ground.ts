/** What the engine's experiments stand on: a PostgreSQL of their own, migrated, and doors into it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createEngine, type Engine, type EngineOptions } from '@aftercommit/outbox/engine'
import { enqueue } from '@aftercommit/outbox/enqueue'
import { defineAction, done, go, handlerOf, type ActionRequest, type Registration } from '@aftercommit/outbox'
import { openDb, type Db, type Tx } from '@aftercommit/platform/db'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { z } from 'zod'
import { startLocalPostgres, urlOf } from '../../packages/local-postgres/src/index.ts'

export interface Ground {
  readonly owner: Db
  readonly dispatcher: Db
  readonly dispatcherUrl: string
  createTenant(): Promise<string>
  /** Processor time that client and server have used so far. Unlike a rate, it hardly minds who else uses the machine. */
  cpuMs(): Promise<number>
  close(): Promise<void>
}

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

/** Durable, as production is: what a commit costs is part of what is measured. */
export const openGround = async (): Promise<Ground> => {
  const local = await startLocalPostgres({ durability: 'durable' })
  await migrate(local.url, MIGRATIONS)
  const password = randomBytes(18).toString('base64url')
  const dispatcherUrl = urlOf(local.url, { user: 'aftercommit_bench', password })
  await ensureLogin(local.url, dispatcherUrl, 'aftercommit_dispatcher')
  const owner = openDb({ url: local.url, applicationName: 'bench owner' })
  const dispatcher = openDb({ url: dispatcherUrl, applicationName: 'bench', connectionsMax: 20 })
  return {
    owner,
    dispatcher,
    dispatcherUrl,
    createTenant: async () => {
      const tenant = randomUUID()
      await owner.query('insert into tenant (tenant_id, name) values ($1, $2)', [tenant, 'Bench tenant'])
      return tenant
    },
    cpuMs: async () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000 + (await serverCpuMs(local.pid))
    },
    close: async () => {
      await Promise.all([owner.close(), dispatcher.close()])
      await local.stop()
    },
  }
}

const MS_PER_TICK = 10

/** Of the server's processes, those that have ended included. Linux only. */
const serverCpuMs = async (postmaster: number): Promise<number> => {
  let ticks = 0
  for (const pid of await readdir('/proc')) {
    const stat = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '') : ''
    // After the name in parentheses: state, parent, …; times are the 14th to 17th fields of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(pid) !== postmaster && Number(fields[1]) !== postmaster) continue
    const own = Number(fields[11]) + Number(fields[12])
    ticks += own + (Number(pid) === postmaster ? Number(fields[13]) + Number(fields[14]) : 0)
  }
  return ticks * MS_PER_TICK
}

const Payload = z.object({ id: z.uuid(), n: z.int() })

/** An action that does nothing, and says so at once. */
export const nothing = defineAction({
  name: 'bench.do_nothing',
  payload: Payload,
  payloadVersion: 1,
  policyVersion: 1,
  lane: 'bench',
  subject: ({ id }) => ({ type: 'thing', id }),
  identity: ({ id, n }) => `${id}:${n}`,
  repeat: 'safe',
  onPredecessorDead: 'run',
  leaseMs: 60_000,
  attemptsMax: 3,
  elapsedMaxMs: 3_600_000,
  backoff: { baseMs: 1_000, maxMs: 10_000 },
  repairOwner: 'operations',
})

export const doNothing = (onDone: () => void): Registration<Tx> =>
  handlerOf<Tx>()(nothing, {
    prepare: () => Promise.resolve(go(undefined)),
    perform: () => {
      onDone()
      return Promise.resolve(done(undefined))
    },
  })

export const benchEngine = (
  ground: Ground,
  registrations: readonly Registration<Tx>[],
  options: Partial<EngineOptions<Tx>> = {},
): Engine =>
  createEngine<Tx>({
    db: ground.dispatcher,
    registrations,
    laneByName: { bench: { concurrency: 200, claimMax: 100 } },
    report: (event) => {
      if (event.type === 'error') process.stderr.write(`${event.where}: ${String(event.error)}\n`)
    },
    ...options,
  })

const CHUNK = 500

/** Enqueues as the product does, in transactions of 500 rows. */
export const enqueueMany = async (
  ground: Ground,
  tenant: string,
  count: number,
  request: (n: number) => ActionRequest,
): Promise<void> => {
  for (let from = 0; from < count; from += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - from) }, (_, i) => request(from + i))
    await ground.dispatcher.transact(tenant, (tx) => enqueue(tx, rows))
  }
}

export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

export const say = (line: string): void => void process.stdout.write(`${line}\n`)
