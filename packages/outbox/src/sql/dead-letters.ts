/** Dead letters: finding them, and what people decide about them. Nothing deletes one. */
import type { Sql } from '../connection.ts'
import type { FailureClass } from '../outcome.ts'
import { one } from './rows.ts'

export type DismissResult = 'dismissed' | 'not_found' | 'already_resolved'

/** Closes a dead letter without replaying it; it stays on record, and what it held goes on. */
export const dismissDeadRow = async (
  sql: Sql,
  dismissal: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<DismissResult> => {
  const { rows } = await sql.query<{ result: DismissResult }>('select outbox_dismiss($1, $2, $3) as result', [
    dismissal.id,
    dismissal.by,
    dismissal.reason,
  ])
  return one(rows).result
}

export type ReplayResult = 'replayed' | 'not_found' | 'already_resolved' | 'key_busy'

/**
 * Brings a dead letter back, under its identity and with a fresh budget, ahead of what it held. Whether its subject has
 * moved on is for the domain to tell, before, and for its handler's `prepare`. `key_busy`: a later row of its ordering
 * key runs, and must not be overtaken.
 */
export const replayDeadRow = async (
  sql: Sql,
  replay: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<ReplayResult> => {
  const { rows } = await sql.query<{ result: ReplayResult }>('select outbox_replay($1, $2, $3) as result', [
    replay.id,
    replay.by,
    replay.reason,
  ])
  return one(rows).result
}

export interface DecisionRow {
  readonly outbox_id: string
  readonly decision: 'replayed' | 'dismissed'
  /** What the letter had died of. */
  readonly class: string
  readonly code: string
  readonly decided_by: string
  readonly reason: string
  readonly decided_at: Date
}

/** Everything that people of the transaction's tenant have decided about these letters, in order. */
export const readDecisions = async (
  sql: Sql,
  outboxIds: readonly string[],
): Promise<readonly DecisionRow[]> => {
  const { rows } = await sql.query<DecisionRow>(
    `select outbox_id, decision, class, code, decided_by, reason, decided_at from outbox_decision
       where tenant_id = current_tenant() and outbox_id = any($1) order by decision_id`,
    [outboxIds],
  )
  return rows
}

/** Which unresolved letters are meant. What is left out is not asked for; a list means any of its members. */
export interface DeadLetterFilter {
  readonly actions?: readonly string[]
  readonly classes?: readonly FailureClass[]
  readonly codes?: readonly string[]
  readonly owners?: readonly string[]
  readonly fingerprint?: string
  /** Whether their effect may exist. */
  readonly uncertain?: boolean
  readonly subject?: { readonly type: string; readonly id: string }
}

/** The same text for list and count, so that they mean the same letters. */
const FILTERED = `from outbox_dead where tenant_id = current_tenant() and resolution is null and id > $1
    and ($3::text[] is null or action = any($3)) and ($4::text[] is null or class = any($4))
    and ($5::text[] is null or code = any($5)) and ($6::text[] is null or owner = any($6))
    and ($7::text is null or fingerprint = $7) and ($8::boolean is null or uncertain = $8)
    and ($9::text is null or aggregate_type = $9) and ($10::uuid is null or aggregate_id = $10)`

const filterValues = (filter: DeadLetterFilter): readonly unknown[] => [
  filter.actions ?? null,
  filter.classes ?? null,
  filter.codes ?? null,
  filter.owners ?? null,
  filter.fingerprint ?? null,
  filter.uncertain ?? null,
  filter.subject?.type ?? null,
  filter.subject?.id ?? null,
]

export interface DeadLetterRow {
  readonly id: string
  readonly action: string
  readonly aggregate_type: string
  readonly aggregate_id: string
  readonly class: string
  readonly code: string
  readonly owner: string
  readonly checkpoint: string
  readonly fingerprint: string
  readonly attempts: number
  /** Its effect may exist. */
  readonly uncertain: boolean
  readonly attempt_history: readonly unknown[]
  readonly died_at: Date
}

/** Unresolved dead letters of the transaction's tenant, in the order of their ids, after the given one. */
export const listDeadRows = async (
  sql: Sql,
  page: { readonly afterId: string; readonly limit: number } & DeadLetterFilter,
): Promise<readonly DeadLetterRow[]> => {
  const { rows } = await sql.query<DeadLetterRow>(
    `select id, action, aggregate_type, aggregate_id, class, code, owner, checkpoint, fingerprint, attempts,
        uncertain, attempt_history, died_at
       ${FILTERED} order by id limit $2`,
    [page.afterId, page.limit, ...filterValues(page)],
  )
  return rows
}

/** Counts stop here: more than this is "many". */
const COUNTED_LETTERS_MAX = 10_000

/** How many unresolved letters the filter means; at most one more than 10,000. */
export const countDeadRows = async (sql: Sql, filter: DeadLetterFilter): Promise<number> => {
  const { rows } = await sql.query<{ letters: number }>(
    `select count(*)::int as letters from (select ${FILTERED} limit $2) letters`,
    ['0', COUNTED_LETTERS_MAX + 1, ...filterValues(filter)],
  )
  return one(rows).letters
}
