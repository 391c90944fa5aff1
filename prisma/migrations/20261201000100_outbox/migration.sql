-- The outbox engine. Nothing outside packages/outbox names these tables.
--
-- Three kinds of tables: `outbox` is small and hot and holds only unfinished rows; `outbox_history` and
-- `outbox_attempt` are append-only and partitioned by time, so that they can be dropped by partition; `outbox_dead` and
-- `outbox_identity` are never partitioned and never dropped.

create type outbox_state as enum
  ('scheduled', 'waiting', 'held', 'paused', 'ready', 'leased', 'outcome_unknown');
-- What becomes of a row whose predecessor under its ordering key died.
create type outbox_successor_rule as enum ('run', 'die', 'hold');
-- Domains, because a table's own checks are read and planned again by every statement that writes one row.
create domain outbox_action_name as text check (length(value) between 1 and 120);
create domain outbox_identity_name as text check (length(value) between 1 and 300);

-- Columns of fixed width that are never null come first, because the server finds those without looking at the ones before
-- them. What a claim changes stands together, because of an updated row the log keeps what lies between the first and the
-- last change; what is long and never changes stands behind it.
create table outbox (
  id                   bigint generated always as identity primary key,
  not_before           timestamptz not null,
  created_at           timestamptz not null default app_now(),
  tenant_id            uuid not null,
  aggregate_id         uuid not null,
  payload_version      int not null,
  policy_version       int not null,
  available_at         timestamptz not null,
  -- Its place in its lane, given when it becomes ready: each tenant's next row comes one turn after its last, and
  -- nobody's before the turn that the lane is at, so tenants that wait take turns however much each of them has.
  turn                 bigint not null default 0,
  fence                bigint not null default 0,
  claims               int not null default 0,
  attempts             int not null default 0,
  -- Leases that ran out since the row last came to an outcome. Not `claims`: a throttled row is claimed for ever.
  lost_leases          int not null default 0,
  successor_rule       outbox_successor_rule not null,
  state                outbox_state not null,
  -- An attempt ended without an answer and nothing has proved since that it had no effect.
  uncertain            boolean not null default false,
  -- Set by an expired lease: such a row is claimed alone, so that a row that kills its worker kills nothing beside it.
  solo                 boolean not null default false,
  -- Set when a predecessor died and this row dies with it: it is claimed to be ended, never performed.
  doomed               boolean not null default false,
  lease_until          timestamptz,
  claimed_at           timestamptz,
  -- Contact may have happened since this instant. Cleared when the row is released.
  started_at           timestamptz,
  -- Never cleared, and moved by nothing: how long a provider has been saying "not now".
  first_started_at     timestamptz,
  -- Where the elapsed budget starts to run; moved on by pauses and throttling, which do not spend it.
  budget_from          timestamptz,
  lease_owner          uuid,
  -- A reconcile row settles together with its target, under the target's fence.
  target_id            bigint,
  target_fence         bigint,
  last_code            text,
  correlation          jsonb,
  aggregate_revision   int,
  participant_revision int,
  lane                 text not null,
  action               outbox_action_name not null,
  identity             outbox_identity_name not null,
  aggregate_type       text not null,
  account              text,
  ordering_key         text,
  trace_parent         text,
  consent_ref          text,
  payload              jsonb not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000, autovacuum_vacuum_cost_delay = 0,
        -- A plan made while the file has no page reads the whole table for ever after, and cutting the file off locks
        -- everybody out.
        vacuum_truncate = false);

-- The claim path, and nothing else on it.
create index outbox_claim on outbox (lane, turn, id) where state = 'ready' and not solo;
create index outbox_claim_solo on outbox (available_at, id) where state = 'ready' and solo;
create index outbox_due on outbox (available_at, id) where state in ('scheduled', 'paused');
create index outbox_lease on outbox (lease_until) where state = 'leased';
create index outbox_key on outbox (tenant_id, ordering_key, id) where ordering_key is not null;
create index outbox_aggregate on outbox (tenant_id, aggregate_type, aggregate_id);
create index outbox_target on outbox (target_id) where target_id is not null;
-- What an account has running, waiting for it, and ready.
create index outbox_account on outbox (account, state, id) where account is not null;
-- A tenant's last turn in a lane.
create index outbox_turn on outbox (tenant_id, lane, turn) where state = 'ready' and not solo;

-- Identity outlives its row: a second insert of the same logical transition finds it here for ever.
create table outbox_identity (
  tenant_id    uuid not null,
  identity     text not null,
  outbox_id    bigint not null,
  content_hash bytea not null,
  created_at   timestamptz not null default app_now(),
  primary key (tenant_id, identity)
);

create table outbox_history (
  id                 bigint not null,
  fence              bigint not null,
  not_before         timestamptz not null,
  created_at         timestamptz not null,
  finished_at        timestamptz not null default app_now(),
  tenant_id          uuid not null,
  aggregate_id       uuid not null,
  payload_version    int not null,
  claims             int not null,
  attempts           int not null,
  outcome            text not null check (outcome in ('succeeded', 'suppressed', 'superseded')),
  lane               text not null,
  action             text not null,
  identity           text not null,
  aggregate_type     text not null,
  payload            jsonb not null,
  aggregate_revision int,
  account            text,
  ordering_key       text,
  trace_parent       text,
  reason             text
) partition by range (finished_at);
create index outbox_history_aggregate on outbox_history (tenant_id, aggregate_type, aggregate_id);
create index outbox_history_id on outbox_history (id);
create index outbox_history_ended on outbox_history (outcome, finished_at);

