import type { EngineDb, SettleTx } from './db.ts'
import type { Deadlines } from './deadlines.ts'
import type { FailureClass } from './outcome.ts'
import type { Registry } from './registry.ts'
import type { Shutdown } from './shutdown.ts'
import type { PlainFinish, SettleResult } from './settle.ts'
import type { ClaimedRow, Hold } from './sql.ts'

/** What the engine tells whoever runs it. Holds names and codes only, never payloads. */
export type EngineEvent =
  | { readonly type: 'claimed'; readonly lane: string; readonly rows: number }
  | {
      readonly type: 'settled'
      readonly action: string
      readonly outcomeType: string
      readonly code: string | undefined
      readonly failureClass: FailureClass | undefined
      readonly attempts: number
    }
  /** A holder came too late: another holds the row, and this one changed nothing. */
  | { readonly type: 'stale'; readonly action: string; readonly step: 'start' | 'settle' }
  | { readonly type: 'lease_lost'; readonly action: string; readonly started: boolean }
  | { readonly type: 'handed_back'; readonly action: string }
  /** Rows of an ordering key were out of order, which only a defect can bring about, and were put right. */
  | { readonly type: 'order_mended'; readonly rows: number }
  | { readonly type: 'error'; readonly where: string; readonly error: unknown }

/** What every step of the engine works with. */
export interface Runtime<T extends SettleTx> {
  readonly db: EngineDb<T>
  readonly registry: Registry<T>
  readonly replicaId: string
  /** How long a row of an action may be held. */
  readonly leaseMsOf: (action: string) => number
  /** Actions that are buried at once, because no replica will ever know them again. */
  readonly retired: readonly string[]
  /** How long nobody must have known an action before its rows are buried. */
  readonly unknownGraceMs: number
  readonly random: () => number
  readonly report: (event: EngineEvent) => void
  readonly shutdown: Shutdown
  readonly deadlines: Deadlines
  /** True from the moment that no new work may begin. */
  readonly stopping: () => boolean
  readonly markStarted: (hold: Hold) => Promise<'started' | 'stale'>
  /** Another row of this one's account may run now; see `pausedResumer`. */
  readonly resumeAnother: (row: ClaimedRow) => Promise<void> | undefined
  readonly finishPlain: (item: PlainFinish) => Promise<SettleResult>
}

/** A row that has lost this many leases in a row kills its workers: it is claimed again only to be ended. */
export const LOST_LEASES_MAX = 20

/** After so many endings that failed as well, it is buried without its domain, so that a person sees it. */
export const ENDINGS_MAX = 2

/** Part of a lease kept for settling: an attempt is told to end this long before its lease does. */
export const settleReserveMs = (leaseMs: number): number => Math.min(5_000, leaseMs * 0.2)
