/**
 * A meeting: the states it can be in, and what every decision about it is made of. Pure, as are they: state, input and
 * time in, state and actions out. A round is decided in round.ts, what a search comes to in proposal.ts, what follows an
 * approval in booking.ts, and what ends or changes a meeting in ending.ts.
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
import { NoOverlap } from './no-overlap.ts'
import type { ProposalGrounds } from './slot.ts'

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
export const MAIL_ACCOUNT = 'mail'

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
