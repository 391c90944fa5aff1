/** What operators and readers ask. */
import { operationIdOf } from '../action.ts'
import type { Sql } from '../connection.ts'
import type { RecordedCall } from '../outcome.ts'

export interface ActionRecordRow {
  readonly id: string
  readonly action: string
  readonly state: string
  readonly code: string | null
  readonly created_at: Date
  readonly due_at: Date | null
  readonly ended_at: Date | null
  readonly attempts: number
  readonly claims: number
  /** The row that a question asks about, wherever the question lies by now. */
  readonly target_id: string | null
  /** The replica that holds it now. */
  readonly lease_owner: string | null
  /** References only, by the rule of every payload. */
  readonly payload: unknown
  /** Who must repair it. Of dead letters only. */
  readonly owner: string | null
}

/** A question keeps its subject in its identity when it has ended; see `restUnknown`. */
const ENDED_TARGET = "case when identity like 'reconcile:%' then split_part(identity, ':', 2)::bigint end"

/** All actions of one aggregate, live, finished and dead, in the order they were written. */
export const readActions = async (
  sql: Sql,
  subject: { readonly type: string; readonly id: string },
): Promise<readonly ActionRecordRow[]> => {
  const { rows } = await sql.query<ActionRecordRow>(
    `select id, action, state::text, last_code as code, created_at, available_at as due_at, null::timestamptz as ended_at,
        attempts, claims, target_id, lease_owner, payload, null as owner
       from outbox where aggregate_type = $1 and aggregate_id = $2
     union all
     select id, action, outcome, reason, created_at, null, finished_at, attempts, claims, ${ENDED_TARGET}, null, payload, null
       from outbox_history where aggregate_type = $1 and aggregate_id = $2
     union all
     select id, action, 'dead', code, created_at, null, died_at, attempts, claims, ${ENDED_TARGET}, null, payload, owner
       from outbox_dead where aggregate_type = $1 and aggregate_id = $2 and resolution is distinct from 'replayed'
     order by id`,
    [subject.type, subject.id],
  )
  return rows
}

export interface StartedRow {
  readonly action: string
  readonly payload: unknown
  /** The name under which the world knows it. */
  readonly operationId: string
}

/** A tenant's rows of these actions that are under way: the world may know their effect before anything has settled it. */
export const readStarted = async (
  sql: Sql,
  tenantId: string,
  actions: readonly string[],
): Promise<readonly StartedRow[]> => {
  const { rows } = await sql.query<{ identity: string; action: string; payload: unknown }>(
    `select identity, action, payload from outbox
       where state = 'leased' and started_at is not null and tenant_id = $1 and action = any($2)`,
    [tenantId, actions],
  )
  return rows.map(({ identity, action, payload }) => ({
    action,
    payload,
    operationId: operationIdOf(tenantId, identity),
  }))
}

export interface AttemptRecordRow {
  readonly outbox_id: string
  readonly attempt: number
  readonly replica_id: string | null
  readonly claimed_at: Date | null
  readonly started_at: Date | null
  readonly ended_at: Date
  readonly outcome: string
  readonly code: string | null
  readonly calls: readonly RecordedCall[] | null
}

export const readAttempts = async (
  sql: Sql,
  outboxIds: readonly string[],
): Promise<readonly AttemptRecordRow[]> => {
  const { rows } = await sql.query<AttemptRecordRow>(
    `select outbox_id, attempt, replica_id, claimed_at, started_at, ended_at, outcome, code, calls
       from outbox_attempt where outbox_id = any($1) order by outbox_id, fence, ended_at`,
    [outboxIds],
  )
  return rows
}
