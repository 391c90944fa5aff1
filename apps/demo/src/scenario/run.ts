/** One scenario from nothing to a verdict: a database of its own, real processes, and nothing left of them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setClock } from '@aftercommit/local-postgres/movable-clock'
import { newSealingKey } from '@aftercommit/platform/sealing'
import { createTenant } from '@aftercommit/platform/tenants'
import type { LedgerEntry } from '@aftercommit/simulator'
import pg from 'pg'
import { startFleet } from '../fleet.ts'
import type { MeetingAnswer, TraceAnswer } from './client.ts'
import { movableClock } from './clock.ts'
import { createScenarioDatabase, type ScenarioDatabase } from './database.ts'
import { judge, type Check } from './judge.ts'
import { play, type Play } from './play.ts'
import { processStage } from './process-stage.ts'
import type { Scenario } from './scenario.ts'
import type { Detail } from './telling.ts'

export interface Ended {
  readonly checks: readonly Check[]
  readonly passed: boolean
  readonly record: Recorded
}

/** Everything to read afterwards. */
export interface Recorded {
  readonly scenario: Scenario
  readonly passed: boolean
  readonly checks: readonly Check[]
  readonly meetings: readonly {
    readonly label: string
    readonly meeting: MeetingAnswer
    readonly trace: TraceAnswer
    /** The trace as its reader gets it. */
    readonly page: string
  }[]
  /** What went wrong at the providers and to the processes, and when. */
  readonly faults: readonly { readonly id: string; readonly fired: readonly { readonly at: string }[] }[]
  readonly ledger: readonly LedgerEntry[]
  /** What the client's own system received. */
  readonly told: readonly {
    readonly webhookId: string | null
    readonly body: string
    readonly duplicates: number
  }[]
}

export interface RunOptions {
  readonly root: string
  readonly tell: (line: string) => void
  readonly detail: Detail
}

const PROFILE = { LEASE_MS: '30000', CALL_TIMEOUT_MS: '9000', POLL_MS: '100', SHUTDOWN_GRACE_MS: '3000' }

/** Rejects when a step cannot be made; then nothing is left running either. */
export const runScenario = async (scenario: Scenario, options: RunOptions): Promise<Ended> => {
  const logFolder = await mkdtemp(join(tmpdir(), 'aftercommit-scenario-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(logFolder, { recursive: true, force: true })]
  try {
    const database = await createScenarioDatabase(join(options.root, 'prisma', 'migrations'))
    stops.push(database.drop)
    await begin(database, scenario)
    const { ownerUrl, apiUrl, dispatcherUrl } = database
    const fleet = await startFleet({
      root: options.root,
      logFolder,
      logins: { api: apiUrl, dispatcher: dispatcherUrl },
      sealingKeys: newSealingKey('scenario'),
      ports: { api: 0, simulator: 0 },
      profile: {
        ...PROFILE,
        ...(scenario.callTimeoutMs !== undefined && { CALL_TIMEOUT_MS: String(scenario.callTimeoutMs) }),
      },
      tell: options.tell,
    })
    stops.push(fleet.stop)
    const { tenantId, apiKey } = await createTenant(ownerUrl, 'Scenario')
    const stage = processStage({ fleet, ownerUrl, tenantId, apiKey, clockOver: movableClock })
    stops.push(stage.stop)
    const played = await play(scenario, stage, options.tell, options.detail)
    const checks = await judge(played)
    return { checks, passed: checks.every(({ passed }) => passed), record: await recordOf(played, checks) }
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

const begin = async ({ ownerUrl }: ScenarioDatabase, { beginsAt }: Scenario): Promise<void> => {
  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  await setClock(owner, new Date(beginsAt))
  await owner.end()
}

/** What the API, the provider and the client hold at the end, and the traces. */
export const recordOf = async (
  { scenario, stage, meetingIds, webhookName }: Play,
  checks: readonly Check[],
): Promise<Recorded> => {
  const { client, control } = stage
  const meetings = await Promise.all(
    [...meetingIds].map(async ([label, id]) => ({
      label,
      meeting: await client.meeting(id),
      trace: await client.trace(id),
      page: await client.tracePage(id),
    })),
  )
  const told = (await control.readWebhooks(webhookName)).received.map(({ webhookId, body, duplicates }) => ({
    webhookId,
    body,
    duplicates,
  }))
  return {
    scenario,
    passed: checks.every(({ passed }) => passed),
    checks,
    meetings,
    faults: [...(await control.readFaults()), ...stage.signals],
    ledger: await control.readLedger(),
    told,
  }
}
