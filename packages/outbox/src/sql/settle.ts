/** Ending attempts, each under the row's fence. */
import type { Sql } from '../connection.ts'
import type { Death, RecordedCall } from '../outcome.ts'
import {
  acceptedOf,
  ATTEMPT_COLUMNS,
  bigints,
  callsJson,
  HELD,
  onePerRow,
  textsOrNulls,
  type Accepted,
  type Hold,
} from './rows.ts'

export interface Finish extends Hold {
  readonly outcome: 'succeeded' | 'suppressed' | 'superseded'
  readonly reason: string | undefined
  readonly calls: readonly RecordedCall[]
}

/** Moves rows to history, each only under its fence, with one attempt record each. Answers those that moved. */
export const finishRows = async (sql: Sql, finishes: readonly Finish[]): Promise<Accepted> => {
  const sorted = onePerRow(finishes)
  const { rows } = await sql.query<Hold>(
    `with f as materialized (
       select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::jsonb[])
         as f(id, fence, outcome, reason, calls)),
     gone as (
       delete from outbox o where ${HELD}
       returning id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
         aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, fence, claims, attempts,
         lease_owner, claimed_at, started_at),
     kept as (
       insert into outbox_history (id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
           aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, fence, claims, attempts,
           outcome, reason)
         select id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
           aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, gone.fence, claims,
           attempts, outcome, reason
         from gone join f using (id)),
     noted as (
       insert into outbox_attempt (${ATTEMPT_COLUMNS})
         select id, tenant_id, gone.fence, attempts, lease_owner, claimed_at, started_at, outcome, reason, calls
         from gone join f using (id))
     select id, fence from gone`,
    [
      bigints(sorted.map((finish) => finish.id)),
      bigints(sorted.map((finish) => finish.fence)),
      `{${sorted.map((finish) => finish.outcome).join(',')}}`,
      textsOrNulls(sorted.map((finish) => finish.reason)),
      textsOrNulls(sorted.map((finish) => callsJson(finish.calls))),
    ],
  )
  return acceptedOf(rows)
}

export interface Release extends Hold {
  readonly outcome: 'retrying' | 'throttled' | 'lease_lost' | 'handed_back' | 'absent'
  readonly code: string
  readonly delayMs: number
  /** 1 counts an attempt that ended before its start; -1 gives one back that was not the provider's failure. */
  readonly attemptsChange: -1 | 0 | 1
  /** If the claim was the start, it began no budget. */
  readonly startTakenBack?: boolean
  /** Claimed alone from now on. */
  readonly solo: boolean
  /** Whether the effect may exist by now; undefined when this release tells nothing new about it. */
  readonly uncertain: boolean | undefined
  readonly calls: readonly RecordedCall[]
}

/**
 * Gives a row back to the queue, now, after a delay, or after its account's pause, under its fence; the fence moves
 * on, so the same settle cannot be accepted twice. The delay of an attempt given back does not spend the elapsed budget.
 */
export const releaseRow = async (sql: Sql, release: Release): Promise<boolean> => {
  const { rowCount } = await sql.query(
    `with held as materialized (
       select h.*, due.state as next_state, due.available_at as next_at, make_interval(secs => $3::float8 / 1000) as delay
       from outbox h, outbox_runnable_state(h.account, app_now() + make_interval(secs => $3::float8 / 1000)) due
       where h.id = $1 and h.fence = $2 for update of h),
     kept as (
       update outbox o set
         state = held.next_state, available_at = held.next_at, fence = o.fence + 1,
         turn = greatest(o.turn, (select l.turn from outbox_lane l where l.lane = o.lane)),
         attempts = greatest(0, o.attempts + $4::int),
         budget_from = case when $10::boolean then nullif(o.budget_from, o.started_at)
                            when $4::int = -1 then o.budget_from + held.delay
                            when $4::int = 1 then coalesce(o.budget_from, app_now()) else o.budget_from end,
         first_started_at = case when $10::boolean then nullif(o.first_started_at, o.started_at) else o.first_started_at end,
         lost_leases = case when $7 in ('lease_lost', 'handed_back') then o.lost_leases else 0 end,
         uncertain = coalesce($9::boolean, o.uncertain), solo = $5::boolean,
         lease_owner = null, lease_until = null, started_at = null, correlation = null, last_code = $6
       from held where o.id = $1 and o.id = held.id
       returning held.*)
     insert into outbox_attempt (${ATTEMPT_COLUMNS})
       select id, tenant_id, fence, attempts, lease_owner, claimed_at, started_at, $7::text, $6, $8::jsonb from kept`,
    [
      release.id,
      release.fence,
      release.delayMs,
      release.attemptsChange,
      release.solo,
      release.code,
      release.outcome,
      callsJson(release.calls),
      release.uncertain ?? null,
      release.startTakenBack ?? false,
    ],
  )
  return rowCount === 1
}

export interface Burial extends Hold {
  readonly death: Required<Death>
  /** A read has shown that no earlier attempt had its effect. */
  readonly provedAbsent: boolean
  readonly calls: readonly RecordedCall[]
}

/** Moves a row to the dead letters with its whole history, under its fence. One that died before re-opens its record. */
export const buryRow = async (sql: Sql, burial: Burial): Promise<boolean> => {
  const { death } = burial
  const { rowCount } = await sql.query(
    `with gone as (delete from outbox o where o.id = $1 and o.fence = $2 returning o.*),
     last as (insert into outbox_attempt (${ATTEMPT_COLUMNS})
       select id, tenant_id, fence, attempts, lease_owner, claimed_at, started_at, 'dead', $4, $6::jsonb from gone
       returning *),
     story as (select coalesce(jsonb_agg(to_jsonb(a) - 'tenant_id' order by a.fence), '[]') as attempts from
       (select * from outbox_attempt where outbox_id = $1 union all select * from last) a)
     insert into outbox_dead (id, tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
         aggregate_id, aggregate_revision, participant_revision, consent_ref, trace_parent, lane, account, ordering_key,
         successor_rule, not_before, created_at, fence, claims, attempts, correlation, uncertain, class, code, owner,
         checkpoint, attempt_history)
       select g.id, g.tenant_id, g.identity, g.action, g.payload_version, g.policy_version, g.payload, g.aggregate_type,
         g.aggregate_id, g.aggregate_revision, g.participant_revision, g.consent_ref, g.trace_parent, g.lane, g.account,
         g.ordering_key, g.successor_rule, g.not_before, g.created_at, g.fence, g.claims, g.attempts, g.correlation,
         $3 = 'uncertain' or (g.uncertain and not $7::boolean), $3, $4, $5,
         case when g.state = 'outcome_unknown' then 'unknown' when g.started_at is null then 'claimed' else 'started' end,
         story.attempts
       from gone g, story
     on conflict (id) do update set fence = excluded.fence, claims = excluded.claims, attempts = excluded.attempts,
       correlation = excluded.correlation, uncertain = excluded.uncertain, class = excluded.class, code = excluded.code,
       owner = excluded.owner, checkpoint = excluded.checkpoint, attempt_history = excluded.attempt_history, died_at = app_now(),
       resolution = null, resolved_at = null, resolved_by = null, resolved_reason = null`,
    [
      burial.id,
      burial.fence,
      death.class,
      death.code,
      death.owner,
      callsJson(burial.calls),
      burial.provedAbsent,
    ],
  )
  return rowCount === 1
}
