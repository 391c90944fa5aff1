/**
 * A meeting: the states it can be in, and every decision on the way to a proposal. Pure: state, input and time in, state
 * and actions out. What follows an approval is decided in booking.ts, what ends or changes a meeting in ending.ts.
 */
import type { ActionRequest } from '@aftercommit/outbox'
import type { TimeZone } from '@aftercommit/time'
import { z } from 'zod'
import { schedulingActions, type ClientEvent } from './actions.ts'
import {
  ProposalId,
  RepairId,
  type ConnectionId,
  type EndpointId,
  type EvidenceId,
  type ExceptionId,
  type MeetingId,
  type NewId,
  type ParticipantId,
} from './ids.ts'
import type { IntentDraft, MeetingIntent, WorkingHours } from './intent.ts'
import { nextContactAt } from './outreach/cadence.ts'
import { NoOverlap, noOverlapOf } from './no-overlap.ts'
import type { FindTimesResult } from './overlap.ts'
import { proposalGroundsOf, type ProposalGrounds } from './slot.ts'

const stands = <const Type extends string>(type: Type, description: string) => ({
  type: z.literal(type).meta({ description }),
})

/** Where a meeting stands. Stored as JSON beside its discriminant, and parsed by this schema on the way out. */
export const MeetingState = z.discriminatedUnion('type', [
  /** See absence.ts. It has no participants yet. */
  z.object(stands('incomplete', 'Something it cannot do without was not told: it has open exceptions.')),
  z.object(stands('gathering', 'Calendars are being read, and people without one are being asked.')),
  z.object(stands('choosing', 'What can be known of everybody is known; a time is being looked for.')),
  z.object({
    ...stands('awaiting_approval', 'A time was found, and waits for who approves it.'),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands('booking', 'Approved. The event is about to be written, or being written.'),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands(
      'write_uncertain',
      "The write's answer was lost: the provider is asked before anything is written.",
    ),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands('verifying', 'The provider took the event; it is being read back. Not confirmed yet.'),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands('confirmed', 'The event was read back, and agrees with what was approved in every point.'),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands(
      'no_overlap',
      "Nobody's fault, and an answer: who is in the way, and which times come nearest.",
    ),
    because: NoOverlap.optional(),
  }),
  z.object(stands('lapsed', 'The booking deadline came before an approval.')),
  z.object({
    ...stands(
      'in_repair',
      'Something went wrong that only a person can put right; the repair says what and who.',
    ),
    repairId: RepairId,
    code: z.string().meta({ description: 'The code of the repair.' }),
    proposalId: ProposalId.optional().meta({
      description: 'The approved proposal that it is about; absent when none was approved.',
    }),
  }),
  z.object({
    ...stands('clearing', 'What may stand at the provider is taken away before the meeting is booked anew.'),
    proposalId: ProposalId,
  }),
  z.object({
    ...stands('cancelling', 'A person cancelled it, and its event is being cancelled at the provider.'),
    proposalId: ProposalId,
  }),
  z.object(stands('cancelled', 'It is cancelled, and so is its event if it had one.')),
])
export type MeetingState = z.output<typeof MeetingState>
export type MeetingStateType = MeetingState['type']

interface MeetingHead {
  readonly id: MeetingId
  readonly revision: number
  readonly round: number
  readonly state: MeetingState
  /** The approved proposal under which a confirmed event stands at the provider; it stays while a change is sought. */
  readonly standingProposalId: ProposalId | undefined
  /** From which round on what people stated about their time counts. */
  readonly statedSinceRound: number
  readonly traceParent: string | undefined
}

/** A meeting whose intent is complete: the only kind on which work is done. */
export interface Meeting extends MeetingHead {
  readonly intent: MeetingIntent
  /** The intent as it was confirmed, while an event stands. */
  readonly standingIntent?: MeetingIntent | undefined
}

/** A meeting that still waits to be told something. */
export interface IncompleteMeeting extends MeetingHead {
  readonly draft: IntentDraft
}

export interface Participant {
  readonly id: ParticipantId
  readonly displayName: string
  readonly address: string
  readonly role: 'required' | 'optional'
  readonly connectionId: ConnectionId | undefined
  readonly timeZone: TimeZone | undefined
  readonly workingHours: WorkingHours | undefined
  readonly bufferBeforeMinutes?: number | undefined
  readonly bufferAfterMinutes?: number | undefined
  /** Raised when address, calendar or part change. Links given out for an older one are void. */
  readonly revision: number
  /** The round in which the last asking of this person by mail began. */
  readonly askedRound: number | undefined
}

