/** Cancelling a meeting: an action of its own, by its own authority. */
import { randomUUID } from 'node:crypto'
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { authorityOver } from './booking.ts'
import {
  actionsAfterBooking,
  actionsBeforeBooking,
  bookedProposalOf,
  cancel,
  cancelIncomplete,
  type Cancelled,
} from './ending.ts'
import type { MeetingId, ParticipantId, ProposalId } from './ids.ts'
import type { IncompleteMeeting, Meeting, MeetingStateType } from './meeting.ts'
import {
  endExceptions,
  endRepairs,
  isComplete,
  lockAnyMeeting,
  readActiveEndpointIds,
  readContacts,
  readEvent,
  readExceptionsOf,
  readParticipants,
  saveMeeting,
  type StoredEvent,
} from './store.ts'

export type CancelResult =
  | { readonly type: 'cancelled' | 'cancelling'; readonly meeting: Meeting | IncompleteMeeting }
  | { readonly type: 'not_found' }
  | { readonly type: 'not_authorised' }
  | { readonly type: 'ended'; readonly state: MeetingStateType }

/** Cancels a meeting, in whatever state it is, unless it has ended. `by` is the address of who wants it. */
export const cancelMeeting = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  by: string,
): Promise<CancelResult> =>
  db.transact(tenantId, async (tx): Promise<CancelResult> => {
    const meeting = await lockAnyMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    if (!isComplete(meeting)) return cancelDraft(tx, meeting)
    if (!authorityOver(meeting.intent, by)) return { type: 'not_authorised' }
    return cancelWithin(tx, meeting)
  })

/** The same under the meeting's lock, for a choice that ends a repair. */
export const cancelWithin = async (
  tx: Tx,
  meeting: Meeting,
): Promise<Extract<CancelResult, { type: 'cancelled' | 'cancelling' | 'ended' }>> => {
  const subject = { type: 'meeting', id: meeting.id }
  const endpointIds = await readActiveEndpointIds(tx)
  const proposalId = bookedProposalOf(meeting)
  const decide = (
    writeInFlight: boolean,
    eventKnown: boolean,
    contacted: readonly ParticipantId[],
  ): Cancelled =>
    cancel(meeting, { writeInFlight, eventKnown, contacted, now: tx.now }, endpointIds, randomUUID)
  const ended = decide(false, false, [])
  if (ended.type === 'ended') return ended
  const { inFlight } = await supersede(tx, subject, actionsBeforeBooking, 'cancelled')
  await supersede(tx, subject, actionsAfterBooking, 'cancelled')
  const event = proposalId && (await bookedEventOf(tx, meeting, proposalId))
  const change = decide(inFlight > 0, event !== undefined, await contactedOf(tx, meeting.id))
  if (change.type === 'ended') return change
  await endRepairs(tx, meeting.id)
  await saveMeeting(tx, change.meeting)
  await enqueue(tx, change.actions)
  return change
}

const cancelDraft = async (tx: Tx, meeting: IncompleteMeeting): Promise<CancelResult> => {
  if (meeting.state.type !== 'incomplete') return { type: 'ended', state: meeting.state.type }
  const { name } = schedulingActions.reachDeadline
  await supersede(tx, { type: 'meeting', id: meeting.id }, [name], 'cancelled')
  const exceptions = await readExceptionsOf(tx, meeting.id)
  await endExceptions(
    tx,
    exceptions.map(({ id }) => id),
    'lapsed',
  )
  const change = cancelIncomplete(meeting, await readActiveEndpointIds(tx))
  await saveMeeting(tx, change.meeting)
  await enqueue(tx, change.actions)
  return { type: 'cancelled', meeting: change.meeting }
}

/** Who takes part and was written to. */
export const contactedOf = async (tx: Tx, meetingId: MeetingId): Promise<readonly ParticipantId[]> => {
  const taking = new Set((await readParticipants(tx, meetingId)).map(({ id }) => id))
  const contacted = (await readContacts(tx, meetingId)).flatMap(({ participantId }) => participantId ?? [])
  return [...new Set(contacted)].filter((id) => taking.has(id))
}

/** The event of a proposal, or while its change is not made yet the one that is to be changed. */
export const bookedEventOf = async (
  tx: Tx,
  { standingProposalId }: Meeting,
  proposalId: ProposalId,
): Promise<StoredEvent | undefined> =>
  (await readEvent(tx, proposalId)) ?? (standingProposalId && (await readEvent(tx, standingProposalId)))
