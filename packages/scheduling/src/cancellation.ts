/** Cancelling a meeting: an action of its own, by its own authority. */
import { randomUUID } from 'node:crypto'
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { authorityOver, notAuthorisedOver, type NotAuthorised } from './booking.ts'
import {
  actionsAfterBooking,
  actionsBeforeBooking,
  actionsThatWrite,
  bookedProposalOf,
  cancel,
  cancelIncomplete,
  type Cancelled,
} from './ending.ts'
import type { MeetingId, ParticipantId, ProposalId } from './ids.ts'
import { sameAddress } from './intent.ts'
import { currentEvidence } from './known.ts'
import type { Decider } from './decision.ts'
import type { IncompleteMeeting, Meeting, MeetingStateType } from './meeting.ts'
import {
  endExceptions,
  endRepairs,
  insertDecision,
  isComplete,
  lockAnyMeeting,
  readActiveEndpointIds,
  readContacts,
  readEvent,
  readEvidence,
  readExceptionsOf,
  readParticipants,
  saveMeeting,
  type StoredEvent,
} from './store.ts'

export type CancelResult =
  | { readonly type: 'cancelled' | 'cancelling'; readonly meeting: Meeting | IncompleteMeeting }
  | { readonly type: 'not_found' }
  | NotAuthorised
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
    if (!isComplete(meeting)) {
      const right = rightOverDraft(meeting, by)
      return right ? cancelDraft(tx, meeting, right) : notAuthorisedOverDraft(meeting)
    }
    const authority = authorityOver(meeting.intent, by)
    return authority ? cancelWithin(tx, meeting, authority) : notAuthorisedOver(meeting.intent)
  })

/** The same under the meeting's lock, for a choice that ends a repair. */
export const cancelWithin = async (
  tx: Tx,
  meeting: Meeting,
  by: Decider,
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
  await supersede(tx, subject, actionsBeforeBooking, 'cancelled')
  const { inFlight } = await supersede(tx, subject, actionsThatWrite, 'cancelled')
  await supersede(tx, subject, actionsAfterBooking, 'cancelled')
  const event = proposalId && (await bookedEventOf(tx, meeting, proposalId))
  const change = decide(inFlight > 0, event !== undefined, await contactedOf(tx, meeting))
  if (change.type === 'ended') return change
  await endRepairs(tx, meeting.id)
  await saveMeeting(tx, change.meeting)
  await insertDecision(tx, change.meeting, { type: 'cancelled', by })
  await enqueue(tx, change.actions)
  return change
}

/** Where neither organizer nor approver was told yet, whoever has the client's key may. */
const rightOverDraft = (
  { draft: { organizer, approval } }: IncompleteMeeting,
  by: string,
): Decider | undefined => {
  const approver = approval?.type === 'named_approver' ? approval.address : undefined
  if (organizer?.address === undefined && approver === undefined) return 'requester'
  if (organizer?.address !== undefined && sameAddress(organizer.address, by)) return 'organizer'
  return approver !== undefined && sameAddress(approver, by) ? 'named_approver' : undefined
}

const notAuthorisedOverDraft = ({ draft: { organizer, approval } }: IncompleteMeeting): NotAuthorised => ({
  type: 'not_authorised',
  may: [
    ...(organizer?.address === undefined ? [] : (['organizer'] as const)),
    ...(approval?.type === 'named_approver' ? (['named_approver'] as const) : []),
  ],
})

const cancelDraft = async (tx: Tx, meeting: IncompleteMeeting, by: Decider): Promise<CancelResult> => {
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
  await insertDecision(tx, change.meeting, { type: 'cancelled', by })
  await enqueue(tx, change.actions)
  return { type: 'cancelled', meeting: change.meeting }
}

/** Who takes part, was reached by mail, and did not say no. */
export const contactedOf = async (tx: Tx, meeting: Meeting): Promise<readonly ParticipantId[]> => {
  const taking = await readParticipants(tx, meeting.id)
  const contacts = await readContacts(tx, meeting.id)
  const current = currentEvidence(meeting, await readEvidence(tx, meeting.id), tx.now)
  return taking
    .filter(({ id }) => {
      const piece = current.get(id)
      const saidNo = piece?.source === 'reply_page' && piece.type === 'unknown'
      const reached = contacts.some(
        ({ participantId, outcome }) =>
          participantId === id && (outcome === 'accepted' || outcome === 'maybe_sent'),
      )
      return reached && !saidNo
    })
    .map(({ id }) => id)
}

/** The event of a proposal, or while its change is not made yet the one that is to be changed. */
export const bookedEventOf = async (
  tx: Tx,
  { standingProposalId }: Meeting,
  proposalId: ProposalId,
): Promise<StoredEvent | undefined> =>
  (await readEvent(tx, proposalId)) ?? (standingProposalId && (await readEvent(tx, standingProposalId)))
