/**
 * A meeting's states and every decision about it. Pure: state, input and time in; state, records and actions out.
 */
import type { ActionRequest } from '@aftercommit/outbox'
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
import { sameAddress, type IntentDraft, type MeetingIntent, type WorkingHours } from './intent.ts'
import type { FindTimesResult, Slot } from './overlap.ts'

/** Where a meeting stands. Stored as JSON beside its discriminant, and parsed by this schema on the way out. */
export const MeetingState = z.discriminatedUnion('type', [
  /** Something it cannot do without was not told; see absence.ts. It has exceptions, and no participants yet. */
  z.object({ type: z.literal('incomplete') }),
  /** Free/busy reads of this round are under way. */
  z.object({ type: z.literal('gathering') }),
  /** All evidence is in; a time is being looked for. */
  z.object({ type: z.literal('choosing') }),
  z.object({ type: z.literal('awaiting_approval'), proposalId: ProposalId }),
  /** Approved. The write is queued, under way, or about to be made again. */
  z.object({ type: z.literal('booking'), proposalId: ProposalId }),
  /** The write's answer was lost: the provider is being asked, and nothing is written meanwhile. */
  z.object({ type: z.literal('write_uncertain'), proposalId: ProposalId }),
  /** The provider holds the event; it is being read back. Not confirmed yet. */
  z.object({ type: z.literal('verifying'), proposalId: ProposalId }),
  z.object({ type: z.literal('confirmed'), proposalId: ProposalId }),
  z.object({ type: z.literal('no_overlap') }),
  /** The booking deadline came before an approval. */
  z.object({ type: z.literal('lapsed') }),
  z.object({ type: z.literal('in_repair'), repairId: RepairId, code: z.string() }),
])
export type MeetingState = z.output<typeof MeetingState>
export type MeetingStateType = MeetingState['type']

interface MeetingHead {
  readonly id: MeetingId
  readonly revision: number
  readonly round: number
  readonly state: MeetingState
  readonly traceParent: string | undefined
}

/** A meeting whose intent is complete: the only kind on which work is done. */
export interface Meeting extends MeetingHead {
  readonly intent: MeetingIntent
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
  readonly timeZone: string | undefined
  readonly workingHours: WorkingHours | undefined
}

