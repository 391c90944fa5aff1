import type { Correlation, RecordedCall } from '../outcome.ts'
import type { LiveState } from '../states.ts'

export interface ClaimedRow {
  readonly id: string
  readonly tenant_id: string
  readonly identity: string
  readonly action: string
  readonly payload: unknown
  readonly aggregate_revision: number | null
  readonly trace_parent: string | null
  readonly state: LiveState
  readonly lane: string
  /** Its place in the lane. */
  readonly turn: string
  readonly account: string | null
  readonly ordering_key: string | null
  readonly fence: string
  /** Attempts started before this hold. */
  readonly attempts: number
  /** Leases lost since the row last came to an outcome. */
  readonly lost_leases: number
  readonly solo: boolean
  readonly doomed: boolean
  /** When a question was written; null for any other row. */
  readonly asked_at: Date | null
  /** When this hold was started: by the claim, or by whoever lost it. */
  readonly started_at: Date | null
  /** Whether the claim was the start, so that nobody may have been called yet. */
  readonly begun: boolean
  /** When the first attempt before this hold was started. */
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

const columnsWith = (
  attempts: string,
  firstStartedAt: string,
): string => `o.id, o.tenant_id, o.identity, o.action, o.payload, o.aggregate_revision, o.trace_parent,
  o.state, o.lane, o.turn, o.account, o.ordering_key, o.fence, ${attempts} as attempts, o.lost_leases, o.solo, o.doomed,
  case when o.target_id is not null then o.created_at end as asked_at, o.started_at, coalesce(o.started_at = o.claimed_at, false) as begun,
  ${firstStartedAt} as first_started_at, o.budget_from,
  o.correlation, o.target_id, o.target_fence, app_now() as now`

/** No more than a worker reads: what a column costs to parse, it costs every row. */
export const CLAIMED_COLUMNS = columnsWith('o.attempts', 'o.first_started_at')

/** The same of rows just claimed, past the attempt that the claim itself may have started. */
export const FRESH_COLUMNS = columnsWith(
  'o.attempts - (o.started_at is not null)::int',
  'nullif(o.first_started_at, o.started_at)',
)

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
    if (!other || compareBigints(other.fence, hold.fence) < 0) byId.set(hold.id, hold)
  }
  return [...byId.values()].sort((a, b) => compareBigints(a.id, b.id))
}

/** Up to so many characters, a sign included, a number holds a bigint exactly. */
const EXACT_LENGTH = 15

/** Negative if the first of two bigints in decimal is the smaller. Very many are compared, and most are short. */
export const compareBigints = (a: string, b: string): number =>
  a.length <= EXACT_LENGTH && b.length <= EXACT_LENGTH ? Number(a) - Number(b) : Number(BigInt(a) - BigInt(b))

/** A bigint array as PostgreSQL writes it, without looking at each element for what it must quote. */
export const bigints = (values: readonly string[]): string => `{${values.join(',')}}`

/** An array of texts; most often there is none among them. */
export const textsOrNulls = (values: readonly (string | null | undefined)[]): string | readonly unknown[] =>
  values.every((value) => value === null || value === undefined)
    ? `{${values.map(() => 'null').join(',')}}`
    : values.map((value) => value ?? null)

/**
 * The rows of `outbox o` whose ids are $1 and that are held under the fences $2. A lookup by key, and then in a small hash:
 * written as a join, a plan made for an empty table would walk the whole index; and looking through the list once per row
 * costs more than the change itself.
 */
export const HELD = `o.id = any($1::bigint[]) and case when (o.id, o.fence) in
  (select h.id, h.fence from unnest($1::bigint[], $2::bigint[]) h(id, fence)) then true end`

/** Under which fence each row was accepted. */
export type Accepted = ReadonlyMap<string, string>

export const acceptedOf = (rows: readonly Hold[]): Accepted =>
  new Map(rows.map(({ id, fence }) => [id, fence]))

export const ATTEMPT_COLUMNS =
  'outbox_id, tenant_id, fence, attempt, replica_id, claimed_at, started_at, outcome, code, calls'

export const callsJson = (calls: readonly RecordedCall[]): string | null =>
  calls.length === 0 ? null : JSON.stringify(calls)
