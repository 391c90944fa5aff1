/**
 * Every statement on the engine's tables; no other file names them. The functions that must be atomic for a
 * role that may not touch the tables live in the migration, and are called from here.
 *
 * Rules that hold for all of them: time is the database's (`app_now()`); a row is changed by primary key and fence
 * alone, never by state, or the planner may drive the statement from a bloated partial index; key locks come before
 * row locks, and a promotion is a later statement than the removal it follows.
 */
import type { ActionRequest } from './action.ts'
import type { Sql } from './connection.ts'
import type { Correlation, Death, RecordedCall } from './outcome.ts'
import type { LiveState } from './states.ts'

export type { Sql } from './connection.ts'

export interface ClaimedRow {
  readonly id: string
  readonly tenant_id: string
  readonly identity: string
  readonly action: string
  readonly payload_version: number
  readonly payload: unknown
  readonly aggregate_type: string
  readonly aggregate_id: string
  readonly aggregate_revision: number | null
  readonly trace_parent: string | null
  readonly lane: string
  readonly account: string | null
  readonly ordering_key: string | null
  readonly fence: string
  readonly claims: number
  readonly attempts: number
  /** Leases lost since the row last came to an outcome. */
  readonly lost_leases: number
  readonly solo: boolean
  readonly doomed: boolean
  readonly created_at: Date
  readonly claimed_at: Date
  readonly started_at: Date | null
  readonly budget_from: Date | null
  readonly correlation: Correlation | null
  readonly target_id: string | null
  readonly target_fence: string | null
  /** Database time of the claim. */
  readonly now: Date
}

const CLAIMED_COLUMNS = `o.id, o.tenant_id, o.identity, o.action, o.payload_version, o.payload, o.aggregate_type,
  o.aggregate_id, o.aggregate_revision, o.trace_parent, o.lane, o.account, o.ordering_key, o.fence, o.claims,
  o.attempts, o.lost_leases, o.solo, o.doomed, o.created_at, o.claimed_at, o.started_at, o.budget_from, o.correlation, o.target_id,
  o.target_fence, app_now() as now`

/** Where a settle finds its row: the id, and the fencing token under which the caller holds it. */
export interface Hold {
  readonly id: string
  readonly fence: string
}

const one = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows
  if (row === undefined) throw new Error('a statement that always answers one row answered none')
  return row
}

// ------------------------------------------------------------------------------------------------ writing rows

export interface EnqueuedRow {
  readonly outbox_id: string
  readonly fresh: boolean
  readonly state: LiveState | null
}

