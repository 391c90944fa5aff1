/** How a meeting is cancelled, changed after booking, and cleared away before it is booked anew. Pure. */
import type { ActionRequest } from '@aftercommit/outbox'
import { schedulingActions } from './actions.ts'
import { organizerFacets } from './booking.ts'
import type { EndpointId, NewId, ParticipantId, ProposalId } from './ids.ts'
import type { MeetingIntent } from './intent.ts'
import {
  deadlineOf,
  moved,
  notice,
  tellClient,
  withoutChange,
  type Change,
  type IncompleteMeeting,
  type Meeting,
  type MeetingState,
  type MeetingStateType,
} from './meeting.ts'
import { nextRound } from './round.ts'

/** The proposal of a meeting whose event may stand at the provider. */
export const bookedProposalOf = ({ state, standingProposalId }: Meeting): ProposalId | undefined => {
  switch (state.type) {
    case 'booking':
    case 'write_uncertain':
    case 'verifying':
    case 'confirmed':
    case 'clearing':
    case 'cancelling':
      return state.proposalId
    case 'in_repair':
      return state.proposalId ?? standingProposalId
    case 'incomplete':
    case 'gathering':
    case 'choosing':
    case 'awaiting_approval':
    case 'no_overlap':
    case 'lapsed':
    case 'cancelled':
      return standingProposalId
  }
}

/** Everything of a meeting that is still to be done before it is booked, by name. */
export const actionsBeforeBooking = [
  schedulingActions.readAvailability.name,
  schedulingActions.findTime.name,
  schedulingActions.askParticipant.name,
  schedulingActions.reachDeadline.name,
]
/** What may leave something at the provider. */
export const actionsThatWrite = [schedulingActions.writeEvent.name, schedulingActions.changeEvent.name]
/** The same for after it. */
export const actionsAfterBooking = [schedulingActions.readBackEvent.name, schedulingActions.watchEvent.name]

export interface Cancelling {
  /** Whether a write may be under way or have had its effect; see `supersede`. */
  readonly writeInFlight: boolean
  /** Whether an event is known to stand at the provider. */
  readonly eventKnown: boolean
  /** Who was asked for their time and has no event to tell them. */
  readonly contacted: readonly ParticipantId[]
  readonly now: Date
}

export type Cancelled =
  | (Change & { readonly type: 'cancelled' | 'cancelling' })
  | { readonly type: 'ended'; readonly state: MeetingStateType }

/** What a write without an answer may take to come to light at the provider. */
export const LATE_EFFECT_MS = 2 * 60_000

/**
 * Ends a meeting on a person's word. What may stand at the provider is cancelled first, behind whatever may still be
 * under way; only then is the meeting cancelled.
 */
export const cancel = (
  meeting: Meeting,
  { writeInFlight, eventKnown, contacted, now }: Cancelling,
  endpointIds: readonly EndpointId[],
  newId: NewId,
): Cancelled => {
  const { type } = meeting.state
  if (type === 'cancelled' || type === 'cancelling' || type === 'lapsed')
    return { type: 'ended', state: type }
  const proposalId = bookedProposalOf(meeting)
  if (proposalId === undefined || (!writeInFlight && !eventKnown && type === 'booking')) {
    return { type: 'cancelled', ...cancelledNow(meeting, endpointIds, contacted, newId) }
  }
  return {
    type: 'cancelling',
    meeting: moved(meeting, { type: 'cancelling', proposalId }),
    actions: [cancelEventOf(meeting, proposalId, newId, { eventKnown, now })],
  }
}

/** Takes away what stands under a proposal. Where nothing is known to stand, absence is believed only after a while. */
export const cancelEventOf = (
  meeting: Meeting,
  proposalId: ProposalId,
  newId: NewId,
  {
    eventKnown,
    now,
    keepOne = false,
  }: { readonly eventKnown: boolean; readonly now: Date; readonly keepOne?: boolean },
): ActionRequest =>
  schedulingActions.cancelEvent.request(
    {
      meetingId: meeting.id,
      proposalId,
      occasionId: newId(),
      keepOne,
      ...(!eventKnown && { sureAt: new Date(now.getTime() + LATE_EFFECT_MS).toISOString() }),
    },
    organizerFacets(meeting),
  )

