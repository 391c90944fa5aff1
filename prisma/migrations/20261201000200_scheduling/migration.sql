-- For the exclusion constraint that compares ids and time ranges together. A trusted extension: no superuser needed.
create extension if not exists btree_gist;

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
  created_at        timestamptz not null default app_now()
);
-- One calendar, one connection: connecting it again renews the credential of the one that it has.
create unique index calendar_connection_once on calendar_connection (tenant_id, provider, lower(address));

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
  -- The approved proposal under which an event stands at the provider; null while there is none.
  standing_proposal_id uuid,
  -- The intent as it was confirmed, to go back to when a change of it is not approved.
  standing_intent jsonb,
  -- From which round on what people stated about their time counts; a new window makes it count anew.
  stated_since_round int not null default 1,
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
  -- What else the intent says of this person that a search uses; see intent.ts.
  preferences    jsonb,
  -- Raised when the person's address, calendar or part changes. Links given out for an older one are void.
  revision       int not null,
  -- The round in which this person was last asked by mail.
  asked_round    int,
  created_at     timestamptz not null default app_now(),
  -- Somebody else has taken this person's place. Evidence and history still name them.
  removed_at     timestamptz
);
create unique index participant_once on participant (meeting_id, lower(address)) where removed_at is null;

-- What was learned of one person's time, and when. Append only: a proposal names the pieces it was made from.
create table evidence (
  evidence_id    uuid primary key,
  tenant_id      uuid not null references tenant,
  meeting_id     uuid not null references meeting,
  participant_id uuid not null references participant,
  round          int not null,
  source         text not null check (source in ('google', 'microsoft', 'reply_page', 'mail', 'outreach')),
  -- `known` carries the busy intervals of a calendar, `stated` the stretches in which a person says they can;
  -- `unknown` carries why, and is never read as free.
  type           text not null check (type in ('known', 'stated', 'unknown')),
  busy           jsonb,
  free           jsonb,
  zone           text,
  code           text,
  retrieved_at   timestamptz not null,
  expires_at     timestamptz not null,
  -- When it was learned is not when it was written down: an attempt dates what it reads by its own claim.
  recorded_at    timestamptz not null default app_now(),
  check ((type = 'known') = (busy is not null)),
  check ((type = 'stated') = (free is not null and zone is not null)),
  check ((type = 'unknown') = (code is not null))
);
-- A calendar is read once per person and round. People may state their time as often as they like.
create unique index evidence_read_once on evidence (meeting_id, participant_id, round)
  where source in ('google', 'microsoft');

create table proposal (
  proposal_id      uuid primary key,
  tenant_id        uuid not null references tenant,
  meeting_id       uuid not null references meeting,
  meeting_revision int not null,
  round            int not null,
  start_at         timestamptz not null,
  end_at           timestamptz not null,
  evidence_ids     uuid[] not null,
  -- Who of the optional people can come, why this time, and what else could have been proposed; see slot.ts.
  grounds          jsonb not null,
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
  authority        text not null check (authority in ('automatic', 'organizer', 'named_approver')),
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
  written_at       timestamptz not null,
  recorded_at      timestamptz not null default app_now()
);

-- The proof behind "confirmed": what was read back, and that every point of it agreed with what was approved.
create table completion (
  proposal_id  uuid primary key references approval,
  tenant_id    uuid not null references tenant,
  meeting_id   uuid not null references meeting,
  event_id     text not null,
  etag         text not null,
  checks       jsonb not null,
  conference_url text,
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
  resolved_at timestamptz,
  -- What was chosen, and by what right. Null while it is open, and when the meeting ended without it.
  choice      text,
  authority   text check (authority in ('organizer', 'named_approver')),
  check (choice is null or resolved_at is not null)
);
create index repair_open on repair (tenant_id, opened_at, repair_id) where resolved_at is null;

-- A promise of one person's time to one meeting, from approval until the meeting has it no more. Two meetings cannot hold
-- the same person at the same time: the second insert finds the first, whoever commits first.
create table hold (
  tenant_id   uuid not null references tenant,
  meeting_id  uuid not null references meeting,
  proposal_id uuid not null references proposal,
  -- The address in lower case: the same person may be a participant of many meetings.
  person      text not null,
  start_at    timestamptz not null,
  end_at      timestamptz not null,
  placed_at   timestamptz not null default app_now(),
  primary key (proposal_id, person),
  constraint hold_once exclude using gist
    (tenant_id with =, person with =, meeting_id with <>, tstzrange(start_at, end_at) with &&)
);
create index hold_meeting on hold (meeting_id);

