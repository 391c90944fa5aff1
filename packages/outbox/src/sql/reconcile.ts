/** Rows whose outcome is unknown, and the questions about them. */
import type { Sql } from '../connection.ts'
import type { Correlation, RecordedCall } from '../outcome.ts'
import { ATTEMPT_COLUMNS, callsJson, CLAIMED_COLUMNS, type ClaimedRow, type Hold } from './rows.ts'

export interface UnknownOutcome extends Hold {
  readonly code: string
  readonly correlation: Correlation
  readonly calls: readonly RecordedCall[]
  readonly reconcileAction: string
}

/**
 * Rests a row in `outcome_unknown` and writes the row that will ask about it. One statement: there is no unknown row
 * without its question. The question carries the target's new fence and no ordering key, and goes before whatever else
 * its tenant has in the lane.
 */
export const restUnknown = async (sql: Sql, unknown: UnknownOutcome): Promise<boolean> => {
  const { rowCount } = await sql.query(
    `with target as (
       update outbox o set state = 'outcome_unknown', fence = o.fence + 1, correlation = $3::jsonb, last_code = $4,
         lease_owner = null, lease_until = null, lost_leases = 0, uncertain = true
       from outbox before where o.id = $1 and o.fence = $2 and before.id = o.id
       returning o.*, before.lease_owner as held_by, before.fence as held_fence),
     noted as (insert into outbox_attempt (${ATTEMPT_COLUMNS})
       select id, tenant_id, held_fence, attempts, held_by, claimed_at, started_at, 'unknown', $4, $5::jsonb from target),
     named as (insert into outbox_identity (tenant_id, identity, outbox_id, content_hash)
       select tenant_id, 'reconcile:' || id || ':' || fence, nextval(pg_get_serial_sequence('outbox', 'id')), ''::bytea
       from target returning outbox_id, identity)
     insert into outbox (id, tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
         aggregate_id, aggregate_revision, trace_parent, lane, account, successor_rule, state, not_before, available_at,
         turn, target_id, target_fence)
       overriding system value
       select n.outbox_id, t.tenant_id, n.identity, $6, t.payload_version, t.policy_version, t.payload, t.aggregate_type,
         t.aggregate_id, t.aggregate_revision, t.trace_parent, t.lane, t.account, 'run',
         'ready', app_now(), app_now(),
         coalesce((select l.turn from outbox_lane l where l.lane = t.lane), 0), t.id, t.fence
       from target t, named n`,
    [
      unknown.id,
      unknown.fence,
      JSON.stringify(unknown.correlation),
      unknown.code,
      callsJson(unknown.calls),
      unknown.reconcileAction,
    ],
  )
  return rowCount === 1
}

/** Reads the row a reconcile row asks about, if it still rests under the fence the question was written for. */
export const readTarget = async (sql: Sql, hold: Hold): Promise<ClaimedRow | undefined> => {
  const { rows } = await sql.query<ClaimedRow>(
    `select ${CLAIMED_COLUMNS} from outbox o
       where o.id = $1 and o.fence = $2 and o.state = 'outcome_unknown'`,
    [hold.id, hold.fence],
  )
  return rows[0]
}