/** Nothing stands at the provider: the meeting is over, and whoever was only asked is told so. */
export const cancelledNow = (
  meeting: Meeting,
  endpointIds: readonly EndpointId[],
  contacted: readonly ParticipantId[],
  newId: NewId,
): Change => {
  const next: Meeting = { ...moved(meeting, { type: 'cancelled' }), standingProposalId: undefined }
  const occasionId = newId()
  return {
    meeting: next,
    actions: [
      ...tellClient(next, endpointIds, 'meeting.cancelled', meeting.id),
      ...contacted.map((participantId) => notice(next, { kind: 'withdrawn', participantId, occasionId })),
    ],
  }
}

/** An incomplete meeting has asked nobody and written nothing. */
export const cancelIncomplete = (
  meeting: IncompleteMeeting,
  endpointIds: readonly EndpointId[],
): { readonly meeting: IncompleteMeeting; readonly actions: readonly ActionRequest[] } => {
  const next = moved(meeting, { type: 'cancelled' })
  return { meeting: next, actions: tellClient(next, endpointIds, 'meeting.cancelled', meeting.id) }
}

/**
 * The proposal whose event stands while nothing of the meeting is being written: that of a confirmed meeting, and of one
 * whose change is sought, was not found, or needs a person's help before it is.
 */
export const settledProposalOf = ({ state, standingProposalId }: Meeting): ProposalId | undefined => {
  switch (state.type) {
    case 'confirmed':
      return state.proposalId
    case 'gathering':
    case 'choosing':
    case 'awaiting_approval':
    case 'no_overlap':
      return standingProposalId
    case 'in_repair':
      // One that is about a proposal is about its event, which may not be what was approved.
      return state.proposalId === undefined ? standingProposalId : undefined
    case 'incomplete':
    case 'booking':
    case 'write_uncertain':
    case 'verifying':
    case 'clearing':
    case 'lapsed':
    case 'cancelling':
    case 'cancelled':
      return undefined
  }
}

/** Why a meeting's event cannot be moved now. */
export interface Unmovable {
  readonly type: 'not_booked' | 'being_written' | 'needs_repair' | 'ended'
  readonly state: MeetingState
}

export const unmovable = (state: MeetingState): Unmovable => {
  switch (state.type) {
    case 'booking':
    case 'write_uncertain':
    case 'verifying':
    case 'clearing':
      return { type: 'being_written', state }
    case 'in_repair':
      return { type: state.proposalId === undefined ? 'not_booked' : 'needs_repair', state }
    case 'cancelling':
    case 'cancelled':
    case 'lapsed':
      return { type: 'ended', state }
    case 'incomplete':
    case 'gathering':
    case 'choosing':
    case 'awaiting_approval':
    case 'no_overlap':
    case 'confirmed':
      return { type: 'not_booked', state }
  }
}

export type Rescheduled =
  { readonly type: 'rescheduling'; readonly meeting: Meeting; readonly deadline: ActionRequest } | Unmovable

/**
 * Seeks another time for a booked meeting, as a new revision; a change that is being sought already is replaced. The event
 * stays as it is until the new time is approved; what people stated about the old window no longer counts. Its caller
 * gathers.
 */
export const reschedule = (
  meeting: Meeting,
  change: Pick<MeetingIntent, 'window' | 'bookBy'> & { readonly durationMinutes?: number | undefined },
): Rescheduled => {
  if (settledProposalOf(meeting) === undefined) return unmovable(meeting.state)
  // What a replaced change asked for is not what stands.
  const { durationMinutes: standing } = meeting.standingIntent ?? meeting.intent
  const { window, bookBy, durationMinutes = standing } = change
  const next: Meeting = {
    ...nextRound(meeting),
    revision: meeting.revision + 1,
    statedSinceRound: meeting.round + 1,
    intent: { ...meeting.intent, window, bookBy, durationMinutes },
  }
  return { type: 'rescheduling', meeting: next, deadline: deadlineOf(next, bookBy, next.round) }
}

export type Withdrawn =
  | { readonly type: 'withdrawn'; readonly meeting: Meeting }
  /** The meeting stands, and no other time is sought for it. */
  | { readonly type: 'no_change' }
  | Unmovable

/** Gives up the change that is sought: the meeting is again what it was confirmed to be, as a new revision. */
export const withdraw = (meeting: Meeting): Withdrawn => {
  if (meeting.state.type === 'confirmed') return { type: 'no_change' }
  const proposalId = settledProposalOf(meeting)
  if (proposalId === undefined) return unmovable(meeting.state)
  return {
    type: 'withdrawn',
    meeting: { ...withoutChange(meeting, proposalId), revision: meeting.revision + 1 },
  }
}