-- One record per attempt and per lost lease, written when it ends.
create table outbox_attempt (
  outbox_id   bigint not null,
  tenant_id   uuid not null,
  fence       bigint not null,
  attempt     int not null,
  replica_id  uuid,
  claimed_at  timestamptz,
  started_at  timestamptz,
  ended_at    timestamptz not null default app_now(),
  outcome     text not null,
  code        text,
  -- Redacted provider calls: provider, operation, status, duration. Never an address, a token or a body.
  calls       jsonb
) partition by range (ended_at);
create index outbox_attempt_row on outbox_attempt (outbox_id);

create table outbox_history_default partition of outbox_history default;
create table outbox_attempt_default partition of outbox_attempt default;

create table outbox_dead (
  id                   bigint primary key,
  tenant_id            uuid not null,
  identity             text not null,
  action               text not null,
  payload_version      int not null,
  policy_version       int not null,
  payload              jsonb not null,
  aggregate_type       text not null,
  aggregate_id         uuid not null,
  aggregate_revision   int,
  participant_revision int,
  consent_ref          text,
  trace_parent         text,
  lane                 text not null,
  account              text,
  ordering_key         text,
  successor_rule       outbox_successor_rule not null,
  not_before           timestamptz not null,
  created_at           timestamptz not null,
  fence                bigint not null,
  claims               int not null,
  attempts             int not null,
  correlation          jsonb,
  -- Its effect may exist. Superseding its aggregate leaves such a letter to a person.
  uncertain            boolean not null,
  class                text not null check (class in
                         ('transient', 'uncertain', 'stale', 'consent_blocked', 'validation', 'permission', 'terminal')),
  code                 text not null,
  owner                text not null,
  -- The last step that is known to be complete: claimed, started, or unknown.
  checkpoint           text not null,
  -- Letters that died of the same cause share it: action, class, code and checkpoint, and nothing of the provider's words.
  fingerprint          text not null generated always as
                         (left(md5(action || '/' || class || '/' || code || '/' || checkpoint), 12)) stored,
  attempt_history      jsonb not null,
  died_at              timestamptz not null default app_now(),
  resolution           text check (resolution in ('replayed', 'superseded')),
  resolved_at          timestamptz,
  resolved_by          text,
  resolved_reason      text
);
create index outbox_dead_key on outbox_dead (tenant_id, ordering_key) where ordering_key is not null and resolution is null;
create index outbox_dead_cause on outbox_dead (fingerprint, died_at) where resolution is null;
create index outbox_dead_aggregate on outbox_dead (tenant_id, aggregate_type, aggregate_id);

-- Which dispatchers live, and which action types each of them knows.
create table outbox_replica (
  replica_id uuid primary key,
  actions    text[] not null,
  started_at timestamptz not null default app_now(),
  seen_at    timestamptz not null default app_now()
);

-- A provider account that asked to be left alone. Its rows rest in `paused`, outside the claim index.
create table outbox_account_pause (
  account text primary key,
  until   timestamptz not null,
  code    text not null
);

-- The turn that each lane is at, or was a moment ago: dispatchers tell it now and then.
create table outbox_lane (
  lane text primary key,
  turn bigint not null
) with (fillfactor = 50);

-- What people decided about dead letters. A letter that dies again re-opens; what was decided before stays here.
create table outbox_decision (
  decision_id bigint generated always as identity primary key,
  outbox_id   bigint not null,
  tenant_id   uuid not null,
  decision    text not null check (decision in ('replayed', 'dismissed')),
  -- What the letter had died of.
  class       text not null,
  code        text not null,
  decided_by  text not null,
  reason      text not null,
  decided_at  timestamptz not null default app_now()
);
create index outbox_decision_row on outbox_decision (outbox_id);

---------------------------------------------------------------------------------------------------------------
-- Who may touch what. The API role reads its tenant's rows and writes through functions only.
alter table outbox enable row level security;
alter table outbox_identity enable row level security;
alter table outbox_history enable row level security;
alter table outbox_attempt enable row level security;
alter table outbox_dead enable row level security;
alter table outbox_replica enable row level security;
alter table outbox_account_pause enable row level security;
alter table outbox_lane enable row level security;
alter table outbox_decision enable row level security;

