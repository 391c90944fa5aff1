/** What scheduling's routes answer, as clients may rely on it: fields are added, never renamed or taken away. */
import {
  absenceMeanings,
  exceptionOwnerMeanings,
  ownerMeanings,
  repairKinds,
  IntentDraft,
  MeetingState,
  MeetingTrace as Trace,
  ProposalGrounds,
  TraceEntry,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { closedCodesOf, codesOf } from '../codes.ts'
import { named } from '../named.ts'

const Instant = z.iso.datetime()
const Id = z.uuid()

/** What was not told. */
export const AbsenceCode = named(
  'AbsenceCode',
  closedCodesOf(absenceMeanings),
  'What a meeting was not told.',
)
export const AnsweredBy = z.array(z.string()).meta({
  description:
    'The fields of Resolution with which it can be answered. What the meeting was told already may be left out.',
  examples: [['address', 'calendarConnectionId']],
})
export const ExceptionOwner = named(
  'ExceptionOwner',
  codesOf(exceptionOwnerMeanings, 'Any other: somebody whom a later version asks.'),
  'Who is asked for what is missing.',
)
export const RepairCode = named(
  'RepairCode',
  codesOf(
    Object.fromEntries(Object.entries(repairKinds).map(([code, { means }]) => [code, means])),
    'Any other: an action that ended for good, by the code with which it ended; `look_again`, `search_again` and the choices about people are open.',
  ),
  'What is wrong.',
)
export const RepairOwner = named(
  'RepairOwner',
  codesOf(ownerMeanings, 'Any other: somebody whom a later version names.'),
  'Who can put it right.',
)

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

/** How an action can end for good, in the engine's words. */
const failureMeanings = {
  transient: 'It was tried as often and as long as it may be.',
  uncertain:
    'It may have had its effect, and no answer tells. Look at the provider before you choose: nothing is repeated by itself.',
  stale: 'The world had moved on before it could be done.',
  consent_blocked: 'Somebody does not want it.',
  validation: 'The provider refused what it was asked, and would again.',
  permission: 'Access was refused.',
  terminal: 'It can never succeed.',
} as const

/** Loose: a fact is added where a person can decide better with it. */
const RepairFacts = named(
  'RepairFacts',
  z.looseObject({
    participantIds: z
      .array(Id)
      .optional()
      .meta({ description: 'Whom it is about, as `participants` of the meeting lists them.' }),
    because: z
      .string()
      .optional()
      .meta({ description: 'Why, as a code: what the last attempt or the last look ended with.' }),
    fields: z
      .array(z.string())
      .optional()
      .meta({ description: 'In which points the event differs from what was approved.' }),
    start: Instant.optional().meta({ description: 'When the event begins now that somebody moved it.' }),
    end: Instant.optional().meta({ description: 'When it ends now.' }),
    reasons: z
      .array(z.looseObject({ participantId: Id, code: z.string() }))
      .optional()
      .meta({ description: 'Why the time of each of these people is not known.' }),
    looks: z
      .int()
      .optional()
      .meta({ description: 'How often a time was looked for since anybody said anything.' }),
    round: z.int().optional().meta({ description: 'In which round of searching it happened.' }),
    class: codesOf(failureMeanings, 'Any other: a later version tells more ways apart.')
      .optional()
      .meta({ description: 'How an action ended that ended for good.' }),
  }),
  'What is known of what is wrong. Every field may be absent, and there may be others; people are named by id.',
)

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
    event: z
      .object({
        status: z.enum(['standing', 'cancelled']).meta({
          description:
            'Whether it stands at its provider. Of a meeting that has ended it is the last one that was booked, and cancelled.',
        }),
        cancelledAt: Instant.optional().meta({
          description:
            'When it was taken away at its provider; absent while it stands, and where that is not known.',
        }),
        provider: z.string(),
        calendarAddress: z.string(),
        eventId: z.string(),
        start: Instant.meta({
          description: 'The time that was approved for it. While a change is sought, this is what stands.',
        }),
        end: Instant,
      })
      .optional(),
    completion: z
      .object({
        verifiedAt: Instant,
        checks: z.array(z.string()).meta({
          description: 'Every point in which the event that was read back agrees with what was approved.',
        }),
        conferenceUrl: z.string().optional().meta({ description: 'Where the video conference is.' }),
      })
      .optional(),
    exceptions: z
      .array(
        z.object({
          id: Id,
          code: AbsenceCode,
          path: z
            .array(z.union([z.string(), z.int()]))
            .meta({ description: 'Where in `intent` it is missing.', examples: [['participants', 0]] }),
          answeredBy: AnsweredBy,
          owner: ExceptionOwner,
          lapsesAt: Instant.meta({ description: 'Until when it is waited for; then the meeting lapses.' }),
        }),
      )
      .meta({ description: 'What is still to be told, in the order in which it was asked.' }),
    repairs: z.array(
      z.object({
        id: Id,
        code: RepairCode,
        owner: RepairOwner,
        facts: RepairFacts,
        choices: z
          .array(z.string())
          .meta({ description: 'What may be chosen about it: a `type` of `choice` in ResolveRepair.' }),
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
        state: z.enum(MeetingState.options.map(({ shape }) => shape.type.value)).meta({
          description:
            'The `type` of the state and nothing else: the word by which `?state=` picks meetings. What belongs to a state stands in the `state` of the meeting itself, which is an object.',
        }),
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
