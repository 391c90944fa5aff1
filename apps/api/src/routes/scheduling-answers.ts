/** What scheduling's routes answer, as clients may rely on it: fields are added, never renamed or taken away. */
import {
  absenceCodes,
  IntentDraft,
  MeetingState,
  MeetingTrace as Trace,
  ProposalGrounds,
  TraceEntry,
} from '@aftercommit/scheduling'
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
    revision: z.int().meta({ description: 'Raised whenever what is asked for changes.' }),
    state: State,
    intent: MeetingDraft,
    participants: z.array(
      z.object({
        id: Id,
        displayName: z.string(),
        address: z.string(),
        role: z.enum(['required', 'optional']),
        messages: z.int().meta({ description: 'How many mails this person was sent about the meeting.' }),
      }),
    ),
    proposal: z
      .object({
        id: Id,
        start: Instant,
        end: Instant,
        ...ProposalGrounds.shape,
      })
      .optional(),
    event: z.object({ provider: z.string(), calendarAddress: z.string(), eventId: z.string() }).optional(),
    completion: z
      .object({
        verifiedAt: Instant,
        checks: z.array(z.string()).meta({
          description: 'Every point in which the event that was read back agrees with what was approved.',
        }),
        conferenceUrl: z.string().optional().meta({ description: 'Where the video conference is.' }),
      })
      .optional(),
    exceptions: z.array(
      z.object({
        id: Id,
        code: z.enum(absenceCodes).meta({ description: 'What was not told.' }),
        path: z
          .array(z.union([z.string(), z.int()]))
          .meta({ description: 'Where in `intent` it is missing.', examples: [['participants', 0]] }),
        owner: z.string().meta({ description: 'Who is asked for it.' }),
        lapsesAt: Instant.meta({ description: 'Until when it is waited for; then the meeting lapses.' }),
      }),
    ),
    repairs: z.array(
      z.object({
        id: Id,
        code: z.string(),
        owner: z.string(),
        facts: z.record(z.string(), z.unknown()),
        choices: z.array(z.string()),
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
        state: z.enum(MeetingState.options.map(({ shape }) => shape.type.value)),
        purpose: z.string(),
        createdAt: Instant,
        changedAt: Instant,
      }),
    ),
    nextCursor: z.string().optional(),
  }),
  'One page, newest first. There is another when `nextCursor` is there.',
)

named(
  'TraceEntry',
  TraceEntry,
  'Something that was asked, learned, decided, done or proved. New types may be added.',
)

export const MeetingTrace = named(
  'MeetingTrace',
  Trace,
  'The whole story of a meeting, in one order. It names nobody but by id.',
)