do $$
declare t text;
begin
  foreach t in array array['outbox', 'outbox_history', 'outbox_attempt', 'outbox_dead', 'outbox_decision'] loop
    execute format('create policy tenant_reads on %I for select to aftercommit_api using (tenant_id = (select current_tenant()))', t);
    execute format('grant select on %I to aftercommit_api', t);
  end loop;
  foreach t in array array['outbox', 'outbox_identity', 'outbox_history', 'outbox_attempt', 'outbox_dead',
                           'outbox_replica', 'outbox_account_pause', 'outbox_lane'] loop
    execute format('create policy engine on %I to aftercommit_dispatcher using (true) with check (true)', t);
  end loop;
  foreach t in array array['outbox', 'outbox_identity', 'outbox_history', 'outbox_attempt', 'outbox_dead',
                           'outbox_decision', 'outbox_replica', 'outbox_account_pause', 'outbox_lane'] loop
    execute format('create policy operator_reads on %I for select to aftercommit_operator using (true)', t);
    execute format('grant select on %I to aftercommit_operator', t);
  end loop;
end $$;
grant select, insert, update, delete on outbox to aftercommit_dispatcher;
grant usage on sequence outbox_id_seq to aftercommit_dispatcher;
grant select, insert on outbox_identity, outbox_history, outbox_attempt to aftercommit_dispatcher;
-- A replayed letter that dies again re-opens its own record; nobody may delete one.
grant select, insert, update on outbox_dead to aftercommit_dispatcher;
grant select, insert, update, delete on outbox_replica, outbox_account_pause to aftercommit_dispatcher;
grant select, insert, update on outbox_lane to aftercommit_dispatcher;

---------------------------------------------------------------------------------------------------------------
-- Ordering keys. Everyone who adds to, ends or promotes a key holds its lock until commit, so "is there an
-- unfinished predecessor" has one answer and row ids are the key's sequence. Advisory, because a lock on the
-- newest row vanishes with that row while the waiter sleeps.
create function outbox_lock_keys(p_tenants uuid[], p_keys text[]) returns void
  language plpgsql as $$
declare lock_id bigint;
begin
  for lock_id in
    select distinct hashtextextended(u.t::text || '/' || u.k, 0) from unnest(p_tenants, p_keys) u(t, k)
      where u.k is not null order by 1
  loop
    perform pg_advisory_xact_lock(lock_id);
  end loop;
end $$;

-- The place of a tenant's next ready row in a lane: behind its own last one, and not before the turn the lane is at
-- (start-time fair queueing). No lock is taken: transactions of one tenant that overlap may share a turn, so a tenant
-- has at most as many rows per turn as it has transactions open at once. Asked from the lane's turn on, so that what
-- was claimed before it costs nothing, even while an old snapshot keeps its index entries.
create function outbox_next_turn(p_tenant uuid, p_lane text) returns bigint
  language plpgsql volatile as $$
declare lane_turn bigint; last_turn bigint;
begin
  select l.turn into lane_turn from outbox_lane l where l.lane = p_lane;
  lane_turn := coalesce(lane_turn, 0);
  select o.turn into last_turn from outbox o
    where o.state = 'ready' and not o.solo and o.tenant_id = p_tenant and o.lane = p_lane and o.turn >= lane_turn
    order by o.turn desc limit 1;
  return coalesce(last_turn + 1, lane_turn);
end $$;

-- The state of a row that nothing of its own key holds back.
create function outbox_runnable_state(p_account text, p_not_before timestamptz,
                                      out state outbox_state, out available_at timestamptz)
  language plpgsql volatile as $$
declare paused_until timestamptz;
begin
  available_at := greatest(p_not_before, app_now());
  -- app_now() is when this transaction began. A row may have been written since by one that began later and has
  -- committed; its time has come as well.
  state := case when available_at > app_now() + (clock_timestamp() - now()) then 'scheduled' else 'ready' end;
  if p_account is not null then
    select until into paused_until from outbox_account_pause p where p.account = p_account and p.until > app_now();
    if found and paused_until >= available_at then
      state := 'paused';
      available_at := paused_until;
    end if;
  end if;
end $$;

-- Whether an unresolved dead letter stands in a key's past.
create function outbox_key_has_dead(p_tenant uuid, p_key text) returns boolean
  language sql stable as $$
    select exists (select from outbox_dead d
      where d.tenant_id = p_tenant and d.ordering_key = p_key and d.resolution is null)
  $$;

-- Frees the next row of a key after the row `p_after` left it. Call under the key's lock, in a later statement than
-- the one that removed the row. The search starts behind the removed row, so its cost does not grow with the key.
-- Answers the lane that has work now, if one has.
create function outbox_promote(p_tenant uuid, p_key text, p_after bigint) returns text
  language plpgsql as $$
declare head record; runnable record;
begin
  select o.id, o.state, o.successor_rule, o.account, o.not_before, o.lane into head from outbox o
    where o.tenant_id = p_tenant and o.ordering_key = p_key and o.id > p_after order by o.id limit 1;
  if not found or head.state <> 'waiting' then return null; end if;
  if head.successor_rule <> 'run' and outbox_key_has_dead(p_tenant, p_key) then
    if head.successor_rule = 'hold' then
      update outbox set state = 'held' where id = head.id;
      return null;
    end if;
    update outbox set state = 'ready', doomed = true, available_at = app_now(),
        turn = outbox_next_turn(p_tenant, head.lane) where id = head.id;
    return head.lane;
  end if;
  select * into runnable from outbox_runnable_state(head.account, head.not_before);
  update outbox set state = runnable.state, available_at = runnable.available_at,
      turn = case when runnable.state = 'ready' then outbox_next_turn(p_tenant, head.lane) else turn end
    where id = head.id;
  return case when runnable.state = 'ready' then head.lane end;