/** Inserts rows for the transaction's tenant, idempotent by identity; see the function in the migration. */
export const insertRows = async (
  sql: Sql,
  requests: readonly ActionRequest[],
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
    'select outbox_id, fresh, state from outbox_enqueue($1::jsonb) order by ordinal',
    [JSON.stringify(rows)],
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

// ---------------------------------------------------------------------------------------------------- claiming

/**
 * The rows are updated by `id = any(array(…))`: a join would let the planner scan the whole table as soon as it takes
 * the limit, which it does not know when it plans, for large.
 */
const claimOf = (pick: string): string => `
  with picked as materialized (${pick} for update skip locked)
  update outbox o set state = 'leased', fence = o.fence + 1, claims = o.claims + 1, lease_owner = $3,
    lease_until = app_now() + make_interval(secs => lease.ms / 1000), claimed_at = app_now(), started_at = null
  from unnest($1::text[], $2::float8[]) as lease(action, ms)
  where o.id = any(array(select id from picked)) and lease.action = o.action
  returning ${CLAIMED_COLUMNS}`

const CLAIM = claimOf(`
    select id from outbox
    where state = 'ready' and not solo and lane = $4 and available_at <= app_now() and action = any($1)
    order by available_at, id limit $5`)

const CLAIM_SOLO = claimOf(`
    select id from outbox
    where state = 'ready' and solo and lane = any($4) and available_at <= app_now() and action = any($1)
    order by array_position($4, lane), available_at, id limit 1`)

/** Who claims, what it knows, and for how long it may hold a row of each kind. */
export interface Claimant {
  readonly replicaId: string
  readonly leases: readonly { readonly action: string; readonly leaseMs: number }[]
}

const claimantValues = ({ leases, replicaId }: Claimant): readonly [string[], number[], string] => [
  leases.map((lease) => lease.action),
  leases.map((lease) => lease.leaseMs),
  replicaId,
]

/**
 * Takes up to `rowsMax` ready rows of one lane, oldest first, skipping what others hold. Each gets a fence larger than
 * any it had before. Run outside a transaction, so that the claim is short and committed before any work begins.
 */
export const claimRows = async (
  sql: Sql,
  claimant: Claimant,
  lane: string,
  rowsMax: number,
): Promise<readonly ClaimedRow[]> => {
  const { rows } = await sql.query<ClaimedRow>(CLAIM, [...claimantValues(claimant), lane, rowsMax])
  return rows.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
}

/** Takes one row that an expired lease marked to be claimed alone, from the first of the lanes that has one. */
export const claimSoloRow = async (
  sql: Sql,
  claimant: Claimant,
  lanes: readonly string[],
): Promise<ClaimedRow | undefined> => {
  const { rows } = await sql.query<ClaimedRow>(CLAIM_SOLO, [...claimantValues(claimant), lanes])
  return rows[0]
}

/**
 * Moves rows whose time has come into the claim index, or, while their account rests, to `paused`. Bounded. Answers
 * how many it moved.
 */
export const releaseDueRows = async (sql: Sql, limit: number): Promise<number> => {
  const { rowCount } = await sql.query(
    `with due as materialized (
       select id from outbox where state in ('scheduled', 'paused') and available_at <= app_now()
       order by available_at, id limit $1 for update skip locked),
     rested as materialized (
       select account, until from outbox_account_pause where until > app_now())
     update outbox o set
       state = case when p.until is null then 'ready' else 'paused' end::outbox_state,
       available_at = coalesce(p.until, app_now()),
       budget_from = case when p.until is null then o.budget_from else o.budget_from + (p.until - app_now()) end
     from (select id, account from outbox where id = any(array(select id from due))) d
       left join rested p on p.account = d.account
     where o.id = d.id`,
    [limit],
  )
  return rowCount ?? 0
}

/** How long until the next row falls due, in milliseconds; undefined when none is scheduled. */
export const nextDueInMs = async (sql: Sql): Promise<number | undefined> => {
  const { rows } = await sql.query<{ ms: number | null }>(
    `select (extract(epoch from min(available_at) - app_now()) * 1000)::float8 as ms
       from outbox where state in ('scheduled', 'paused')`,
  )
  const { ms } = one(rows)
  return ms === null ? undefined : Math.max(0, Math.ceil(ms))
}

/**
 * Takes over rows whose lease ran out, under a new fence, so that whoever held them can settle nothing. The caller
 * decides what each becomes; if it dies too, the new lease runs out and the row is taken over again. The owner stays
 * the one that lost it, for the attempt record.
 */
export const takeOverLostRows = async (
  sql: Sql,
  claimant: Claimant,
  rowsMax: number,
): Promise<readonly ClaimedRow[]> => {
  const [actions, leasesMs] = claimantValues(claimant)
  const { rows } = await sql.query<ClaimedRow>(
    `with lost as materialized (
       select id from outbox
       where state = 'leased' and lease_until < app_now() and action = any($1)
       order by lease_until limit $3 for update skip locked)
     update outbox o set fence = o.fence + 1, lost_leases = o.lost_leases + 1,
       lease_until = app_now() + make_interval(secs => lease.ms / 1000)
     from unnest($1::text[], $2::float8[]) as lease(action, ms)
     where o.id = any(array(select id from lost)) and lease.action = o.action
     returning ${CLAIMED_COLUMNS}`,
    [actions, leasesMs, rowsMax],
  )
  return rows
}

/**
 * Notes, before contact, that contact may happen from now on, and counts the attempt. Answers the ids for which the
 * note was accepted: a holder whose fence moved on or whose lease ran out must not call anybody. A note whose answer
 * was lost may be made again: it counts once.
 */
export const markStarted = async (sql: Sql, holds: readonly Hold[]): Promise<ReadonlySet<string>> => {
  const { rows } = await sql.query<{ id: string }>(
    `update outbox o set started_at = app_now(),
       attempts = o.attempts + case when o.started_at is null then 1 else 0 end,
       budget_from = coalesce(o.budget_from, app_now())
     from unnest($1::bigint[], $2::bigint[]) as h(id, fence)
     where o.id = h.id and o.fence = h.fence and o.lease_until > app_now()
     returning o.id`,
    idsAndFences(holds),
  )
  return new Set(rows.map((row) => row.id))
}

const idsAndFences = (holds: readonly Hold[]): [string[], string[]] => {
  const sorted = [...holds].sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
  return [sorted.map((hold) => hold.id), sorted.map((hold) => hold.fence)]
}

// ---------------------------------------------------------------------------------------------------- settling

/** Locks ordering keys until the transaction ends, in one global order. Comes before any row lock. */
export const lockKeys = async (
  sql: Sql,
  keys: readonly { readonly tenantId: string; readonly key: string }[],
): Promise<void> => {
  if (keys.length === 0) return
  await sql.query('select outbox_lock_keys($1::uuid[], $2::text[])', [
    keys.map((key) => key.tenantId),
    keys.map((key) => key.key),
  ])
}

/**
 * Frees the next row of a key. Call under the key's lock, after the statement that removed the row `afterId`. Answers
 * the lane that has work now, if one has.
 */
export const promoteNext = async (
  sql: Sql,
  key: { readonly tenantId: string; readonly key: string; readonly afterId: string },
): Promise<string | undefined> => {
  const { rows } = await sql.query<{ lane: string | null }>('select outbox_promote($1, $2, $3) as lane', [
    key.tenantId,
    key.key,
    key.afterId,
  ])
  return one(rows).lane ?? undefined
}

export interface Finish extends Hold {
  readonly outcome: 'succeeded' | 'suppressed' | 'superseded'
  readonly reason: string | undefined
  readonly calls: readonly RecordedCall[]
}

const ATTEMPT_COLUMNS =
  'outbox_id, tenant_id, fence, attempt, replica_id, claimed_at, started_at, outcome, code, calls'

/** Moves rows to history, each only under its fence, with one attempt record each. Answers the ids that moved. */
export const finishRows = async (sql: Sql, finishes: readonly Finish[]): Promise<ReadonlySet<string>> => {
  const sorted = [...finishes].sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
  const { rows } = await sql.query<{ id: string }>(
    `with f as (select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::jsonb[])
                  as f(id, fence, outcome, reason, calls)),
     gone as (delete from outbox o using f where o.id = f.id and o.fence = f.fence
                returning o.*, f.outcome, f.reason, f.calls),
     kept as (insert into outbox_history (id, tenant_id, identity, action, payload_version, payload, aggregate_type,
                  aggregate_id, aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at,
                  fence, claims, attempts, outcome, reason)
                select id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
                  aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, fence, claims,
                  attempts, outcome, reason from gone),
     noted as (insert into outbox_attempt (${ATTEMPT_COLUMNS})
                select id, tenant_id, fence, attempts, lease_owner, claimed_at, started_at, outcome, reason, calls from gone)
     select id from gone`,
    [
      sorted.map((finish) => finish.id),
      sorted.map((finish) => finish.fence),
      sorted.map((finish) => finish.outcome),
      sorted.map((finish) => finish.reason ?? null),
      sorted.map((finish) => callsJson(finish.calls)),
    ],
  )
  return new Set(rows.map((row) => row.id))
}

const callsJson = (calls: readonly RecordedCall[]): string | null =>
  calls.length === 0 ? null : JSON.stringify(calls)

export interface Release extends Hold {
  readonly outcome: 'retrying' | 'throttled' | 'lease_lost' | 'handed_back' | 'absent'
  readonly code: string
  readonly delayMs: number
  /** 1 counts an attempt that ended before its start; -1 gives one back that was not the provider's failure. */
  readonly attemptsChange: -1 | 0 | 1
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
         attempts = greatest(0, o.attempts + $4::int),
         budget_from = case $4::int when -1 then o.budget_from + held.delay
                                    when 1 then coalesce(o.budget_from, app_now()) else o.budget_from end,
         lost_leases = case when $7 in ('lease_lost', 'handed_back') then o.lost_leases else 0 end,
         uncertain = coalesce($9::boolean, o.uncertain), solo = $5::boolean,
         lease_owner = null, lease_until = null, started_at = null, correlation = null, last_code = $6
       from held where o.id = held.id
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
    ],
  )
  return rowCount === 1
}