-- What became of a hold that is no more. How many people, and never who: the promise is over, and only its story is kept.
create table released_hold (
  proposal_id uuid not null references proposal,
  tenant_id   uuid not null references tenant,
  meeting_id  uuid not null references meeting,
  people      int not null,
  placed_at   timestamptz not null,
  released_at timestamptz not null default app_now(),
  -- The state of the meeting that has it no more.
  state       text not null,
  primary key (proposal_id, released_at)
);
create index released_hold_meeting on released_hold (meeting_id);

-- What was decided about a meeting besides its approvals, repairs and exceptions, which have tables of their own: by
-- whom, and why another round began. Append only; people are named by id.
create table meeting_decision (
  decision_id     uuid primary key,
  tenant_id       uuid not null references tenant,
  meeting_id      uuid not null references meeting,
  type            text not null check (type in ('rescheduled', 'cancelled', 'lapsed', 'change_lapsed', 'looked_again',
                                                'calendar_connected', 'calendar_reconnected', 'contact_refused')),
  -- By what right. `rule`: nobody's word, but what the meeting itself says.
  decided_by      text not null check (decided_by in ('organizer', 'named_approver', 'requester', 'participant',
                                                      'calendar_owner', 'rule')),
  because         text,
  participant_ids uuid[] not null,
  -- Of the meeting as it was decided to be.
  revision        int not null,
  round           int not null,
  decided_at      timestamptz not null default app_now()
);
create index meeting_decision_meeting on meeting_decision (meeting_id);

-- Each message to a person about a meeting: what was sent, and what is known of its fate. "accepted" is a mail server's
-- word, and says nothing of the person.
create table contact (
  contact_id     uuid primary key,
  tenant_id      uuid not null references tenant,
  meeting_id     uuid not null references meeting,
  -- Null for the approver.
  participant_id uuid references participant,
  kind           text not null,
  round          int not null,
  -- As on the wire, so that an answer finds its question.
  message_id     text not null,
  outcome        text not null check (outcome in ('accepted', 'maybe_sent', 'refused', 'bounced')),
  code           text,
  contacted_at   timestamptz not null
);
create index contact_meeting on contact (meeting_id);
create unique index contact_message on contact (tenant_id, message_id);

-- People who do not want to be written to. By address in lower case, for every meeting of the tenant.
create table contact_refusal (
  tenant_id  uuid not null references tenant,
  person     text not null,
  refused_at timestamptz not null default app_now(),
  primary key (tenant_id, person)
);

-- What was understood of a person's own words. Nothing acts on it until the person confirms it.
create table reply_draft (
  reply_draft_id uuid primary key,
  tenant_id      uuid not null references tenant,
  meeting_id     uuid not null references meeting,
  participant_id uuid not null references participant,
  -- Of the message that was read, so that a message delivered twice is read once.
  message_id     text not null,
  windows        jsonb not null,
  zone           text,
  unclear        text[] not null,
  received_at    timestamptz not null default app_now(),
  unique (tenant_id, message_id)
);
create index reply_draft_meeting on reply_draft (meeting_id);

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
                           'approval', 'calendar_event', 'completion', 'repair', 'meeting_exception', 'hold',
                           'contact', 'contact_refusal', 'reply_draft',
                           'released_hold', 'meeting_decision'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy own on %I using (tenant_id = (select current_tenant())) '
                   'with check (tenant_id = (select current_tenant()))', t);
    execute format('grant select on %I to aftercommit_api, aftercommit_dispatcher, aftercommit_operator', t);
  end loop;
end $$;
-- A person's command opens, approves, answers and connects; everything the world answers is written by the dispatcher.
grant insert on meeting, participant, approval, calendar_connection, webhook_endpoint, meeting_exception, evidence,
  proposal, calendar_event, repair, contact, contact_refusal, reply_draft to aftercommit_api;
grant update on meeting, meeting_exception, participant, repair, contact to aftercommit_api, aftercommit_dispatcher;
grant update (sealed_credential, state) on calendar_connection to aftercommit_api;
grant insert on evidence, proposal, approval, calendar_event, completion, repair, contact to aftercommit_dispatcher;
grant update (sealed_credential, state) on calendar_connection to aftercommit_dispatcher;
grant update on completion to aftercommit_dispatcher;
grant update (state) on webhook_endpoint to aftercommit_api, aftercommit_dispatcher;
grant insert, delete on hold to aftercommit_api, aftercommit_dispatcher;
-- Neither is ever changed or taken back.
grant insert on released_hold, meeting_decision to aftercommit_api, aftercommit_dispatcher;
