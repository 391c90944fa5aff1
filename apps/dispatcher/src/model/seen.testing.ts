/** What can be seen of one run from outside: the database's rows, the provider's events, and the ledger of effects. */
import { operationIdOf } from '@aftercommit/outbox'
import type { EventView, SimulatorControl } from '@aftercommit/simulator'
import type { TestDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { cast, organizers } from './cast.testing.ts'

const At = z.string().transform((text) => new Date(text))
const State = z.looseObject({
  type: z.string(),
  proposalId: z.string().optional(),
  repairId: z.string().optional(),
  code: z.string().optional(),
})
const Draft = z.object({
  operationId: z.string(),
  epoch: z.int(),
  calendarAddress: z.string(),
  title: z.string(),
  start: At,
  end: At,
  timeZone: z.string(),
  attendees: z.array(
    z.object({ address: z.string(), displayName: z.string(), role: z.enum(['required', 'optional']) }),
  ),
  conference: z.boolean(),
})
const Rows = z.object({
  now: At,
  meetings: z.array(
    z.object({
      id: z.string(),
      state: State,
      revision: z.int(),
      round: z.int(),
      standing: z.string().nullable(),
      bookBy: At,
    }),
  ),
  participants: z.array(
    z.object({
      id: z.string(),
      meetingId: z.string(),
      address: z.string(),
      role: z.enum(['required', 'optional']),
      connected: z.boolean(),
      revision: z.int(),
      zone: z.string().nullable(),
    }),
  ),
  proposals: z.array(z.object({ id: z.string(), meetingId: z.string(), round: z.int(), start: At, end: At })),
  approvals: z.array(z.object({ proposalId: z.string(), meetingId: z.string(), draft: Draft })),
  events: z.array(z.object({ proposalId: z.string(), meetingId: z.string(), eventId: z.string() })),
  completions: z.array(z.object({ proposalId: z.string(), eventId: z.string(), verifiedAt: z.string() })),
  repairs: z.array(
    z.object({
      id: z.string(),
      meetingId: z.string(),
      code: z.string(),
      participantIds: z.array(z.string()),
    }),
  ),
  exceptions: z.array(z.object({ id: z.string(), meetingId: z.string(), code: z.string() })),
  stated: z.array(z.object({ meetingId: z.string(), participantId: z.string() })),
  live: z.array(
    z.object({
      id: z.string(),
      action: z.string(),
      state: z.string(),
      meetingId: z.string(),
      availableAt: At,
    }),
  ),
  asks: z.array(z.object({ identity: z.string(), meetingId: z.string(), participantId: z.string() })),
})

type Ledger = Awaited<ReturnType<SimulatorControl['readLedger']>>
export type Rows = z.output<typeof Rows>
export type SeenMeeting = Rows['meetings'][number]

export interface Seen extends Rows {
  /** In the two organizers' calendars, cancelled ones included. */
  readonly held: readonly EventView[]
  readonly ledger: Ledger
}

const list = (from: string, fields: string): string =>
  `(select coalesce(json_agg(json_build_object(${fields})), '[]') from ${from})`

const ASK = 'scheduling.ask_participant'
const asksOf = (table: string): string =>
  `select identity, aggregate_id, payload from ${table} where action = '${ASK}'`

const ROWS = `select json_build_object(
  'now', app_now(),
  'meetings', ${list(
    '(select * from meeting order by created_at, meeting_id) m',
    `'id', meeting_id, 'state', state_facts, 'revision', revision, 'round', round,
     'standing', standing_proposal_id, 'bookBy', intent->>'bookBy'`,
  )},
  'participants', ${list(
    '(select * from participant where removed_at is null order by position) p',
    `'id', participant_id, 'meetingId', meeting_id, 'address', address, 'role', role,
     'connected', connection_id is not null, 'revision', revision, 'zone', time_zone`,
  )},
  'proposals', ${list(
    'proposal',
    `'id', proposal_id, 'meetingId', meeting_id, 'round', round, 'start', start_at, 'end', end_at`,
  )},
  'approvals', ${list('approval', `'proposalId', proposal_id, 'meetingId', meeting_id, 'draft', draft`)},
  'events', ${list('calendar_event', `'proposalId', proposal_id, 'meetingId', meeting_id, 'eventId', event_id`)},
  'completions', ${list('completion', `'proposalId', proposal_id, 'eventId', event_id, 'verifiedAt', verified_at`)},
  'repairs', ${list(
    'repair where resolved_at is null',
    `'id', repair_id, 'meetingId', meeting_id, 'code', code,
     'participantIds', coalesce(facts->'participantIds', '[]')`,
  )},
  'exceptions', ${list(
    `(select * from meeting_exception where state = 'open' order by code, path) e`,
    `'id', exception_id, 'meetingId', meeting_id, 'code', code`,
  )},
  'stated', ${list(
    `(select distinct meeting_id, participant_id from evidence where type = 'stated') e`,
    `'meetingId', meeting_id, 'participantId', participant_id`,
  )},
  'live', ${list(
    '(select * from outbox order by id) o',
    `'id', id::text, 'action', action, 'state', state, 'meetingId', aggregate_id, 'availableAt', available_at`,
  )},
  'asks', ${list(
    `(${['outbox', 'outbox_history', 'outbox_dead'].map(asksOf).join(' union all ')}) a`,
    `'identity', identity, 'meetingId', aggregate_id, 'participantId', payload->>'participantId'`,
  )}
) as rows`

export const readRows = async (database: TestDatabase): Promise<Rows> => {
  const { rows } = await database.owner.query<{ rows: unknown }>(ROWS)
  return Rows.parse(rows[0]?.rows)
}

export const look = async (database: TestDatabase, control: SimulatorControl): Promise<Seen> => {
  const [rows, ledger, ...held] = await Promise.all([
    readRows(database),
    control.readLedger(),
    ...organizers.map((name) => control.readEvents(cast[name].address)),
  ])
  return { ...rows, ledger, held: held.flat() }
}

/** Which asking each message id is: messages are named by their row's identity. */
export const asksByMessageId = (
  tenantId: string,
  { asks }: Rows,
): ReadonlyMap<string, Rows['asks'][number]> =>
  new Map(asks.map((ask) => [operationIdOf(tenantId, ask.identity), ask]))

export const operationIdsOf = ({ approvals }: Rows, meetingId: string): ReadonlySet<string> =>
  new Set(approvals.filter((each) => each.meetingId === meetingId).map(({ draft }) => draft.operationId))

/** The events of a meeting that are not cancelled, whoever made them. */
export const liveEventsOf = (seen: Seen, meetingId: string): readonly EventView[] => {
  const ids = operationIdsOf(seen, meetingId)
  return seen.held.filter(
    ({ operationId, status }) => status !== 'cancelled' && operationId !== null && ids.has(operationId),
  )
}

/** Everything that the outbox's tables hold, in whatever column. */
export const outboxText = async (database: TestDatabase): Promise<string> => {
  const tables = [
    'outbox',
    'outbox_history',
    'outbox_dead',
    'outbox_attempt',
    'outbox_identity',
    'outbox_decision',
  ]
  const { rows } = await database.owner.query<{ text: string | null }>(
    tables
      .map((name) => `select string_agg(to_jsonb(t)::text, E'\\n') as text from ${name} t`)
      .join(' union all '),
  )
  return rows.map(({ text }) => text ?? '').join('\n')
}