end $$;

-- Lets the held rows of a key stand in line again once no unresolved dead letter is left in its past, and frees the
-- first of them. Call under the key's lock.
create function outbox_unhold(p_tenant uuid, p_key text) returns text
  language plpgsql as $$
begin
  if not outbox_key_has_dead(p_tenant, p_key) then
    update outbox set state = 'waiting' where tenant_id = p_tenant and ordering_key = p_key and state = 'held';
  end if;
  return outbox_promote(p_tenant, p_key, 0);
end $$;

-- Inserts rows for the transaction's tenant. If it has none yet, that is `p_tenant` from now on; if it has another one, that
-- is an error. For each input row: its
-- place, its id, and whether it is new. Same identity and content: the row already there is reported. Same identity, other
-- content: an error. Row by row in plain statements: most calls bring one row, and one statement for all of them would cost
-- more to begin than such a row costs.
create function outbox_enqueue(p_rows jsonb, p_tenant uuid default null)
  returns table (ordinal int, outbox_id bigint, fresh boolean, state outbox_state)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  t uuid; began timestamptz := app_now(); keys text[]; r jsonb; key text; known record; hash bytea;
  begins timestamptz; available timestamptz; is_doomed boolean; turn_lane text; row_turn bigint; last_turn bigint;
begin
  if p_tenant is not null then
    if nullif(current_setting('aftercommit.tenant', true), '') <> p_tenant::text then
      raise exception 'the transaction is bound to another tenant' using errcode = 'AC003';
    end if;
    perform set_config('aftercommit.tenant', p_tenant::text, true);
  end if;
  t := current_tenant();
  if jsonb_path_exists(p_rows, '$[*].orderingKey') then
    keys := array(select e ->> 'orderingKey' from jsonb_array_elements(p_rows) e where e ->> 'orderingKey' is not null);
    perform outbox_lock_keys(array_fill(t, array[cardinality(keys)]), keys);
  end if;
  for place in 1 .. jsonb_array_length(p_rows) loop
    r := p_rows -> place - 1;
    ordinal := place;
    hash := sha256(convert_to(jsonb_build_array(r -> 'action', r -> 'payloadVersion', r -> 'payload',
                                                r -> 'orderingKey')::text, 'utf8'));
    outbox_id := nextval('public.outbox_id_seq'::regclass);
    insert into outbox_identity (tenant_id, identity, outbox_id, content_hash)
      values (t, r ->> 'identity', outbox_id, hash) on conflict do nothing;
    fresh := found;
    if not fresh then
      select i.outbox_id as id, i.content_hash as hash into known
        from outbox_identity i where i.tenant_id = t and i.identity = r ->> 'identity';
      if known.hash <> hash then
        raise exception 'identity is taken by other content: %', r ->> 'action' using errcode = 'AC002';
      end if;
      outbox_id := known.id;
      state := null;
      return next;
      continue;
    end if;
    begins := coalesce((r ->> 'notBefore')::timestamptz, began);
    key := r ->> 'orderingKey';
    is_doomed := false;
    if r ->> 'account' is not null or begins > began then
      select o.state, o.available_at into state, available from outbox_runnable_state(r ->> 'account', begins) o;
    else
      state := 'ready';
      available := began;
    end if;
    if key is not null then
      if exists (select from outbox o where o.tenant_id = t and o.ordering_key = key) then
        state := 'waiting';
      elsif outbox_key_has_dead(t, key) then
        if r ->> 'successorRule' = 'hold' then
          state := 'held';
        elsif r ->> 'successorRule' = 'die' then
          -- Ready at once, whatever it was to wait for: it is claimed only to be ended.
          state := 'ready';
          is_doomed := true;
          available := began;
        end if;
      end if;
    end if;
    row_turn := 0;
    if state = 'ready' then
      row_turn := case when turn_lane = r ->> 'lane' then last_turn + 1 else outbox_next_turn(t, r ->> 'lane') end;
      turn_lane := r ->> 'lane';
      last_turn := row_turn;
    end if;
    insert into outbox (id, tenant_id, identity, action, payload_version, policy_version, payload,
        aggregate_type, aggregate_id, aggregate_revision, participant_revision, consent_ref, trace_parent,
        lane, account, ordering_key, successor_rule, state, not_before, available_at, doomed, turn)
      overriding system value
      values (outbox_id, t, r ->> 'identity', r ->> 'action', (r ->> 'payloadVersion')::int, (r ->> 'policyVersion')::int,
        r -> 'payload', r ->> 'aggregateType', (r ->> 'aggregateId')::uuid, (r ->> 'aggregateRevision')::int,
        (r ->> 'participantRevision')::int, r ->> 'consentRef', r ->> 'traceParent', r ->> 'lane', r ->> 'account', key,
        (r ->> 'successorRule')::outbox_successor_rule, state, begins, available, is_doomed, row_turn);
    return next;
  end loop;
