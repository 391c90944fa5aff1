/** The engine that runs rows. Only dispatchers import this entry. */
import { randomUUID } from 'node:crypto'
import { batcher } from './batcher.ts'
import type { EngineDb, SettleTx } from './db.ts'
import type { Registration } from './handler.ts'
import { runAction } from './pipeline.ts'
import { runReconcile } from './reconcile.ts'
import { registryOf } from './registry.ts'
import { rescueLostRows } from './rescue.ts'
import type { EngineEvent, Runtime } from './runtime.ts'
import { runLoops, type LaneOptions, type RunningLoops } from './loops.ts'
import { finishPlainRows } from './settle.ts'
import {
  claimRows,
  claimSoloRow,
  ensurePartitions,
  markStarted,
  releaseDueRows,
  type ClaimedRow,
  type Hold,
} from './sql.ts'

export type { EngineDb, SettleTx } from './db.ts'
export type { EngineEvent } from './runtime.ts'
export type { LaneOptions } from './loops.ts'

export interface EngineOptions<T extends SettleTx> {
  readonly db: EngineDb<T>
  readonly registrations: readonly Registration<T>[]
  readonly replicaId?: string
  /** Longer than the longest provider call and its settle. */
  readonly leaseMs?: number
  /** Workers and claim size per lane; lanes not named take the default. */
  readonly laneByName?: Readonly<Record<string, LaneOptions>>
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
  /** Ticks until a round finds nothing to do. Rows scheduled for later stay. */
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
const MONTHS_AHEAD = 2

export const createEngine = <T extends SettleTx>(options: EngineOptions<T>): Engine => {
  const shutdown = new AbortController()
  let stopping = false
  let loops: RunningLoops | undefined
  const runtime = runtimeOf(options, shutdown.signal, () => stopping)
  const laneOf = (lane: string): LaneOptions => options.laneByName?.[lane] ?? DEFAULT_LANE

  const tick = async (): Promise<TickSummary> => {
    await releaseDueRows(runtime.db, DUE_ROWS_MAX)
    const rescued = await rescueLostRows(runtime)
    const claims = await Promise.all(
      runtime.registry.lanes.map((lane) => claim(runtime, lane, laneOf(lane).claimMax)),
    )
    const rows = claims.flat()
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
        if (rescued + claimed === 0) return total
      }
    },
    start: async () => {
      await ensurePartitions(runtime.db, MONTHS_AHEAD)
      loops = await runLoops(runtime, {
        laneOf,
        pollMs: options.pollMs ?? 1_000,
        claim: (lane, rowsMax) => claim(runtime, lane, rowsMax),
        run: (row) => runRow(runtime, row),
        releaseDue: () => releaseDueRows(runtime.db, DUE_ROWS_MAX),
        rescue: () => rescueLostRows(runtime),
      })
    },
    stop: async (graceMs) => {
      stopping = true
      const interrupt = setTimeout(() => shutdown.abort(), graceMs)
      await loops?.stop()
      clearTimeout(interrupt)
    },
  }
}

const runtimeOf = <T extends SettleTx>(
  options: EngineOptions<T>,
  shutdown: AbortSignal,
  stopping: () => boolean,
): Runtime<T> => {
  const { db } = options
  const mark = async (holds: readonly Hold[]): Promise<readonly ('started' | 'stale')[]> => {
    const started = await markStarted(db, holds)
    return holds.map((hold) => (started.has(hold.id) ? 'started' : 'stale'))
  }
  return {
    db,
    registry: registryOf(options.registrations),
    replicaId: options.replicaId ?? randomUUID(),
    leaseMs: options.leaseMs ?? 60_000,
    random: options.random ?? Math.random,
    report: options.report ?? (() => undefined),
    shutdown,
    stopping,
    markStarted: batcher(mark, MARKS_MAX),
    finishPlain: batcher((items) => finishPlainRows(db, items), FINISHES_MAX),
  }
}

const claim = async <T extends SettleTx>(
  runtime: Runtime<T>,
  lane: string,
  rowsMax: number,
): Promise<readonly ClaimedRow[]> => {
  const { db, registry, replicaId, leaseMs } = runtime
  const options = { lane, actions: registry.names, replicaId, leaseMs }
  const solo = await claimSoloRow(db, options)
  if (solo.length > 0) return solo
  const rows = await claimRows(db, { ...options, limit: rowsMax })
  if (rows.length > 0) runtime.report({ type: 'claimed', lane, rows: rows.length })
  return rows
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
}
