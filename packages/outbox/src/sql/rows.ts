import type { Correlation, RecordedCall } from '../outcome.ts'

export interface ClaimedRow {
  readonly id: string
  readonly tenant_id: string
  readonly identity: string
  readonly action: string
  readonly payload: unknown
  readonly aggregate_revision: number | null
  readonly trace_parent: string | null
  readonly lane: string
  /** Its place in the lane. */
  readonly turn: string
  readonly account: string | null
  readonly ordering_key: string | null
  readonly fence: string
  readonly attempts: number
  /** Leases lost since the row last came to an outcome. */
  readonly lost_leases: number
  readonly solo: boolean
  readonly doomed: boolean
  /** When a question was written; null for any other row. */
  readonly asked_at: Date | null
  readonly started_at: Date | null
  readonly first_started_at: Date | null
  readonly budget_from: Date | null
  readonly correlation: Correlation | null
  readonly target_id: string | null
  readonly target_fence: string | null
  /** Database time of the claim. */
  readonly now: Date
  /** When this process sent the claim, on its own clock; it is no column, and `askingFor` notes it. */
  claimSentAtMs?: number
}

/** No more than a worker reads: what a column costs to parse, it costs every row. */
export const CLAIMED_COLUMNS = `o.id, o.tenant_id, o.identity, o.action, o.payload, o.aggregate_revision, o.trace_parent,
  o.lane, o.turn, o.account, o.ordering_key, o.fence, o.attempts, o.lost_leases, o.solo, o.doomed,
  case when o.target_id is not null then o.created_at end as asked_at, o.started_at, o.first_started_at, o.budget_from,
  o.correlation, o.target_id, o.target_fence, app_now() as now`

/** Where a settle finds its row: the id, and the fencing token under which the caller holds it. */
export interface Hold {
  readonly id: string
  readonly fence: string
}

export const one = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows
  if (row === undefined) throw new Error('a statement that always answers one row answered none')
  return row
}

/**
 * One hold per row, by ascending id. When a row is named twice, by a holder that is too late and by its successor in the
 * same process, only the larger fence can be the row's own.
 */
export const onePerRow = <H extends Hold>(holds: readonly H[]): readonly H[] => {
  const byId = new Map<string, H>()
  for (const hold of holds) {
    const other = byId.get(hold.id)
    if (!other || BigInt(other.fence) < BigInt(hold.fence)) byId.set(hold.id, hold)
  }
  return [...byId.values()].sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
}

/** Under which fence each row was accepted. */
export type Accepted = ReadonlyMap<string, string>

export const acceptedOf = (rows: readonly Hold[]): Accepted =>
  new Map(rows.map(({ id, fence }) => [id, fence]))

export const ATTEMPT_COLUMNS =
  'outbox_id, tenant_id, fence, attempt, replica_id, claimed_at, started_at, outcome, code, calls'

export const callsJson = (calls: readonly RecordedCall[]): string | null =>
  calls.length === 0 ? null : JSON.stringify(calls)