export interface UnknownOutcome extends Hold {
  readonly code: string
  readonly correlation: Correlation
  readonly calls: readonly RecordedCall[]
  readonly reconcileAction: string
}

/**
 * Rests a row in `outcome_unknown` and writes the row that will ask about it. One statement: there is no unknown row
 * without its question. The question carries the target's new fence and no ordering key.
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
         target_id, target_fence)
       overriding system value
       select n.outbox_id, t.tenant_id, n.identity, $6, t.payload_version, t.policy_version, t.payload, t.aggregate_type,
         t.aggregate_id, t.aggregate_revision, t.trace_parent, t.lane, t.account, 'run',
         'ready', app_now(), app_now(), t.id, t.fence
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

/**
 * Rests a provider account: new and ready rows of it leave the claim index until `delayMs` has passed. A pause never
 * shortens one already there. Bounded: what one call leaves ready, the next throttled answer takes.
 */
export const pauseAccount = async (
  sql: Sql,
  pause: {
    readonly account: string
    readonly delayMs: number
    readonly code: string
    readonly limit: number
  },
): Promise<void> => {
  await sql.query(
    `insert into outbox_account_pause as p (account, until, code)
       values ($1, app_now() + make_interval(secs => $2::float8 / 1000), $3)
     on conflict (account) do update set until = greatest(p.until, excluded.until), code = excluded.code`,
    [pause.account, pause.delayMs, pause.code],
  )
  await sql.query(
    `with resting as materialized (
       select id from outbox where account = $1 and state = 'ready' order by id limit $2 for update skip locked)
     update outbox o set state = 'paused', available_at = p.until, budget_from = o.budget_from + (p.until - app_now())
     from outbox_account_pause p
     where p.account = $1 and o.id = any(array(select id from resting))`,
    [pause.account, pause.limit],
  )
}

