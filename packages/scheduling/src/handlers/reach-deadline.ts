import { randomUUID } from 'node:crypto'
import { done, go, handlerOf } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import { lapse, type IncompleteMeeting, type Meeting } from '../meeting.ts'
import { watchAnew } from '../rescheduling.ts'
import {
  endExceptions,
  endRepairs,
  insertDecision,
  lockAnyMeeting,
  readActiveEndpointIds,
  isComplete,
  readExceptionsOf,
  restoreParticipants,
  saveMeeting,
} from '../store.ts'

/** Ends a meeting that nobody has approved in time, and every question that was open about it. Calls nobody. */
export const reachDeadline = () =>
  handlerOf<Tx>()(schedulingActions.reachDeadline, {
    prepare: () => Promise.resolve(go(undefined)),
    perform: () => Promise.resolve(done(undefined)),
    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done') return []
      const meeting = await lockAnyMeeting(tx, payload.meetingId)
      // A later change of the meeting may have moved its deadline on; that one has a row of its own.
      if (!meeting || Date.parse(bookByOf(meeting)) > tx.now.getTime()) return []
      const lapsed = lapse(meeting, await readActiveEndpointIds(tx), randomUUID)
      if (!lapsed) return []
      const exceptions = await readExceptionsOf(tx, lapsed.meeting.id)
      await endExceptions(
        tx,
        exceptions.map(({ id }) => id),
        'lapsed',
      )
      await endRepairs(tx, lapsed.meeting.id)
      const booked = lapsed.meeting.state.type === 'confirmed' && isComplete(lapsed.meeting)
      if (booked) await restoreParticipants(tx, lapsed.meeting)
      await saveMeeting(tx, lapsed.meeting)
      const type = booked ? 'change_lapsed' : 'lapsed'
      await insertDecision(tx, lapsed.meeting, { type, by: 'rule' })
      return [...lapsed.actions, ...(booked ? await watchAnew(tx, lapsed.meeting, type) : [])]
    },
  })

const bookByOf = (meeting: Meeting | IncompleteMeeting): string =>
  isComplete(meeting) ? meeting.intent.bookBy : meeting.draft.bookBy