end $$;

-- Ends the pending actions of an aggregate: live rows leave for history, dead letters are marked as superseded and
-- hold nothing back any more. What may have had an effect stays as it is, and is counted: a leased row, an unknown one,
-- a row or a dead letter with an unanswered attempt in its past. The caller enqueues the correcting action behind it.
create function outbox_supersede(p_aggregate_type text, p_aggregate_id uuid, p_actions text[], p_reason text,
                                 out ended int, out in_flight int, out lanes text[])
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare t uuid := current_tenant(); keys text[]; k text;
begin
  keys := array(
    select o.ordering_key from outbox o
      where o.tenant_id = t and o.aggregate_type = p_aggregate_type and o.aggregate_id = p_aggregate_id
        and o.ordering_key is not null
    union
    select d.ordering_key from outbox_dead d
      where d.tenant_id = t and d.aggregate_type = p_aggregate_type and d.aggregate_id = p_aggregate_id
        and d.ordering_key is not null and d.resolution is null);
  perform outbox_lock_keys(array_fill(t, array[cardinality(keys)]), keys);
  with gone as (
    delete from outbox o
      where o.tenant_id = t and o.aggregate_type = p_aggregate_type and o.aggregate_id = p_aggregate_id
        and o.action = any (p_actions) and o.target_id is null and not o.uncertain
        and o.state in ('scheduled', 'waiting', 'held', 'paused', 'ready')
      returning o.*
  ), kept as (
    insert into outbox_history (id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
        aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, fence, claims, attempts,
        outcome, reason)
      select id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
        aggregate_revision, lane, account, ordering_key, trace_parent, not_before, created_at, fence, claims, attempts,
        'superseded', p_reason from gone
  )
  select count(*) into ended from gone;
  update outbox_dead d set resolution = 'superseded', resolved_at = app_now(), resolved_by = 'domain',
      resolved_reason = p_reason
    where d.tenant_id = t and d.aggregate_type = p_aggregate_type and d.aggregate_id = p_aggregate_id
      and d.action = any (p_actions) and d.resolution is null and not d.uncertain;
  lanes := '{}';
  foreach k in array keys loop
    lanes := array_append(lanes, outbox_unhold(t, k));
  end loop;
  lanes := array_remove(lanes, null);
  select (select count(*) from outbox o
            where o.tenant_id = t and o.aggregate_type = p_aggregate_type and o.aggregate_id = p_aggregate_id
              and o.action = any (p_actions) and o.target_id is null
              and (o.uncertain or o.state in ('leased', 'outcome_unknown')))
       + (select count(*) from outbox_dead d
            where d.tenant_id = t and d.aggregate_type = p_aggregate_type and d.aggregate_id = p_aggregate_id
              and d.action = any (p_actions) and d.resolution is null)
    into in_flight;
end $$;

-- Brings a dead letter back under its own identity, by a person's decision. Refused when the key has moved on.
create function outbox_replay(p_id bigint, p_by text, p_reason text) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare t uuid := current_tenant(); d outbox_dead%rowtype; runnable record;
begin
  -- Keys come before rows, here as everywhere.
  perform outbox_lock_keys(array[t], array(select ordering_key from outbox_dead where id = p_id and tenant_id = t));
  select * into d from outbox_dead where id = p_id and tenant_id = t for update;
  if not found then return 'not_found'; end if;
  if d.resolution is not null then return 'already_resolved'; end if;
  if d.ordering_key is not null then
    if exists (select from outbox o where o.tenant_id = t and o.ordering_key = d.ordering_key
                 and o.state not in ('waiting', 'held')) then
      return 'key_busy';
    end if;
    -- The row returns with its old id, so it is the head again and whoever was held waits behind it.
    update outbox set state = 'waiting' where tenant_id = t and ordering_key = d.ordering_key and state = 'held';
  end if;
  select * into runnable from outbox_runnable_state(d.account, app_now());
  insert into outbox (id, tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
      aggregate_id, aggregate_revision, participant_revision, consent_ref, trace_parent, lane, account, ordering_key,
      successor_rule, state, not_before, available_at, created_at, fence, solo, uncertain)
    overriding system value
    values (d.id, t, d.identity, d.action, d.payload_version, d.policy_version, d.payload, d.aggregate_type,
      d.aggregate_id, d.aggregate_revision, d.participant_revision, d.consent_ref, d.trace_parent, d.lane, d.account,
      d.ordering_key, d.successor_rule, runnable.state, d.not_before, runnable.available_at, d.created_at, d.fence + 1,
      true, d.uncertain);
  update outbox_dead set resolution = 'replayed', resolved_at = app_now(), resolved_by = p_by, resolved_reason = p_reason
    where id = d.id;
  insert into outbox_decision (outbox_id, tenant_id, decision, class, code, decided_by, reason)
    values (d.id, t, 'replayed', d.class, d.code, p_by, p_reason);
  return 'replayed';
end $$;