export interface Proposal {
  readonly id: ProposalId
  readonly meetingRevision: number
  readonly round: number
  readonly start: Date
  readonly end: Date
  readonly evidenceIds: readonly EvidenceId[]
  /** Who of the optional people can come, why this time was proposed, and what else could have been. */
  readonly grounds: ProposalGrounds
}

/** What every decision about a meeting leaves behind: its new state, and what must follow. */
export interface Change {
  readonly meeting: Meeting
  readonly actions: readonly ActionRequest[]
}

export interface Repair {
  readonly id: RepairId
  readonly code: string
  readonly owner: string
  /** What is wrong, by field and reason. No address: a participant is named by id. */
  readonly facts: Readonly<Record<string, unknown>>
}

export const moved = <M extends MeetingHead>(meeting: M, state: MeetingState): M => ({ ...meeting, state })

/** What every action of a meeting carries. `account` is the provider account whose rests and caps apply. */
export const facets = (meeting: MeetingHead, account?: string) => ({
  aggregateRevision: meeting.revision,
  ...(account !== undefined && { account }),
  ...(meeting.traceParent !== undefined && { traceParent: meeting.traceParent }),
})

/** The account of everything that goes through the mail server. */
const MAIL_ACCOUNT = 'mail'

/** One notification per endpoint the client has named. */
export const tellClient = (
  meeting: MeetingHead,
  endpointIds: readonly EndpointId[],
  event: ClientEvent,
  occasionId: string,
): readonly ActionRequest[] =>
  endpointIds.map((endpointId) =>
    schedulingActions.notifyClient.request(
      { meetingId: meeting.id, endpointId, event, occasionId },
      facets(meeting),
    ),
  )

/** A mail to one person, sent once. */
export const notice = (
  meeting: MeetingHead,
  payload: Omit<Parameters<typeof schedulingActions.sendNotice.request>[0], 'meetingId'>,
): ActionRequest =>
  schedulingActions.sendNotice.request({ meetingId: meeting.id, ...payload }, facets(meeting, MAIL_ACCOUNT))

/**
 * The row that ends a meeting which nobody has approved by its deadline. `round` names the round from which an approved
 * meeting waits again, for its first row ended with the approval.
 */
export const deadlineOf = (meeting: MeetingHead, bookBy: string, round?: number): ActionRequest =>
  schedulingActions.reachDeadline.request(
    { meetingId: meeting.id, ...(round !== undefined && { round }) },
    { ...facets(meeting), notBefore: new Date(bookBy) },
  )

/** Tells the client that a meeting waits for an answer: one message per open exception. */
export const askForAbsent = (
  meeting: IncompleteMeeting,
  exceptionIds: readonly ExceptionId[],
  endpointIds: readonly EndpointId[],
): readonly ActionRequest[] =>
  exceptionIds.flatMap((id) => tellClient(meeting, endpointIds, 'exception.opened', id))

/** The states in which a meeting has not been approved, and so may lapse. */
const unapproved: ReadonlySet<MeetingStateType> = new Set<MeetingStateType>([
  'incomplete',
  'gathering',
  'choosing',
  'awaiting_approval',
  'no_overlap',
  // An approved meeting has no deadline row any more, so what lapses from here was never approved.
  'in_repair',
])

/**
 * The deadline has come. A meeting whose change was not approved in time stays booked as it was. Undefined: it was
 * approved or ended before.
 */
export const lapse = <M extends Meeting | IncompleteMeeting>(
  meeting: M,
  endpointIds: readonly EndpointId[],
  newId: NewId,
): { readonly meeting: M; readonly actions: readonly ActionRequest[] } | undefined => {
  if (!unapproved.has(meeting.state.type)) return undefined
  const { standingProposalId: proposalId } = meeting
  if (proposalId === undefined) {
    const next = moved(meeting, { type: 'lapsed' })
    return { meeting: next, actions: tellClient(next, endpointIds, 'meeting.lapsed', meeting.id) }
  }
  const next = withoutChange(meeting, proposalId)
  // One booking may be sought to be changed more than once.
  return { meeting: next, actions: tellClient(next, endpointIds, 'meeting.reschedule_lapsed', newId()) }
}

/** The booking as it stands. Its change was not approved, and so neither were the change's people nor its window. */
export const withoutChange = <M extends Meeting | IncompleteMeeting>(
  meeting: M,
  proposalId: ProposalId,
): M => ({
  ...moved(meeting, { type: 'confirmed', proposalId }),
  ...('intent' in meeting && meeting.standingIntent && { intent: meeting.standingIntent }),
})

