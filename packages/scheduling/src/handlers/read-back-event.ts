import { done, go, handlerOf, type Outcome, type Settled } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { Calendar, EventDraft, EventRef, ProviderEvent } from '@aftercommit/providers/calendar'
import { supersede } from '@aftercommit/outbox/enqueue'
import { schedulingActions } from '../actions.ts'
import { verify, type Verdict } from '../completion.ts'
import { completionVerified } from '../booking.ts'
import type { ProposalId } from '../ids.ts'
import type { Change, Meeting } from '../meeting.ts'
import { openRepairNow } from '../repairing.ts'
import {
  lockMeeting,
  readActiveEndpointIds,
  readApproval,
  readConnections,
  readEvent,
  readMeeting,
  readProposal,
  saveCompletion,
  saveMeeting,
} from '../store.ts'
import { callContext, deadOutOfReach, outcomeOfFailedRead, reachCalendar, type World } from './world.ts'

interface Plan {
  readonly calendar: Calendar
  readonly draft: EventDraft
  readonly ref: EventRef
}

interface ReadBack {
  readonly event: ProviderEvent
  readonly verdict: Exclude<Verdict, { type: 'pending' }>
}

/** Only what the provider gives back counts. */
export const readBackEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.readBackEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'verifying' || meeting.state.proposalId !== payload.proposalId) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      const event = await readEvent(tx, payload.proposalId)
      const approval = await readApproval(tx, payload.proposalId)
      if (!event || !approval) throw new Error('a read-back was enqueued without an event to read')
      const id = meeting.intent.organizer.calendarConnectionId
      const connection = (await readConnections(tx, [id])).get(id)
      const access = reachCalendar(world, tx.tenantId, connection)
      if (access.type === 'out_of_reach') return deadOutOfReach(access)
      const { calendarAddress, eventId } = event
      const { calendar } = access
      return go<Plan>({ calendar, draft: approval.draft, ref: { calendarAddress, eventId } })
    },

    perform: async ({ calendar, draft, ref }, attempt): Promise<Outcome<ReadBack>> => {
      const answer = await calendar.readEvent(ref, callContext(world, attempt))
      if (answer.type === 'not_found') return { type: 'retry', code: 'event_not_visible' }
      if (answer.type !== 'found') return outcomeOfFailedRead(answer)
      const verdict = verify(draft, answer.event)
      if (verdict.type === 'pending') return { type: 'retry', code: `${verdict.field}_pending` }
      return done({ event: answer.event, verdict })
    },

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'verifying' || meeting.state.proposalId !== payload.proposalId) return []
      const change = await changeOf(tx, meeting, payload, outcome)
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

const changeOf = async (
  tx: Tx,
  meeting: Meeting,
  { proposalId, occasionId }: { readonly proposalId: ProposalId; readonly occasionId?: string | undefined },
  outcome: Extract<Settled<ReadBack>, { type: 'done' | 'dead' }>,
): Promise<Change> => {
  if (outcome.type === 'dead') {
    const { code, owner } = outcome
    return openRepairNow(tx, meeting, { code, owner, facts: {}, proposalId })
  }
  const { event, verdict } = outcome.facts
  if (verdict.type === 'mismatch') {
    const facts = { fields: verdict.fields }
    return openRepairNow(tx, meeting, { code: 'event_differs', owner: 'organizer', facts, proposalId })
  }
  const { eventId, etag, conferenceUrl } = event
  await saveCompletion(tx, meeting.id, {
    proposalId,
    eventId,
    etag,
    checks: verdict.checks,
    conferenceUrl,
  })
  const proposal = await readProposal(tx, meeting.id, proposalId)
  if (!proposal) throw new Error('an event was read back that nobody proposed')
  // The event stands under another proposal now, which has looks of its own.
  await supersede(tx, { type: 'meeting', id: meeting.id }, [schedulingActions.watchEvent.name], 'rescheduled')
  const endpointIds = await readActiveEndpointIds(tx)
  return completionVerified(meeting, proposal, { occasionId, endpointIds, now: tx.now })
}