-- Closes a dead letter that nobody will replay, by a person's decision: what it held goes on without it.
create function outbox_dismiss(p_id bigint, p_by text, p_reason text) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare t uuid := current_tenant(); d outbox_dead%rowtype;
begin
  perform outbox_lock_keys(array[t], array(select ordering_key from outbox_dead where id = p_id and tenant_id = t));
  select * into d from outbox_dead where id = p_id and tenant_id = t for update;
  if not found then return 'not_found'; end if;
  if d.resolution is not null then return 'already_resolved'; end if;
  update outbox_dead set resolution = 'superseded', resolved_at = app_now(), resolved_by = p_by, resolved_reason = p_reason
    where id = d.id;
  insert into outbox_decision (outbox_id, tenant_id, decision, class, code, decided_by, reason)
    values (d.id, t, 'dismissed', d.class, d.code, p_by, p_reason);
  if d.ordering_key is not null then perform outbox_unhold(t, d.ordering_key); end if;
  return 'dismissed';
end $$;

-- Makes this month's and the next months' partitions of history and attempts. Safe to call from every replica.
create function outbox_ensure_partitions(p_months_ahead int) returns int
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare month_start date; parent text; part text; made int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('outbox_ensure_partitions', 0));
  for i in 0 .. p_months_ahead loop
    month_start := (date_trunc('month', app_now() at time zone 'UTC') + make_interval(months => i))::date;
    foreach parent in array array['outbox_history', 'outbox_attempt'] loop
      part := parent || '_' || to_char(month_start, 'YYYYMM');
      if to_regclass('public.' || part) is null then
        begin
          execute format('create table public.%I partition of public.%I for values from (%L) to (%L)', part, parent,
            month_start::text || ' 00:00+00', (month_start + interval '1 month')::date::text || ' 00:00+00');
          execute format('alter table public.%I enable row level security', part);
          made := made + 1;
        exception when check_violation then
          -- No dispatcher ran for months and rows of this month lie in the default partition. They are well there,
          -- and later months get partitions of their own again.
          null;
        end;
      end if;
    end loop;
  end loop;
  return made;
end $$;

-- Locks up to `p_limit` ready rows of a lane in the order of their places, from one on, skipping what others hold. One
-- range of one index, whatever the statistics say: the table is empty most of the time, and a plan made then would gather
-- and sort a whole backlog at every claim.
create function outbox_pick(p_actions text[], p_lane text, p_limit int, p_turn bigint, p_id bigint) returns setof bigint
  language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
  set plan_cache_mode = force_generic_plan as $$
begin
  return query
    select o.id from outbox o
      where o.state = 'ready' and not o.solo and o.lane = p_lane and (o.turn, o.id) >= (p_turn, p_id)
        and o.action = any (p_actions)
      order by o.turn, o.id limit p_limit for update skip locked;
end $$;

-- Leases rows that this transaction has locked and that are ready, each for as long as its action says and under a fence
-- larger than any it had before. `p_starts`: nothing lies between the claim of such a row and contact, so the claim is
-- its start as well, and counts the attempt. Rows are found by `id = any`: a join could scan the whole table.
--
-- `p_caps`: at most so many rows of an account run at a time; null for no bound. Rows beyond it leave the claim index:
-- they are paused, answered as such, and come back when one of the account ends, or after a while, spread.
create function outbox_lease(p_ids bigint[], p_actions text[], p_leases_ms float8[], p_caps int[], p_starts boolean[],
                             p_owner uuid) returns setof outbox
  language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare ids bigint[] := p_ids; busy bigint[];
begin
  if array_remove(p_caps, null) <> '{}' then
    busy := outbox_busy(ids, p_actions, p_caps);
    if busy <> '{}' then
      ids := array(select unnest(ids) except select unnest(busy));
      return query
        update outbox o set state = 'paused', available_at = app_now() + w.wait, budget_from = o.budget_from + w.wait,
            last_code = 'account_busy'
          from (select b.id, interval '1 minute' * (0.5 + random()) as wait from unnest(busy) b(id)) w
          where o.id = any (busy) and w.id = o.id
          returning o.*;
    end if;
  end if;
  return query
    update outbox o set state = 'leased', fence = o.fence + 1, claims = o.claims + 1, lease_owner = p_owner,
        lease_until = app_now() + make_interval(secs => k.lease_ms / 1000), claimed_at = app_now(),
        -- What markStarted does in sql/claim.ts, where the claim is the start.
        started_at = k.start, attempts = o.attempts + (k.start is not null)::int,
        budget_from = coalesce(o.budget_from, k.start), first_started_at = coalesce(o.first_started_at, k.start)
      from (select t.action, t.lease_ms, d.doomed, case when t.starts and not d.doomed then app_now() end as start
              from unnest(p_actions, p_leases_ms, p_starts) t(action, lease_ms, starts), (values (false), (true)) d(doomed)) k
      where o.id = any (ids) and k.action = o.action and k.doomed = o.doomed
      returning o.*;
end $$;

-- Of locked rows, those that would exceed what their account may have running. Counted under a lock of each account, so
-- that two claims never count the same place; a lease that ran out holds none. Of rows with different caps, those with
-- the larger come first, so that counting places is exact.
create function outbox_busy(p_ids bigint[], p_actions text[], p_caps int[]) returns bigint[]
  language plpgsql set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