export interface TargetRow extends ClaimedRow {
  readonly state: LiveState
}

/** Reads the row a reconcile row asks about, if it still rests under the fence the question was written for. */
export const readTarget = async (sql: Sql, hold: Hold): Promise<TargetRow | undefined> => {
  const { rows } = await sql.query<TargetRow>(
    `select ${CLAIMED_COLUMNS}, o.state from outbox o
       where o.id = $1 and o.fence = $2 and o.state = 'outcome_unknown'`,
    [hold.id, hold.fence],
  )
  return rows[0]
}

// --------------------------------------------------------------------------------------------------- operating

/**
 * Tells that a replica lives and which actions it knows. What it knew is remembered after it has stopped, because an
 * action is unknown only when nobody has known it for a while; those long gone are forgotten.
 */
export const beat = async (sql: Sql, replicaId: string, actions: readonly string[]): Promise<void> => {
  await sql.query(
    `with gone as (delete from outbox_replica where seen_at < app_now() - interval '7 days')
     insert into outbox_replica (replica_id, actions) values ($1, $2)
     on conflict (replica_id) do update set seen_at = app_now(), actions = excluded.actions`,
    [replicaId, actions],
  )
}

/** An unfinished row of an action that no replica knows, or that was retired. */
export type UnknownRow = Pick<ClaimedRow, 'id' | 'fence' | 'tenant_id' | 'action' | 'lane' | 'ordering_key'>

