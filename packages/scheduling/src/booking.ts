/** From an approval to a proved event. Pure. */
import type { ActionRequest } from '@aftercommit/outbox'
import { looks, schedulingActions, type Look } from './actions.ts'
import type { EndpointId, ProposalId } from './ids.ts'
import { sameAddress, type MeetingIntent } from './intent.ts'
import {
  deadlineOf,
  facets,
  moved,
  tellClient,
  type Change,
  type Meeting,
  type MeetingStateType,
  type Proposal,
} from './meeting.ts'
import { nextRound } from './round.ts'

export type Approver = { readonly type: 'automatic' } | { readonly type: 'person'; readonly address: string }
export type AuthorityType = MeetingIntent['approval']['type']

/** Whoever asked may not, and who may: in their parts, for who they are is not everybody's to know. */
export interface NotAuthorised {
  readonly type: 'not_authorised'
  readonly may: readonly ('organizer' | 'named_approver')[]
}

export type Approval =
  | (Change & { readonly type: 'approved'; readonly authority: AuthorityType })
  | { readonly type: 'not_awaiting'; readonly state: MeetingStateType }
  /** The proposal that was approved is not the one that stands. */
  | { readonly type: 'outdated'; readonly currentProposalId: ProposalId }
  | NotAuthorised
  | { readonly type: 'too_late' }
  /** The proposed time has begun. */
  | { readonly type: 'slot_passed' }

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
  const authority = approvalAuthorityOf(meeting.intent, by)
  if (!authority) {
    const { type } = meeting.intent.approval
    return { type: 'not_authorised', may: type === 'automatic' ? [] : [type] }
  }
  if (now.getTime() > Date.parse(meeting.intent.bookBy)) return { type: 'too_late' }
  if (proposal.start <= now) return { type: 'slot_passed' }
  return {
    type: 'approved',
    authority,
    meeting: moved(meeting, { type: 'booking', proposalId }),
    actions: [writeOf(meeting, proposalId)],
  }
}

/** A meeting that stands is changed where it stands; any other is written anew. */
const writeOf = (meeting: Meeting, proposalId: ProposalId): ActionRequest => {
  const action =
    meeting.standingProposalId === undefined ? schedulingActions.writeEvent : schedulingActions.changeEvent
  return action.request({ meetingId: meeting.id, proposalId }, organizerFacets(meeting))
}

export const organizerFacets = (meeting: Meeting) =>
  facets(meeting, meeting.intent.organizer.calendarConnectionId)

const approvalAuthorityOf = (
  { approval, organizer }: MeetingIntent,
  by: Approver,
): AuthorityType | undefined => {
  switch (approval.type) {
    case 'automatic':
      return by.type === 'automatic' ? 'automatic' : undefined
    case 'organizer':
      return by.type === 'person' && sameAddress(by.address, organizer.address) ? 'organizer' : undefined
    case 'named_approver':
      return by.type === 'person' && sameAddress(by.address, approval.address) ? 'named_approver' : undefined
  }
}

/** By what right a person changes, cancels or repairs a meeting: as its organizer, or as the approver it names. */
export const authorityOver = (
  { approval, organizer }: Pick<MeetingIntent, 'approval' | 'organizer'>,
  address: string,
): 'organizer' | 'named_approver' | undefined => {
  if (sameAddress(address, organizer.address)) return 'organizer'
  return approval.type === 'named_approver' && sameAddress(address, approval.address)
    ? 'named_approver'
    : undefined
}

export const notAuthorisedOver = ({ approval }: Pick<MeetingIntent, 'approval'>): NotAuthorised => ({
  type: 'not_authorised',
  may: approval.type === 'named_approver' ? ['organizer', 'named_approver'] : ['organizer'],
})

/** The states in which a write of this proposal may still be made or accounted for. */
export const expectsWriteOf = (meeting: Meeting, proposalId: ProposalId): boolean =>
  (meeting.state.type === 'booking' || meeting.state.type === 'write_uncertain') &&
  meeting.state.proposalId === proposalId

/** The event is at the provider. It counts for nothing until it has been read back. */
export const eventWritten = (meeting: Meeting, proposalId: ProposalId, occasionId?: string): Change => ({
  meeting: moved(meeting, { type: 'verifying', proposalId }),
  actions: [
    schedulingActions.readBackEvent.request(
      { meetingId: meeting.id, proposalId, ...(occasionId !== undefined && { occasionId }) },
      organizerFacets(meeting),
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

/** How long after a write was given up its effect is looked for once more: far longer than any grace. */
const SWEEP_AFTER_MS = 15 * 60_000

/** A later look for what an abandoned write may still bring to light. */
export const sweepOf = (meeting: Meeting, proposalId: ProposalId, now: Date): ActionRequest =>
  schedulingActions.sweepEvent.request(
    { meetingId: meeting.id, proposalId },
    { ...organizerFacets(meeting), notBefore: new Date(now.getTime() + SWEEP_AFTER_MS) },
  )

/**
 * Somebody's time was taken between proposal and write. The next round is to be gathered, and the deadline counts again.
 * What an unanswered attempt may have left behind is looked for later.
 */
export const slotTaken = (
  meeting: Meeting,
  proposalId: ProposalId,
  { triedBefore, now }: { readonly triedBefore: boolean; readonly now: Date },
): Change => {
  const next = nextRound(meeting)
  const deadline = deadlineOf(next, meeting.intent.bookBy, next.round)
  const sweep =
    triedBefore && meeting.standingProposalId === undefined ? [sweepOf(meeting, proposalId, now)] : []
  return { meeting: next, actions: [deadline, ...sweep] }
}

/** When each look at a booked event is due, by the meeting's start and the time of its proof. */
const lookAt: Record<Look, (start: number, verified: number) => number> = {
  after_booking: (_, verified) => verified + 15 * 60_000,
  day_before: (start) => start - 24 * 60 * 60_000,
  hour_before: (start) => start - 60 * 60_000,
}

export interface VerifiedOn {
  /** The look that a person asked for; undefined for the first one. */
  readonly occasionId: string | undefined
  readonly endpointIds: readonly EndpointId[]
  readonly now: Date
}

/** What was read back agrees with what was approved in every point. */
export const completionVerified = (
  meeting: Meeting,
  proposal: Pick<Proposal, 'id' | 'start'>,
  { occasionId, endpointIds, now }: VerifiedOn,
): Change => {
  const changed = meeting.standingProposalId !== undefined && meeting.standingProposalId !== proposal.id
  const next: Meeting = {
    ...moved(meeting, { type: 'confirmed', proposalId: proposal.id }),
    standingProposalId: proposal.id,
    standingIntent: meeting.intent,
  }
  const event = changed ? 'meeting.rescheduled' : 'meeting.confirmed'
  return {
    meeting: next,
    actions: [
      ...tellClient(next, endpointIds, event, occasionId ?? proposal.id),
      ...watchesOf(next, proposal, occasionId, now),
    ],
  }
}

/** The looks at a booked event that are still to come. */
export const watchesOf = (
  meeting: Meeting,
  { id: proposalId, start }: Pick<Proposal, 'id' | 'start'>,
  occasionId: string | undefined,
  now: Date,
): readonly ActionRequest[] =>
  looks.flatMap((look) => {
    const at = lookAt[look](start.getTime(), now.getTime())
    if (at <= now.getTime() || at >= start.getTime()) return []
    return [
      schedulingActions.watchEvent.request(
        { meetingId: meeting.id, proposalId, look, ...(occasionId !== undefined && { occasionId }) },
        { ...organizerFacets(meeting), notBefore: new Date(at) },
      ),
    ]
  })