-- A variable, so that no plan takes the index of all leases instead of the account's own.
declare leased constant outbox_state := 'leased'; bounded text[]; unbounded text[]; ids bigint[]; turns bigint[]; accounts text[]; caps int[];
  tight text[]; taken bigint[];
begin
  bounded := array(select k.action from unnest(p_actions, p_caps) k(action, cap) where k.cap is not null);
  -- Of actions that are unknown here, others may know a bound: they are counted.
  unbounded := array(select k.action from unnest(p_actions, p_caps) k(action, cap) where k.cap is null);
  select array_agg(o.id), array_agg(o.turn), array_agg(o.account), array_agg(p_caps[array_position(p_actions, o.action::text)])
    into ids, turns, accounts, caps
    from outbox o where o.id = any (p_ids) and o.account is not null and o.action = any (bounded);
  if ids is null then return '{}'; end if;
  perform outbox_lock_accounts(accounts);
  -- Accounts with places for all that ask, which is most of them, are done with here.
  with a as materialized (
    select u.account, count(*) as asking, min(u.cap) as cap,
        (select count(*) from outbox o where o.account = u.account and o.state = leased and o.lease_until > app_now()
           and o.action <> all (unbounded)) as taken
      from unnest(accounts, caps) u(account, cap) group by u.account)
  select array_agg(a.account), array_agg(a.taken) into tight, taken from a where a.taken + a.asking > a.cap;
  if tight is null then return '{}'; end if;
  return array(
    select a.id from (
      select u.id, u.cap, t.taken + row_number() over (partition by u.account order by u.cap desc, u.turn, u.id) as place
        from unnest(ids, turns, accounts, caps) u(id, turn, account, cap) join unnest(tight, taken) t(account, taken) using (account)) a
      where a.place > a.cap);
end $$;

-- Locks up to `p_limit` rows whose time has come, the longest due first, skipping what others hold. One range of one
-- index, as in outbox_pick.
create function outbox_due(p_limit int) returns setof bigint
  language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return query
    select o.id from outbox o where o.state in ('scheduled', 'paused') and o.available_at <= app_now()
      order by o.available_at, o.id limit p_limit for update skip locked;
end $$;

-- Puts a key's rows back into the order that every other statement keeps: the first runs, the others wait. Answers how
-- many rows it had to move, which is none unless there is a defect, and the lane that has work now.
create function outbox_mend_key(p_tenant uuid, p_key text, out mended int, out lane text)
  language plpgsql as $$
declare head record; stranded boolean;
begin
  perform outbox_lock_keys(array[p_tenant], array[p_key]);
  mended := 0;
  select o.id, o.state into head from outbox o
    where o.tenant_id = p_tenant and o.ordering_key = p_key order by o.id limit 1;
  if not found then return; end if;
  update outbox o set state = 'waiting'
    where o.tenant_id = p_tenant and o.ordering_key = p_key and o.id > head.id and o.state in ('ready', 'scheduled', 'paused');
  get diagnostics mended = row_count;
  if head.state = 'waiting' or (head.state = 'held' and not outbox_key_has_dead(p_tenant, p_key)) then
    lane := outbox_unhold(p_tenant, p_key);
    mended := mended + 1;
  end if;
end $$;

-- Locks accounts until the transaction ends, always in the same order.
create function outbox_lock_accounts(p_accounts text[]) returns void
  language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  perform pg_advisory_xact_lock(h.id) from (
    select distinct hashtextextended('account/' || u.a, 0) as id from unnest(p_accounts) u(a) order by 1) h;
end $$;

-- Lets as many paused rows of each account run as it is named times: so many have ended. Answers the lanes that have
-- work now.
create function outbox_resume(p_accounts text[], out lanes text[])
  language plpgsql set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  -- Behind every claim that has counted and not committed: what it pauses must not wait for the next one to end.
  perform outbox_lock_accounts(p_accounts);
  with ended as materialized (
    -- While an account rests, its rows rest with it.
    select e.account, count(*) as places from unnest(p_accounts) e(account)
      where not exists (select from outbox_account_pause p where p.account = e.account and p.until > app_now())
      group by e.account
  ), resumed as materialized (
    select o.id from ended e, lateral (
      select id from outbox where account = e.account and state = 'paused' order by id limit e.places
        for update skip locked) o
  ), back as (
    update outbox o set state = 'ready', available_at = app_now(),
        budget_from = o.budget_from - greatest(o.available_at - app_now(), interval '0'),
        turn = greatest(o.turn, coalesce((select l.turn from outbox_lane l where l.lane = o.lane), 0))
      where o.id = any (array(select id from resumed)) returning o.lane
  )
  select coalesce(array_agg(distinct back.lane), '{}') into lanes from back;
end $$;

