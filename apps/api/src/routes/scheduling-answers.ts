/** What scheduling's routes answer, as clients may rely on it: fields are added, never renamed or taken away. */
import { IntentDraft, MeetingState } from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'

const Instant = z.iso.datetime()
const Id = z.uuid()

export const MeetingDraft = named(
  'MeetingDraft',
  IntentDraft,
  'A meeting as it is asked for. What may be absent is optional; its absence becomes an exception, never a default.',
)

export const State = named(
  'MeetingState',
  MeetingState,
  'Where a meeting stands. New types may be added: treat an unknown one as "still under way".',
)

export const MeetingHead = named(
  'MeetingHead',
  z.object({ id: Id, revision: z.int(), state: State }),
  'A meeting as a command left it.',
)

export const Created = named('Created', z.object({ id: Id }))

export const Meeting = named(
  'Meeting',
  z.object({
    id: Id,
    revision: z.int(),
    state: State,
    intent: MeetingDraft,
    participants: z.array(
      z.object({
        id: Id,
        displayName: z.string(),
        address: z.string(),
        role: z.enum(['required', 'optional']),
      }),
    ),
    proposal: z
      .object({
        id: Id,
        start: Instant,
        end: Instant,
        optionalAttending: z.array(Id),
        optionalMissing: z.array(z.object({ id: Id, because: z.string() })),
      })
      .optional(),
    event: z.object({ provider: z.string(), calendarAddress: z.string(), eventId: z.string() }).optional(),
    completion: z.object({ verifiedAt: Instant, checks: z.array(z.string()) }).optional(),
    exceptions: z.array(
      z.object({
        id: Id,
        code: z.string(),
        path: z.array(z.union([z.string(), z.int()])),
        owner: z.string(),
        lapsesAt: Instant,
      }),
    ),
    repairs: z.array(
      z.object({
        id: Id,
        code: z.string(),
        owner: z.string(),
        facts: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
  'A meeting with everything that is known of it.',
)

export const MeetingList = named(
  'MeetingList',
  z.object({
    meetings: z.array(
      z.object({
        id: Id,
        revision: z.int(),
        state: z.string(),
        purpose: z.string(),
        createdAt: Instant,
        changedAt: Instant,
      }),
    ),
    nextCursor: z.string().optional(),
  }),
  'One page, newest first. There is another when `nextCursor` is there.',
)

const Call = z.object({
  provider: z.string(),
  operation: z.string(),
  startedAt: Instant,
  durationMs: z.number(),
  status: z.number().nullish(),
  outcome: z.string(),
  requestId: z.string().nullish(),
})

const common = { at: Instant }
const action = { actionId: z.string(), action: z.string() }
const code = z.string().nullable()

const Entry = named(
  'TraceEntry',
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('action_enqueued'), ...common, ...action }),
    z.object({
      type: z.literal('attempt'),
      ...common,
      ...action,
      attempt: z.int(),
      replicaId: z.string().nullable(),
      outcome: z.string(),
      code,
      durationMs: z.number().optional(),
      calls: z.array(Call),
    }),
    z.object({
      type: z.literal('action_ended'),
      ...common,
      ...action,
      outcome: z.string(),
      code,
      attempts: z.int(),
    }),
    z.object({
      type: z.literal('evidence'),
      ...common,
      participantId: Id,
      source: z.string(),
      known: z.boolean(),
      code: z.string().optional(),
      expiresAt: Instant,
    }),
    z.object({
      type: z.literal('proposal'),
      ...common,
      proposalId: Id,
      start: Instant,
      end: Instant,
      evidenceIds: z.array(Id),
    }),
    z.object({ type: z.literal('approval'), ...common, proposalId: Id, authority: z.string() }),
    z.object({ type: z.literal('event_written'), ...common, provider: z.string(), eventId: z.string() }),
    z.object({
      type: z.literal('completion_verified'),
      ...common,
      eventId: z.string(),
      checks: z.array(z.string()),
    }),
    z.object({ type: z.literal('exception_opened'), ...common, exceptionId: Id, code: z.string() }),
    z.object({ type: z.literal('exception_ended'), ...common, exceptionId: Id, state: z.string() }),
    z.object({
      type: z.literal('repair_opened'),
      ...common,
      repairId: Id,
      code: z.string(),
      owner: z.string(),
    }),
  ]),
  'Something that was asked, learned, decided, done or proved. New types may be added.',
)

export const MeetingTrace = named(
  'MeetingTrace',
  z.object({
    meetingId: Id,
    state: State,
    revision: z.int(),
    instruction: z.string().optional(),
    entries: z.array(Entry),
    pending: z.array(
      z.object({
        ...action,
        state: z.string(),
        dueAt: Instant.optional(),
        heldBy: z.string().optional(),
      }),
    ),
  }),
  'The whole story of a meeting, in one order.',
)