/** Who has to be heard in a round, and of whom everything is known already. */
export interface Gathering {
  readonly participants: readonly Participant[]
  /** Whose evidence of this round is in; see known.ts. */
  readonly knownOf: ReadonlySet<ParticipantId>
  /** When each person was written to in the asking that goes on; see known.ts. */
  readonly sentTo: (person: Participant) => readonly Date[]
  readonly now: Date
}

/** Whether somebody has been asked about this window: then the asking goes on from round to round, and is not begun anew. */
export const isBeingAsked = (
  { statedSinceRound }: Pick<MeetingHead, 'statedSinceRound'>,
  { askedRound }: Pick<Participant, 'askedRound'>,
): boolean => askedRound !== undefined && askedRound >= statedSinceRound

/** Reads everybody's calendar for the meeting's current round, and asks those who have none and have not told yet. */
export const gather = (
  meeting: Meeting,
  gathering: Gathering,
): Change & { readonly asked: readonly ParticipantId[] } => {
  const { participants, knownOf, sentTo, now } = gathering
  const unknown = participants.filter(({ id }) => !knownOf.has(id))
  const asked = unknown.filter(({ connectionId }) => connectionId === undefined)
  const reads = unknown.flatMap(({ id, connectionId }) =>
    connectionId === undefined
      ? []
      : [
          schedulingActions.readAvailability.request(
            { meetingId: meeting.id, participantId: id, round: meeting.round },
            facets(meeting, connectionId),
          ),
        ],
  )
  const asks = asked.flatMap((person) => askAgain(meeting, person, sentTo(person), now))
  const arrived = evidenceArrived(moved(meeting, { type: 'gathering' }), participants, knownOf)
  return {
    meeting: arrived.meeting,
    actions: [...reads, ...asks, ...arrived.actions],
    asked: asked.filter((person) => !isBeingAsked(meeting, person)).map(({ id }) => id),
  }
}

/** Optional people are asked once: nobody's meeting waits for reminders to them. */
const messagesMaxOf = (meeting: Meeting, person: Participant): number =>
  person.role === 'optional' ? 1 : (meeting.intent.outreach?.messagesMax ?? 0)

/**
 * The next message to a person, at a humane hour; after the last one, the row that ends the asking when the last message
 * had its time. Without authority to ask there is none.
 */
export const askAgain = (
  meeting: Meeting,
  person: Participant,
  sent: readonly Date[],
  now: Date,
): readonly ActionRequest[] => {
  const at = contactDueAt(meeting, person, sent, now)
  if (!at) return []
  return [
    schedulingActions.askParticipant.request(
      {
        meetingId: meeting.id,
        participantId: person.id,
        participantRevision: person.revision,
        round: meeting.round,
        number: sent.length + 1,
      },
      { ...facets(meeting, MAIL_ACCOUNT), participantRevision: person.revision, notBefore: at },
    ),
  ]
}

/** When the next message may go out, or the last one has had its time. Undefined without authority, and past the deadline. */
export const contactDueAt = (
  meeting: Meeting,
  person: Participant,
  sent: readonly Date[],
  now: Date,
): Date | undefined => {
  const { outreach, timeZone, bookBy } = meeting.intent
  if (!outreach) return undefined
  const policy = {
    ...outreach,
    // One more than are sent: the last row finds that enough was sent, and says that nobody answered.
    messagesMax: messagesMaxOf(meeting, person) + 1,
    stopAt: new Date(bookBy),
  }
  const next = nextContactAt(policy, sent, person.timeZone ?? timeZone, now)
  return next.type === 'at' ? next.at : undefined
}

/** Whether this message is one too many: the person has had all that the authority allows, and did not answer. */
export const askedEnough = (meeting: Meeting, person: Participant, number: number): boolean =>
  number > messagesMaxOf(meeting, person)

/** A piece of evidence has arrived. When it was the last one of the round, a time is looked for. */
export const evidenceArrived = (
  meeting: Meeting,
  participants: readonly Participant[],
  knownOf: ReadonlySet<ParticipantId>,
): Change => {
  const complete = participants.every(({ id }) => knownOf.has(id))
  if (meeting.state.type !== 'gathering' || !complete) return { meeting, actions: [] }
  const find = schedulingActions.findTime.request(
    { meetingId: meeting.id, round: meeting.round },
    facets(meeting),
  )
  return { meeting: moved(meeting, { type: 'choosing' }), actions: [find] }
}

/** The meeting in its next round: everybody's time is to be gathered anew. */
export const nextRound = (meeting: Meeting): Meeting => ({ ...meeting, round: meeting.round + 1 })

/** The code of evidence that was good once. Unlike the others it says nothing about the calendar. */
export const EVIDENCE_EXPIRED = 'expired'

