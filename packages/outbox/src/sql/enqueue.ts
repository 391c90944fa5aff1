/** Writing rows and ending them before they run. */
import type { ActionRequest } from '../action.ts'
import type { Sql } from '../connection.ts'
import type { LiveState } from '../states.ts'
import { one } from './rows.ts'

export interface EnqueuedRow {
  readonly outbox_id: string
  readonly fresh: boolean
  readonly state: LiveState | null
}

/**
 * Binds an open transaction to a tenant, until it ends: its rows are written for that tenant, and row-level security shows
 * no other's. Outside a transaction it binds nothing.
 */
export const bindTenant = async (sql: Sql, tenantId: string): Promise<void> => {
  await sql.query(`select set_config('aftercommit.tenant', $1, true)`, [tenantId])
}

/**
 * Inserts rows for a tenant, idempotent by identity; see the function in the migration. Binds a transaction that is not
 * bound yet to the tenant that is named.
 */
export const insertRows = async (
  sql: Sql,
  requests: readonly ActionRequest[],
  tenantId?: string,
): Promise<readonly EnqueuedRow[]> => {
  const rows = requests.map((request) => ({
    identity: request.identity,
    action: request.action,
    payloadVersion: request.payloadVersion,
    policyVersion: request.policyVersion,
    payload: request.payload,
    aggregateType: request.subject.type,
    aggregateId: request.subject.id,
    aggregateRevision: request.aggregateRevision,
    participantRevision: request.participantRevision,
    consentRef: request.consentRef,
    traceParent: request.traceParent,
    lane: request.lane,
    account: request.account,
    orderingKey: request.orderingKey,
    successorRule: request.successorRule,
    notBefore: request.notBefore,
  }))
  const result = await sql.query<EnqueuedRow>(
    'select outbox_id, fresh, state from outbox_enqueue($1::jsonb, $2::uuid) order by ordinal',
    [JSON.stringify(rows), tenantId ?? null],
  )
  return result.rows
}

/** Ends an aggregate's pending actions of the given names; what may have had an effect is counted and left alone. */
export const supersedeRows = async (
  sql: Sql,
  subject: { readonly type: string; readonly id: string },
  actions: readonly string[],
  reason: string,
): Promise<{ ended: number; inFlight: number; readyLanes: readonly string[] }> => {
  const { rows } = await sql.query<{ ended: number; in_flight: number; lanes: string[] }>(
    'select ended, in_flight, lanes from outbox_supersede($1, $2, $3, $4)',
    [subject.type, subject.id, actions, reason],
  )
  const row = one(rows)
  return { ended: row.ended, inFlight: row.in_flight, readyLanes: row.lanes }
}

/** A hint to every dispatcher that a lane has work. Nothing depends on its arrival. */
export const notifyLanes = async (sql: Sql, channel: string, lanes: readonly string[]): Promise<void> => {
  await sql.query('select pg_notify($1, lane) from unnest($2::text[]) lane', [channel, lanes])
}