/**
 * Takes over rows whose action was retired, or has been known by no replica for `graceMs` although one has lived all
 * that time: a fleet that is being replaced, or was down, is given the time to know it. A row in hand is left until its
 * lease runs out. Answers at most `limit` rows, under a new fence.
 */
export const takeUnknownRows = async (
  sql: Sql,
  options: {
    readonly known: readonly string[]
    readonly retired: readonly string[]
    readonly graceMs: number
    readonly leaseMs: number
    readonly limit: number
  },
): Promise<readonly UnknownRow[]> => {
  const { rows } = await sql.query<UnknownRow>(
    `with lived as (
       select coalesce(bool_or(started_at < app_now() - make_interval(secs => $3::float8 / 1000)
                               and seen_at > app_now() - interval '1 minute'), false) as long_enough from outbox_replica),
     heard_of as (
       select distinct unnest(actions) as action from outbox_replica
         where seen_at > app_now() - make_interval(secs => $3::float8 / 1000)),
     unknown as materialized (
       select o.id from outbox o, lived
       where (o.state = 'ready' or (o.state = 'leased' and o.lease_until < app_now()))
         and o.action <> all($1)
         and (o.action = any($2) or (lived.long_enough
              and o.available_at < app_now() - make_interval(secs => $3::float8 / 1000)
              and not exists (select from heard_of h where h.action = o.action)))
       order by o.id limit $5 for update of o skip locked)
     update outbox o set state = 'leased', fence = o.fence + 1,
       lease_until = app_now() + make_interval(secs => $4::float8 / 1000)
     where o.id = any(array(select id from unknown))
     returning o.id, o.fence, o.tenant_id, o.action, o.lane, o.ordering_key`,
    [options.known, options.retired, options.graceMs, options.leaseMs, options.limit],
  )
  return rows
}

export const ensurePartitions = async (sql: Sql, monthsAhead: number): Promise<void> => {
  await sql.query('select outbox_ensure_partitions($1)', [monthsAhead])
}

export type DismissResult = 'dismissed' | 'not_found' | 'already_resolved'

/** Closes a dead letter without replaying it; what it held goes on. */
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
  readonly target_id: string | null
  /** The replica that holds it now. */
  readonly lease_owner: string | null
}

