-- Scheduling: meetings, the people in them, what is known of their time, and what became of the event.
-- Only packages/scheduling names these tables. Every one of them belongs to a tenant.

-- A calendar this tenant may read and write, with the credential sealed for the dispatcher.
create table calendar_connection (
  connection_id     uuid primary key,
  tenant_id         uuid not null references tenant,
  provider          text not null check (provider in ('google', 'microsoft')),
  address           text not null,
  sealed_credential bytea not null,
  state             text not null check (state in ('active', 'revoked')),
  created_at        timestamptz not null default app_now(),
  unique (tenant_id, provider, address)
);

-- Where the client hears of what happened to its meetings.
create table webhook_endpoint (
  endpoint_id   uuid primary key,
  tenant_id     uuid not null references tenant,
  url           text not null,
  sealed_secret bytea not null,
  state         text not null check (state in ('active', 'disabled')),
  created_at    timestamptz not null default app_now()
);

create table meeting (
  meeting_id  uuid primary key,
  tenant_id   uuid not null references tenant,
  -- Raised by people: a changed person, slot, zone or calendar is a new revision.
  revision    int not null,
  -- Raised by the world: each time availability has to be gathered anew.
  round       int not null,
  -- The typed intent; see intent.ts. The person's own words stay inside as provenance and decide nothing.
  intent      jsonb not null,
  -- The discriminant of `state_facts`, as a column for lists and counts.
  state       text not null,
  state_facts jsonb not null,
  trace_parent text,
  created_at  timestamptz not null default app_now(),
  changed_at  timestamptz not null default app_now()
);
create index meeting_list on meeting (tenant_id, created_at, meeting_id);

create table participant (
  participant_id uuid primary key,
  tenant_id      uuid not null references tenant,
  meeting_id     uuid not null references meeting,
  position       int not null,
  display_name   text not null,
  address        text not null,
  role           text not null check (role in ('required', 'optional')),
  connection_id  uuid references calendar_connection,
  time_zone      text,
  working_hours  jsonb,
  revision       int not null,
  created_at     timestamptz not null default app_now(),
  unique (meeting_id, address)
);

-- What was learned of one person's time, and when. Append only: a proposal names the pieces it was made from.
create table evidence (
  evidence_id    uuid primary key,
  tenant_id      uuid not null references tenant,
  meeting_id     uuid not null references meeting,
  participant_id uuid not null references participant,
  round          int not null,
  source         text not null check (source in ('google', 'microsoft')),
  -- `known` carries the busy intervals; `unknown` carries why, and is never read as free.
  type           text not null check (type in ('known', 'unknown')),
  busy           jsonb,
  code           text,
  retrieved_at   timestamptz not null,
  expires_at     timestamptz not null,
  check ((type = 'known') = (busy is not null)),
  check ((type = 'unknown') = (code is not null)),
  unique (meeting_id, participant_id, round)
);

create table proposal (
  proposal_id      uuid primary key,
  tenant_id        uuid not null references tenant,
  meeting_id       uuid not null references meeting,
  meeting_revision int not null,
  round            int not null,
  start_at         timestamptz not null,
  end_at           timestamptz not null,
  evidence_ids     uuid[] not null,
  -- Who of the optional people can come, and why the others cannot.
  optional         jsonb not null,
  created_at       timestamptz not null default app_now(),
  unique (meeting_id, round),
  check (end_at > start_at)
);

-- One approval per proposal, binding everything that may be written. The draft never changes afterwards.
create table approval (
  proposal_id      uuid primary key references proposal,
  tenant_id        uuid not null references tenant,
  meeting_id       uuid not null references meeting,
  meeting_revision int not null,
  approver         text not null,
  authority        text not null check (authority in ('automatic', 'named_approver')),
  draft            jsonb not null,
  approved_at      timestamptz not null
);

create table calendar_event (
  proposal_id      uuid primary key references approval,
  tenant_id        uuid not null references tenant,
  meeting_id       uuid not null references meeting,
  provider         text not null,
  calendar_address text not null,
  event_id         text not null,
  ical_uid         text not null,
  written_at       timestamptz not null
);

-- The proof behind "confirmed": what was read back, and that every point of it agreed with what was approved.
create table completion (
  proposal_id  uuid primary key references approval,
  tenant_id    uuid not null references tenant,
  meeting_id   uuid not null references meeting,
  event_id     text not null,
  etag         text not null,
  checks       jsonb not null,
  verified_at  timestamptz not null
);

-- Something that only a person can put right. Names what is wrong and who owns it.
create table repair (
  repair_id   uuid primary key,
  tenant_id   uuid not null references tenant,
  meeting_id  uuid not null references meeting,
  code        text not null,
  owner       text not null,
  facts       jsonb not null,
  opened_at   timestamptz not null,
  resolved_at timestamptz
);
create index repair_open on repair (tenant_id, opened_at) where resolved_at is null;

-- Something a meeting cannot do without and was not told. Bounded: it has an owner, and lapses with the meeting.
create table meeting_exception (
  exception_id uuid primary key,
  tenant_id    uuid not null references tenant,
  meeting_id   uuid not null references meeting,
  code         text not null,
  -- Where in the intent it is missing.
  path         jsonb not null,
  owner        text not null,
  state        text not null check (state in ('open', 'resolved', 'lapsed')),
  opened_at    timestamptz not null,
  lapses_at    timestamptz not null,
  ended_at     timestamptz
);
create index meeting_exception_open on meeting_exception (tenant_id, lapses_at, exception_id) where state = 'open';
create index meeting_exception_meeting on meeting_exception (meeting_id);

create index participant_meeting on participant (meeting_id);
create index proposal_meeting on proposal (meeting_id);
create index approval_meeting on approval (meeting_id);
create index calendar_event_meeting on calendar_event (meeting_id);
create index completion_meeting on completion (meeting_id);
create index repair_meeting on repair (meeting_id);

do $$
declare t text;
begin
  foreach t in array array['calendar_connection', 'webhook_endpoint', 'meeting', 'participant', 'evidence', 'proposal',
                           'approval', 'calendar_event', 'completion', 'repair', 'meeting_exception'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own on %I using (tenant_id = (select current_tenant())) '
                   'with check (tenant_id = (select current_tenant()))', t);
    execute format('grant select on %I to aftercommit_api, aftercommit_dispatcher, aftercommit_operator', t);
  end loop;
end $$;
-- A person's command opens, approves and connects; everything the world answers is written by the dispatcher.
grant insert on meeting, participant, approval, calendar_connection, webhook_endpoint, meeting_exception to aftercommit_api;
grant update on meeting, meeting_exception to aftercommit_api, aftercommit_dispatcher;
grant insert on evidence, proposal, approval, calendar_event, completion, repair to aftercommit_dispatcher;
grant update (state) on calendar_connection to aftercommit_dispatcher;
