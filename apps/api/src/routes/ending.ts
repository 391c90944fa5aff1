/** How a meeting is cancelled or moved: actions of their own, each with its own authority. */
import {
  Address,
  cancelMeeting,
  IntentDraft,
  rescheduleMeeting,
  type CancelResult,
  type RescheduleResult,
  faultsBeyondShape,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { MeetingHead } from './scheduling-answers.ts'
import { OneMeeting } from './scheduling-bodies.ts'

const by = z
  .strictObject({ address: Address })
  .meta({ description: "Who wants it: the meeting's organizer, or the approver that it names." })

const Cancel = named('CancelMeeting', z.strictObject({ by }), 'Who cancels the meeting.')
const Reschedule = named(
  'RescheduleMeeting',
  z.strictObject({
    by,
    window: IntentDraft.shape.window,
    bookBy: IntentDraft.shape.bookBy,
    durationMinutes: IntentDraft.shape.durationMinutes.optional(),
  }),
  'In which window another time is looked for.',
)

const DAY_MS = 86_400_000
const dayAfter = (now: Date, days: number): string =>
  new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10)

export const endingRoutes = (): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/cancel',
    operationId: 'cancelMeeting',
    summary: 'Cancels a meeting. Its event, if there may be one, is cancelled before the meeting is.',
    params: OneMeeting,
    body: Cancel,
    answer: {
      status: 200,
      description: 'Cancelled, or being cancelled at the provider.',
      schema: MeetingHead,
    },
    problems: ['not-found', 'not-authorised', 'meeting-ended'],
    handle: async ({ params, body }, { db, tenantId }) =>
      cancelReply(await cancelMeeting(db, tenantId, params.meetingId, body.by.address)),
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/reschedule',
    operationId: 'rescheduleMeeting',
    summary: 'Looks for another time for a booked meeting. Its event stays until the new time is approved.',
    params: OneMeeting,
    body: Reschedule,
    example: (now) => ({
      by: { address: 'ada@example.com' },
      window: { from: `${dayAfter(now, 14)}T00:00`, to: `${dayAfter(now, 19)}T00:00` },
      bookBy: `${dayAfter(now, 13)}T12:00:00Z`,
    }),
    answer: { status: 200, description: 'The meeting, in its new revision.', schema: MeetingHead },
    judge: (given, { db, tenantId }) => faultsBeyondShape(db, tenantId, given),
    problems: ['not-found', 'not-authorised', 'not-booked'],
    handle: async ({ params, body: { by: who, ...change } }, { db, tenantId }) =>
      rescheduleReply(
        await rescheduleMeeting(db, tenantId, params.meetingId, { by: who.address, ...change }),
      ),
  }),
]

const cancelReply = (result: CancelResult) => {
  switch (result.type) {
    case 'cancelled':
    case 'cancelling': {
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    }
    case 'not_found':
      return refused('not-found')
    case 'not_authorised':
      return refused('not-authorised')
    case 'ended':
      return refused('meeting-ended', { detail: `It is ${result.state}.` })
  }
}

const rescheduleReply = (result: RescheduleResult) => {
  switch (result.type) {
    case 'rescheduling': {
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    }
    case 'not_found':
      return refused('not-found')
    case 'not_authorised':
      return refused('not-authorised')
    case 'not_booked':
      return refused('not-booked', { detail: `It is ${result.state}.` })
    case 'malformed':
      throw malformedBody(result.problems)
  }
}
