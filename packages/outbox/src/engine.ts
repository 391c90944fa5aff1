/** The engine that runs rows. Only dispatchers import this entry. */
import { randomUUID } from 'node:crypto'
import { batcher } from './batcher.ts'
import { pausedResumer } from './busy-accounts.ts'
import type { EngineDb, SettleTx } from './db.ts'
import { deadlines } from './deadlines.ts'
import type { Registration } from './handler.ts'
import { askingFor } from './held.ts'
import { laneClaimOf } from './lane-claims.ts'
import { runAction } from './pipeline.ts'
import { runReconcile } from './reconcile.ts'
import { orderSweepOf } from './order-sweep.ts'
import { registryOf } from './registry.ts'
import { retainOnce } from './retention.ts'
import { rescueLostRows } from './rescue.ts'
import type { EngineEvent, Runtime } from './runtime.ts'
import { announce } from './hints.ts'
import { runLoops, type LaneOptions, type RunningLoops } from './loops.ts'
import { finishKeyedRows, finishUnkeyedRows, type PlainFinish, type SettleResult } from './settle.ts'
import { shutdown, type Shutdown } from './shutdown.ts'
import { buryUnknownRows } from './unknown.ts'
import {
  claimSoloRow,
  markStarted,
  releaseDueRows,
  type Claimant,
  type ClaimedRow,
  type Hold,
  type Retention,
} from './sql.ts'

export type { EngineDb, SettleTx } from './db.ts'
export type { EngineEvent } from './runtime.ts'
export type { LaneOptions } from './loops.ts'
export type { Retention } from './sql.ts'

export interface EngineOptions<T extends SettleTx> {
  readonly db: EngineDb<T>
  readonly registrations: readonly Registration<T>[]
  readonly replicaId?: string
  /** Takes the place of every action's own lease. Longer than the longest provider call and its settle. */
  readonly leaseMs?: number
  /** Workers and claim size per lane; lanes not named take the default. */
  readonly laneByName?: Readonly<Record<string, LaneOptions>>
  /** Names of actions that no code will ever know again: their rows become dead letters at once. */
  readonly retiredActions?: readonly string[]
  /** How long no replica must have known an action before its rows become dead letters. */
  readonly unknownGraceMs?: number
  /** How long ended rows are kept; for ever when left out. What is live, unknown or dead is kept in any case. */
  readonly retention?: Retention
  /** How often to look for work that no hint announced; jittered. */
  readonly pollMs?: number
  readonly random?: () => number
  readonly report?: (event: EngineEvent) => void
}

export interface TickSummary {
  readonly rescued: number
  readonly claimed: number
}

export interface Engine {
  readonly replicaId: string
  /** One round: what is due becomes ready, lost leases are taken over, one batch per lane is run to its end. */
  tick(): Promise<TickSummary>
  /** Ticks until a round finds nothing to do, or the engine is stopped. Rows scheduled for later stay. */
  drain(): Promise<TickSummary>
  /** Works until stopped. */
  start(): Promise<void>
  /** Stops claiming, lets running attempts end within `graceMs`, then interrupts them. Leaves nothing leased that it can hand back. */
  stop(graceMs: number): Promise<void>
}

const DEFAULT_LANE: LaneOptions = { concurrency: 20, claimMax: 100 }
const MARKS_MAX = 500
const FINISHES_MAX = 500
const DUE_ROWS_MAX = 1_000
/** Longer than any rolling deployment takes. */
const UNKNOWN_GRACE_MS = 15 * 60_000

export const createEngine = <T extends SettleTx>(options: EngineOptions<T>): Engine => {
  const grace = shutdown()
  let stopping = false
  let loops: RunningLoops | undefined
  const runtime = runtimeOf(options, grace, () => stopping)
  const claimant = claimantOf(runtime)
  const laneOf = (lane: string): LaneOptions => options.laneByName?.[lane] ?? DEFAULT_LANE
  const claimSolo = soloClaims(runtime, claimant)
  const claimOfLane = new Map(
    runtime.registry.lanes.map((lane) => [lane, laneClaimOf(runtime, claimant, lane)]),
  )
  const claim = async (lane: string, rowsMax: number, thorough = false): Promise<readonly ClaimedRow[]> =>
    (await claimOfLane.get(lane)?.(rowsMax, thorough)) ?? []
  const releaseDue = (): Promise<number> => releaseDueRows(runtime.db, DUE_ROWS_MAX)
  const { retention } = options

  const tick = async (): Promise<TickSummary> => {
    await releaseDue()
    const rescued = (await rescueLostRows(runtime, claimant)) + (await buryUnknownRows(runtime))
    const solo = await claimSolo()
    const claims = await Promise.all(
      runtime.registry.lanes.map((lane) => claim(lane, laneOf(lane).claimMax, true)),
    )
    const rows = [...(solo ? [solo] : []), ...claims.flat()]
    await Promise.all(rows.map((row) => runRow(runtime, row)))
    return { rescued, claimed: rows.length }
  }

  return {
    replicaId: runtime.replicaId,
    tick,
    drain: async () => {
      const total = { rescued: 0, claimed: 0 }
      for (;;) {
        const { rescued, claimed } = await tick()
        total.rescued += rescued
        total.claimed += claimed
        if (stopping || rescued + claimed === 0) return total
      }
    },
    start: async () => {
      loops = await runLoops(runtime, {
        laneOf,
        pollMs: options.pollMs ?? 1_000,
        claim,
        claimSolo,
        run: (row) => runRow(runtime, row),
        releaseDue,
        rescue: () => rescueLostRows(runtime, claimant),
        buryUnknown: () => buryUnknownRows(runtime),
        sweepOrder: orderSweepOf(runtime),
        ...(retention && { retain: () => retainOnce(runtime, retention) }),
      })
    },
    stop: async (graceMs) => {
      stopping = true
      const interrupt = setTimeout(grace.end, graceMs)
      await loops?.stop()
      clearTimeout(interrupt)
    },
  }
}

