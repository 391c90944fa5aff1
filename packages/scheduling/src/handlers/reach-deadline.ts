import { done, go, handlerOf } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import { lapse } from '../meeting.ts'
import {
  endExceptions,
  endRepairs,
  lockAnyMeeting,
  readActiveEndpointIds,
  readExceptionsOf,
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
      const lapsed = meeting && lapse(meeting, await readActiveEndpointIds(tx))
      if (!lapsed) return []
      const exceptions = await readExceptionsOf(tx, lapsed.meeting.id)
      await endExceptions(
        tx,
        exceptions.map(({ id }) => id),
        'lapsed',
      )
      await endRepairs(tx, lapsed.meeting.id)
      await saveMeeting(tx, lapsed.meeting)
      return lapsed.actions
    },
  })
