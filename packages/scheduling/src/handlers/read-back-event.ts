import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { Calendar, EventDraft, EventRef, ProviderEvent } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import { verify, type Verdict } from '../completion.ts'
import { completionVerified, openRepair } from '../meeting.ts'
import {
  insertCompletion,
  insertRepair,
  lockMeeting,
  readActiveEndpointIds,
  readApproval,
  readConnections,
  readEvent,
  readMeeting,
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
      const endpointIds = await readActiveEndpointIds(tx)
      if (outcome.type === 'done' && outcome.facts.verdict.type === 'complete') {
        const { event, verdict } = outcome.facts
        await insertCompletion(tx, meeting.id, {
          proposalId: payload.proposalId,
          eventId: event.eventId,
          etag: event.etag,
          checks: verdict.checks,
        })
        const change = completionVerified(meeting, payload.proposalId, endpointIds)
        await saveMeeting(tx, change.meeting)
        return change.actions
      }
      const fault = faultOf(outcome.type === 'done' ? outcome.facts : outcome)
      const change = openRepair(meeting, endpointIds, fault, randomUUID)
      await insertRepair(tx, meeting.id, change.repair)
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

const faultOf = (found: ReadBack | { readonly code: string; readonly owner: string }) => {
  if ('verdict' in found) {
    const fields = found.verdict.type === 'mismatch' ? found.verdict.fields : []
    return { code: 'event_differs', owner: 'organizer', facts: { fields } }
  }
  return { code: found.code, owner: found.owner, facts: {} }
}