export interface Proposal {
  readonly id: ProposalId
  readonly meetingRevision: number
  readonly round: number
  readonly start: Date
  readonly end: Date
  readonly evidenceIds: readonly EvidenceId[]
  readonly optional: Pick<Slot, 'optionalAttending' | 'optionalMissing'>
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

const moved = <M extends MeetingHead>(meeting: M, state: MeetingState): M => ({ ...meeting, state })

const facets = (meeting: MeetingHead, account?: string) => ({
  aggregateRevision: meeting.revision,
  ...(account !== undefined && { account }),
  ...(meeting.traceParent !== undefined && { traceParent: meeting.traceParent }),
})

/** One notification per endpoint the client has named. */
const tellClient = (
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

/** The deadline has come. Undefined: the meeting was approved or ended before it. */
export const lapse = <M extends MeetingHead>(
  meeting: M,
  endpointIds: readonly EndpointId[],
): { readonly meeting: M; readonly actions: readonly ActionRequest[] } | undefined => {
  if (!unapproved.has(meeting.state.type)) return undefined
  const next = moved(meeting, { type: 'lapsed' })
  return { meeting: next, actions: tellClient(next, endpointIds, 'meeting.lapsed', meeting.id) }
}

/** Asks for everybody's free/busy of the meeting's current round. */
export const gather = (meeting: Meeting, participants: readonly Participant[]): Change => ({
  meeting: moved(meeting, { type: 'gathering' }),
  actions: participants.flatMap((participant) =>
    participant.connectionId === undefined
      ? []
      : [
          schedulingActions.readAvailability.request(
            { meetingId: meeting.id, participantId: participant.id, round: meeting.round },
            facets(meeting, participant.connectionId),
          ),
        ],
  ),
})

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
  /** Nothing is wrong but that it took too long: everybody's time is read anew. */
  | (Change & { readonly type: 'outdated' })
  | (Change & { readonly type: 'repair'; readonly repair: Repair })

/** The search has ended. Automatic approval is its caller's next step, by the same rule as a person's. */
export const timesFound = (
  meeting: Meeting,
  { result, evidenceIds, unknownRequired }: Searched,
  participants: readonly Participant[],
  endpointIds: readonly EndpointId[],
  newId: NewId,
): TimeChosen => {
  switch (result.type) {
    case 'found': {
      const [best] = result.slots
      if (!best) throw new Error('a search that found a time named none')
      const proposal: Proposal = {
        id: ProposalId.parse(newId()),
        meetingRevision: meeting.revision,
        round: meeting.round,
        start: best.start,
        end: best.end,
        evidenceIds,
        optional: { optionalAttending: best.optionalAttending, optionalMissing: best.optionalMissing },
      }
      const next = moved(meeting, { type: 'awaiting_approval', proposalId: proposal.id })
      const tell = meeting.intent.approval.type === 'named_approver'
      const actions = tell ? tellClient(next, endpointIds, 'proposal.awaiting_approval', proposal.id) : []
      return { type: 'proposed', meeting: next, actions, proposal }
    }
    case 'no_overlap': {
      const next = moved(meeting, { type: 'no_overlap' })
      return {
        type: 'no_overlap',
        meeting: next,
        actions: tellClient(next, endpointIds, 'meeting.no_overlap', meeting.id),
      }
    }
    case 'unknown_required': {
      // Beside a calendar that does not tell, evidence that merely grew old is nobody's to repair.
      const reasons = unknownRequired.filter(({ code }) => code !== EVIDENCE_EXPIRED)
      if (reasons.length === 0) return { type: 'outdated', ...gatherAgain(meeting, participants) }
      const facts = { participantIds: reasons.map(({ participantId }) => participantId), reasons }
      // Who owns a calendar can grant it anew, but cannot bring back a key.
      const keysOnly = reasons.every(({ code }) => code === 'credential_unreadable')
      const owner = keysOnly ? 'operations' : 'calendar_owner'
      const repair = newRepair(newId, 'availability_unknown', owner, facts)
      return { type: 'repair', ...opened(meeting, repair, endpointIds) }
    }
  }
}

const newRepair = (newId: NewId, code: string, owner: string, facts: Repair['facts']): Repair => ({
  id: RepairId.parse(newId()),
  code,
  owner,
  facts,
})

const opened = (
  meeting: Meeting,
  repair: Repair,
  endpointIds: readonly EndpointId[],
): Change & { readonly repair: Repair } => {
  const next = moved(meeting, { type: 'in_repair', repairId: repair.id, code: repair.code })
  return { meeting: next, actions: tellClient(next, endpointIds, 'repair.opened', repair.id), repair }
}

/** Something ended for good that the meeting cannot do without. A person must look. */
export const openRepair = (
  meeting: Meeting,
  endpointIds: readonly EndpointId[],
  fault: { readonly code: string; readonly owner: string; readonly facts: Repair['facts'] },
  newId: NewId,
): Change & { readonly repair: Repair } =>
  opened(meeting, newRepair(newId, fault.code, fault.owner, fault.facts), endpointIds)

export type Approver = { readonly type: 'automatic' } | { readonly type: 'person'; readonly address: string }

export type Approval =
  | (Change & { readonly type: 'approved'; readonly authority: 'automatic' | 'named_approver' })
  | { readonly type: 'not_awaiting'; readonly state: MeetingStateType }
  /** The proposal that was approved is not the one that stands. */
  | { readonly type: 'outdated'; readonly currentProposalId: ProposalId }
  | { readonly type: 'not_authorised' }
  | { readonly type: 'too_late' }

/**
 * Binds one proposal of the current revision and enqueues exactly one write. Of two approvals the second finds the
 * meeting no longer waiting.
 */
export const approve = (meeting: Meeting, proposal: Proposal, by: Approver, now: Date): Approval => {
  if (meeting.state.type !== 'awaiting_approval') {
    return { type: 'not_awaiting', state: meeting.state.type }
  }
  const { proposalId } = meeting.state
  if (proposalId !== proposal.id || proposal.meetingRevision !== meeting.revision) {
    return { type: 'outdated', currentProposalId: proposalId }
  }
  const authority = authorityOf(meeting.intent, by)
  if (!authority) return { type: 'not_authorised' }
  if (now.getTime() > Date.parse(meeting.intent.bookBy) || proposal.start <= now) return { type: 'too_late' }
  const write = schedulingActions.writeEvent.request(
    { meetingId: meeting.id, proposalId },
    facets(meeting, meeting.intent.organizer.calendarConnectionId),
  )
  return {
    type: 'approved',
    authority,
    meeting: moved(meeting, { type: 'booking', proposalId }),
    actions: [write],
  }
}

const authorityOf = (intent: MeetingIntent, by: Approver): 'automatic' | 'named_approver' | undefined => {
  const { approval } = intent
  if (approval.type === 'automatic') return by.type === 'automatic' ? 'automatic' : undefined
  return by.type === 'person' && sameAddress(by.address, approval.address) ? 'named_approver' : undefined
}

/** The states in which a write of this proposal may still be made or accounted for. */
export const expectsWriteOf = (meeting: Meeting, proposalId: ProposalId): boolean =>
  (meeting.state.type === 'booking' || meeting.state.type === 'write_uncertain') &&
  meeting.state.proposalId === proposalId

/** The event is at the provider. It counts for nothing until it has been read back. */
export const eventWritten = (meeting: Meeting, proposalId: ProposalId): Change => ({
  meeting: moved(meeting, { type: 'verifying', proposalId }),
  actions: [
    schedulingActions.readBackEvent.request(
      { meetingId: meeting.id, proposalId },
      facets(meeting, meeting.intent.organizer.calendarConnectionId),
    ),
  ],
})

/** The write's answer was lost. */
export const writeUncertain = (meeting: Meeting, proposalId: ProposalId): Change => ({
  meeting: moved(meeting, { type: 'write_uncertain', proposalId }),
  actions: [],
})

/** The effect was proved absent: the write is going to be made again. */
export const writePending = (meeting: Meeting, proposalId: ProposalId): Change => ({
  meeting: moved(meeting, { type: 'booking', proposalId }),
  actions: [],
})

const gatherAgain = (meeting: Meeting, participants: readonly Participant[]): Change =>
  gather({ ...meeting, round: meeting.round + 1 }, participants)

/** Somebody's time was taken between proposal and write: everybody's is read anew, and the deadline counts again. */
export const slotTaken = (meeting: Meeting, participants: readonly Participant[]): Change => {
  const again = gatherAgain(meeting, participants)
  const deadline = deadlineOf(again.meeting, meeting.intent.bookBy, again.meeting.round)
  return { meeting: again.meeting, actions: [...again.actions, deadline] }
}

/** What was read back agrees with what was approved in every point. */
export const completionVerified = (
  meeting: Meeting,
  proposalId: ProposalId,
  endpointIds: readonly EndpointId[],
): Change => {
  const next = moved(meeting, { type: 'confirmed', proposalId })
  return { meeting: next, actions: tellClient(next, endpointIds, 'meeting.confirmed', proposalId) }
}