const claimantOf = <T extends SettleTx>({ registry, replicaId, leaseMsOf }: Runtime<T>): Claimant => ({
  replicaId,
  terms: [...registry.entryByName].map(([name, entry]) => ({
    action: name,
    leaseMs: leaseMsOf(name),
    accountConcurrencyMax: entry.action.accountConcurrencyMax,
    starts: entry.type === 'action' && entry.action.repeat === 'safe' && !entry.handler.prepare,
  })),
})

/** Serves the lanes in turn, so that one lane's many lost rows do not keep another's few waiting. */
const soloClaims = <T extends SettleTx>(
  runtime: Runtime<T>,
  claimant: Claimant,
): (() => Promise<ClaimedRow | undefined>) => {
  let lanes = [...runtime.registry.lanes]
  return async () => {
    for (;;) {
      const { rows, last } = await askingFor(() => claimSoloRow(runtime.db, claimant, lanes))
      if (!last) return undefined
      const [row] = rows
      // A row of a busy account was paused; behind it there may be others.
      if (!row) continue
      lanes = [...lanes.filter((lane) => lane !== row.lane), row.lane]
      runtime.report({ type: 'claimed', lane: row.lane, rows: 1 })
      return row
    }
  }
}

const runtimeOf = <T extends SettleTx>(
  options: EngineOptions<T>,
  grace: Shutdown,
  stopping: () => boolean,
): Runtime<T> => {
  const { db } = options
  const registry = registryOf(options.registrations)
  const report = options.report ?? (() => undefined)
  return {
    db,
    registry,
    replicaId: options.replicaId ?? randomUUID(),
    leaseMsOf: (name) => options.leaseMs ?? registry.entryByName.get(name)?.action.leaseMs ?? 0,
    retired: options.retiredActions ?? [],
    unknownGraceMs: options.unknownGraceMs ?? UNKNOWN_GRACE_MS,
    random: options.random ?? Math.random,
    report,
    shutdown: grace,
    deadlines: deadlines(),
    stopping,
    markStarted: batcher((holds: readonly Hold[]) => mark(db, holds), MARKS_MAX),
    resumeAnother: pausedResumer(db, registry, report),
    finishPlain: plainFinisher(db, report),
  }
}

const mark = async <T extends SettleTx>(
  db: EngineDb<T>,
  holds: readonly Hold[],
): Promise<readonly ('started' | 'stale')[]> => {
  const started = await markStarted(db, holds)
  return holds.map((hold) => (started.get(hold.id) === hold.fence ? 'started' : 'stale'))
}

/** Two batches, because repeating one that failed must not repeat what the other has done. */
const plainFinisher = <T extends SettleTx>(
  db: EngineDb<T>,
  report: (event: EngineEvent) => void,
): ((item: PlainFinish) => Promise<SettleResult>) => {
  const unkeyed = batcher((items: readonly PlainFinish[]) => finishUnkeyedRows(db, items), FINISHES_MAX)
  const keyed = batcher((items: readonly PlainFinish[]) => finishKeyedRows(db, items), FINISHES_MAX)
  const finishKeyed = async (item: PlainFinish): Promise<SettleResult> => {
    const { result, freedLane } = await keyed(item)
    if (freedLane !== undefined && freedLane !== item.row.lane) {
      announce(db, [freedLane]).catch((error: unknown) => report({ type: 'error', where: 'hint', error }))
    }
    return result
  }
  return (item) => (item.row.ordering_key === null ? unkeyed(item) : finishKeyed(item))
}

/** Never rejects: one row's failure is its own. */
const runRow = async <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): Promise<void> => {
  try {
    const entry = runtime.registry.entryByName.get(row.action)
    if (!entry) return
    if (entry.type === 'reconcile') await runReconcile(runtime, entry, row)
    else await runAction(runtime, entry, row)
  } catch (error) {
    // The row stays leased; when the lease runs out, a rescue decides by what was marked as started.
    runtime.report({ type: 'error', where: 'row', error })
  }
  const resumed = runtime.resumeAnother(row)
  // Most rows wait for nobody's account, and then for no turn of the event loop either.
  if (resumed) await resumed
}