/** What a search came to, and from what. */
export interface Searched {
  readonly result: FindTimesResult
  readonly evidenceIds: readonly EvidenceId[]
  /** Required people whose time is not known, and why. */
  readonly unknownRequired: readonly { readonly participantId: string; readonly code: string }[]
}

export type TimeChosen =
  | (Change & { readonly type: 'proposed'; readonly proposal: Proposal })
  | (Change & { readonly type: 'no_overlap' })
  /** Nothing is wrong but that it took too long: everybody's time is to be read anew. */
  | { readonly type: 'outdated' }
  | (Change & { readonly type: 'repair'; readonly repair: Repair })

/** The search has ended. Automatic approval is its caller's next step, by the same rule as a person's. */
export const timesFound = (
  meeting: Meeting,
  { result, evidenceIds, unknownRequired }: Searched,
  endpointIds: readonly EndpointId[],
  newId: NewId,
): TimeChosen => {
  switch (result.type) {
    case 'found': {
      const [best, ...alternatives] = result.slots
      if (!best) throw new Error('a search that found a time named none')
      return proposed(
        meeting,
        {
          id: ProposalId.parse(newId()),
          meetingRevision: meeting.revision,
          round: meeting.round,
          start: best.start,
          end: best.end,
          evidenceIds,
          grounds: proposalGroundsOf(best, alternatives),
        },
        endpointIds,
      )
    }
    case 'no_overlap': {
      const next = moved(meeting, { type: 'no_overlap', because: noOverlapOf(result) })
      // An occasion of its own: a meeting that is looked for again may fail to be found again.
      const actions = tellClient(next, endpointIds, 'meeting.no_overlap', newId())
      return { type: 'no_overlap', meeting: next, actions }
    }
    case 'unknown_required': {
      // Beside a calendar that does not tell, evidence that merely grew old is nobody's to repair.
      const reasons = unknownRequired.filter(({ code }) => code !== EVIDENCE_EXPIRED)
      if (reasons.length === 0) return { type: 'outdated' }
      return { type: 'repair', ...openRepair(meeting, endpointIds, unknownFault(reasons), newId) }
    }
  }
}

const unknownFault = (reasons: Searched['unknownRequired']): Fault => ({
  code: 'availability_unknown',
  // Who owns a calendar can grant it anew, but cannot bring back a key.
  owner: reasons.every(({ code }) => code === 'credential_unreadable') ? 'operations' : 'calendar_owner',
  facts: { participantIds: reasons.map(({ participantId }) => participantId), reasons },
})

const proposed = (
  meeting: Meeting,
  proposal: Proposal,
  endpointIds: readonly EndpointId[],
): Extract<TimeChosen, { type: 'proposed' }> => {
  const next = moved(meeting, { type: 'awaiting_approval', proposalId: proposal.id })
  const ask =
    meeting.intent.approval.type === 'automatic'
      ? []
      : [
          ...tellClient(next, endpointIds, 'proposal.awaiting_approval', proposal.id),
          notice(next, { kind: 'approval_request', occasionId: proposal.id }),
        ]
  return { type: 'proposed', meeting: next, actions: ask, proposal }
}

/** What went wrong for good, and who can put it right. */
export interface Fault {
  readonly code: string
  readonly owner: string
  readonly facts: Repair['facts']
  /** The approved proposal that it is about. */
  readonly proposalId?: ProposalId
}

/** Something ended for good that the meeting cannot do without. A person must look. */
export const openRepair = (
  meeting: Meeting,
  endpointIds: readonly EndpointId[],
  { code, owner, facts, proposalId }: Fault,
  newId: NewId,
): Change & { readonly repair: Repair } => {
  const repair: Repair = { id: RepairId.parse(newId()), code, owner, facts }
  const next = moved(meeting, {
    type: 'in_repair',
    repairId: repair.id,
    code,
    ...(proposalId !== undefined && { proposalId }),
  })
  return { meeting: next, actions: tellClient(next, endpointIds, 'repair.opened', repair.id), repair }
}

/** The proposals for which the meeting keeps people's time; every other hold is released. */
export const heldProposalsOf = ({ state, standingProposalId }: MeetingHead): readonly ProposalId[] => {
  const standing = standingProposalId === undefined ? [] : [standingProposalId]
  switch (state.type) {
    case 'booking':
    case 'write_uncertain':
    case 'verifying':
    case 'confirmed':
    case 'clearing':
    case 'cancelling':
      return [...standing, state.proposalId]
    case 'in_repair':
      return state.proposalId === undefined ? standing : [...standing, state.proposalId]
    case 'incomplete':
    case 'gathering':
    case 'choosing':
    case 'awaiting_approval':
    case 'no_overlap':
      return standing
    case 'lapsed':
    case 'cancelled':
      return []
  }
}