/** All actions of one aggregate, live, finished and dead, in the order they were written. */
export const readActions = async (
  sql: Sql,
  subject: { readonly type: string; readonly id: string },
): Promise<readonly ActionRecordRow[]> => {
  const { rows } = await sql.query<ActionRecordRow>(
    `select id, action, state::text, last_code as code, created_at, available_at as due_at, null::timestamptz as ended_at,
        attempts, claims, target_id, lease_owner
       from outbox where aggregate_type = $1 and aggregate_id = $2
     union all
     select id, action, outcome, reason, created_at, null, finished_at, attempts, claims, null, null
       from outbox_history where aggregate_type = $1 and aggregate_id = $2
     union all
     select id, action, 'dead', code, created_at, null, died_at, attempts, claims, null, null
       from outbox_dead where aggregate_type = $1 and aggregate_id = $2 and resolution is distinct from 'replayed'
     order by id`,
    [subject.type, subject.id],
  )
  return rows
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
       from outbox_attempt where outbox_id = any($1) order by ended_at, fence`,
    [outboxIds],
  )
  return rows
}

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
  readonly attempt_history: readonly unknown[]
  readonly died_at: Date
}

/** Unresolved dead letters of the transaction's tenant, the oldest first, after the given id. */
export const listDeadRows = async (
  sql: Sql,
  page: { readonly afterId: string; readonly limit: number },
): Promise<readonly DeadLetterRow[]> => {
  const { rows } = await sql.query<DeadLetterRow>(
    `select id, action, aggregate_type, aggregate_id, class, code, owner, checkpoint, fingerprint, attempts,
        attempt_history, died_at
       from outbox_dead where tenant_id = current_tenant() and resolution is null and id > $1 order by id limit $2`,
    [page.afterId, page.limit],
  )
  return rows
}

/** Counts stop here: more than this is "many", and counting on would cost what it measures. */
export const GAUGED_ROWS_MAX = 10_000

export interface LaneGauge {
  readonly lane: string
  readonly state: 'ready' | 'scheduled' | 'paused' | 'leased' | 'outcome_unknown' | 'dead'
  /** At most one more than GAUGED_ROWS_MAX, over all lanes of the state; for ready rows in each lane. */
  readonly rows: number
  /** How long the oldest ready row has been ready; null for every other state. */
  readonly oldestAgeMs: number | null
}

/**
 * How much lies where, over all tenants, at one instant of the database. Each state is counted along its own partial
 * index and up to a bound, so that a sample costs the same on a backlog of millions. An unknown row is found by the
 * question that is always written with it.
 */
export const sampleGauges = async (
  sql: Sql,
): Promise<{ readonly observedAt: Date; readonly gauges: readonly LaneGauge[] }> => {
  const { rows } = await sql.query<LaneGauge & { observedAt: Date }>(
    `with recursive ready_lanes as (
       (select lane from outbox where state = 'ready' and not solo order by lane limit 1)
       union all
       select (select o.lane from outbox o where o.state = 'ready' and not o.solo and o.lane > l.lane
                 order by o.lane limit 1)
         from ready_lanes l where l.lane is not null),
     ready as (
       select l.lane, counted.rows, oldest.available_at
         from ready_lanes l,
           lateral (select count(*) as rows from (select from outbox o
                      where o.state = 'ready' and not o.solo and o.lane = l.lane limit $1)) counted,
           lateral (select min(o.available_at) as available_at from outbox o
                      where o.state = 'ready' and not o.solo and o.lane = l.lane) oldest
         where l.lane is not null
       union all
       select lane, count(*), min(available_at)
         from (select lane, available_at from outbox where state = 'ready' and solo
                 order by available_at, id limit $1) group by lane),
     counted as (
       select lane, 'ready' as state, sum(rows) as rows, app_now() - min(available_at) as age from ready group by lane
       union all
       select lane, state::text, count(*), null
         from (select lane, state from outbox where state in ('scheduled', 'paused')
                 order by available_at, id limit $1) group by lane, state
       union all
       select lane, 'leased', count(*), null
         from (select lane from outbox where state = 'leased' order by lease_until limit $1) group by lane
       union all
       select lane, 'outcome_unknown', count(*), null
         from (select u.lane from outbox q join outbox u on u.id = q.target_id and u.state = 'outcome_unknown'
                 where q.target_id is not null limit $1) group by lane
       union all
       select lane, 'dead', count(*), null
         from (select lane from outbox_dead where resolution is null limit $1) group by lane)
     select now.at as "observedAt", c.lane, c.state, c.rows::int,
         case when c.age is not null then greatest(extract(epoch from c.age) * 1000, 0)::float8 end as "oldestAgeMs"
       from (select app_now() as at) now left join counted c on true`,
    [GAUGED_ROWS_MAX + 1],
  )
  // The clock is always answered; a row without a lane says that nothing lies anywhere.
  const { observedAt } = one(rows)
  return { observedAt, gauges: rows.filter(({ lane }: { lane: string | null }) => lane !== null) }
}