-- Deletes ended rows, with their attempts, that are older than their state's days, at most `p_limit` of them; null keeps
-- a state for ever. What is live, unknown or dead is in other tables, and is not looked at. Answers how many went.
create function outbox_retain(p_succeeded_days int, p_suppressed_days int, p_superseded_days int, p_limit int) returns int
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare kept record; gone int; total int := 0;
begin
  -- One replica at a time is enough.
  if not pg_try_advisory_xact_lock(hashtextextended('outbox_retain', 0)) then return 0; end if;
  for kept in
    select * from (values ('succeeded', p_succeeded_days), ('suppressed', p_suppressed_days),
                          ('superseded', p_superseded_days)) k(outcome, days) where days is not null
  loop
    with old as materialized (
      select h.id, h.finished_at from outbox_history h
        where h.outcome = kept.outcome and h.finished_at < app_now() - make_interval(days => kept.days)
        order by h.finished_at limit p_limit - total
    ), ended as (
      delete from outbox_history h using old where h.id = old.id and h.finished_at = old.finished_at returning h.id
    ), tried as (
      delete from outbox_attempt a using ended where a.outbox_id = ended.id
    )
    select count(*) into gone from ended;
    total := total + gone;
  end loop;
  return total;
end $$;

-- Drops the oldest month of history if all of it is older than any state is kept, and with it the attempts of that month,
-- but for those of rows that have not ended, died, or are still kept: these move to the default partition. At most one
-- month a call, because the lock that it takes keeps settles waiting until it commits; and none if somebody reads there,
-- because settles would wait behind it for that long. Answers the month, and whether one is left for that reason.
create function outbox_drop_month(p_days int, out dropped text, out busy boolean)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '100ms' as $$
declare month text; part text; newest bigint; kept bigint[];
begin
  busy := false;
  if not pg_try_advisory_xact_lock(hashtextextended('outbox_retain', 0)) then return; end if;
  select right(c.relname, 6) into month from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('public.outbox_history'::regclass, 'public.outbox_attempt'::regclass)
      and c.relname ~ '_[0-9]{6}$'
      and (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' <= app_now() - make_interval(days => p_days)
    order by 1 limit 1;
  if month is null then return; end if;
  execute format('drop table if exists public.%I', 'outbox_history_' || month);
  part := 'outbox_attempt_' || month;
  if to_regclass('public.' || part) is not null then
    execute format('alter table public.outbox_attempt detach partition public.%I', part);
    execute format('select max(outbox_id) from public.%I', part) into newest;
    kept := array(
      select id from outbox where id <= newest
      union select id from outbox_dead where id <= newest
      union select id from outbox_history where id <= newest);
    execute format('insert into public.outbox_attempt select * from public.%I where outbox_id = any ($1)', part) using kept;
    execute format('drop table public.%I', part);
  end if;
  -- What was moved there in earlier months may have lost its row with this one.
  delete from outbox_attempt_default a
    where a.ended_at < app_now() - make_interval(days => p_days)
      and not exists (select from outbox o where o.id = a.outbox_id)
      and not exists (select from outbox_dead d where d.id = a.outbox_id)
      and not exists (select from outbox_history h where h.id = a.outbox_id);
  dropped := month;
exception when lock_not_available then
  busy := true;
end $$;

do $$
declare f text;
begin
  foreach f in array array['outbox_lock_keys(uuid[], text[])', 'outbox_runnable_state(text, timestamptz)',
    'outbox_key_has_dead(uuid, text)', 'outbox_promote(uuid, text, bigint)', 'outbox_unhold(uuid, text)', 'outbox_enqueue(jsonb, uuid)',
    'outbox_supersede(text, uuid, text[], text)', 'outbox_replay(bigint, text, text)', 'outbox_dismiss(bigint, text, text)', 'outbox_ensure_partitions(int)',
    'outbox_pick(text[], text, int, bigint, bigint)', 'outbox_lease(bigint[], text[], float8[], int[], boolean[], uuid)',
    'outbox_busy(bigint[], text[], int[])', 'outbox_due(int)', 'outbox_next_turn(uuid, text)', 'outbox_mend_key(uuid, text)',
    'outbox_lock_accounts(text[])', 'outbox_resume(text[])', 'outbox_retain(int, int, int, int)', 'outbox_drop_month(int)'] loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function outbox_enqueue(jsonb, uuid), outbox_supersede(text, uuid, text[], text) to aftercommit_api;
grant execute on function outbox_enqueue(jsonb, uuid), outbox_supersede(text, uuid, text[], text),
  outbox_lock_keys(uuid[], text[]), outbox_runnable_state(text, timestamptz), outbox_key_has_dead(uuid, text),
  outbox_promote(uuid, text, bigint), outbox_ensure_partitions(int), outbox_next_turn(uuid, text),
  outbox_pick(text[], text, int, bigint, bigint), outbox_lease(bigint[], text[], float8[], int[], boolean[], uuid),
  outbox_busy(bigint[], text[], int[]), outbox_due(int), outbox_unhold(uuid, text), outbox_mend_key(uuid, text),
  outbox_lock_accounts(text[]), outbox_resume(text[]), outbox_retain(int, int, int, int), outbox_drop_month(int) to aftercommit_dispatcher;
grant execute on function outbox_replay(bigint, text, text), outbox_dismiss(bigint, text, text) to aftercommit_operator;

select outbox_ensure_partitions(2);
alter table outbox_history_default enable row level security;
alter table outbox_attempt_default enable row level security;
