/** How a meeting is cancelled or moved, and how a move is given up: actions of their own, each with its own authority. */
import {
  Address,
  cancelMeeting,
  IntentDraft,
  rescheduleMeeting,
  withdrawChange,
  type CancelResult,
  type RescheduleResult,
  type Unmovable,
  type WithdrawResult,
  faultsBeyondShape,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import type { ProblemName } from '../problems.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { notAuthorised } from './authority.ts'
import { MeetingHead } from './scheduling-answers.ts'
import { OneMeeting } from './scheduling-bodies.ts'
import { SeenVersion, staleRefusal } from './seen-version.ts'

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
    durationMinutes: IntentDraft.shape.durationMinutes.optional().meta({
      description: 'How long the meeting takes then. Left out, as long as it does as it stands.',
    }),
  }),
  'In which window another time is looked for.',
)
const Withdraw = named('WithdrawChange', z.strictObject({ by }), 'Who gives the change up.')

/** How each state in which a meeting's event cannot be moved is refused. */
const unmovableProblem = {
  not_booked: 'not-booked',
  being_written: 'being-written',
  needs_repair: 'needs-repair',
  ended: 'meeting-ended',
} as const satisfies Record<Unmovable['type'], ProblemName>
const unmovableProblems = Object.values(unmovableProblem)

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
    headers: SeenVersion,
    body: Cancel,
    answer: {
      status: 200,
      description: 'Cancelled, or being cancelled at the provider.',
      schema: MeetingHead,
    },
    problems: ['not-found', 'stale-version', 'not-authorised', 'meeting-ended'],
    handle: async ({ params: { meetingId }, headers, body }, { db, tenantId }) =>
      (await staleRefusal(db, tenantId, meetingId, headers)) ??
      cancelReply(await cancelMeeting(db, tenantId, meetingId, body.by.address)),
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/reschedule',
    operationId: 'rescheduleMeeting',
    summary:
      'Looks for another time for a booked meeting, in place of any that is looked for already. Its event stays until the new time is approved.',
    params: OneMeeting,
    headers: SeenVersion,
    body: Reschedule,
    example: (now) => ({
      by: { address: 'ada@example.com' },
      window: { from: `${dayAfter(now, 14)}T00:00`, to: `${dayAfter(now, 19)}T00:00` },
      bookBy: `${dayAfter(now, 13)}T12:00:00Z`,
    }),
    answer: { status: 200, description: 'The meeting, in its new revision.', schema: MeetingHead },
    judge: (given, { db, tenantId }) => faultsBeyondShape(db, tenantId, given),
    problems: ['not-found', 'stale-version', 'not-authorised', ...unmovableProblems],
    handle: async ({ params: { meetingId }, headers, body: { by: who, ...change } }, { db, tenantId }) =>
      (await staleRefusal(db, tenantId, meetingId, headers)) ??
      rescheduleReply(await rescheduleMeeting(db, tenantId, meetingId, { by: who.address, ...change })),
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/withdraw-change',
    operationId: 'withdrawChange',
    summary: 'Gives up the change that is sought for a booked meeting: it is confirmed as it stands.',
    params: OneMeeting,
    headers: SeenVersion,
    body: Withdraw,
    answer: { status: 200, description: 'The meeting, confirmed as before.', schema: MeetingHead },
    problems: ['not-found', 'stale-version', 'not-authorised', 'no-change', ...unmovableProblems],
    handle: async ({ params: { meetingId }, headers, body }, { db, tenantId }) =>
      (await staleRefusal(db, tenantId, meetingId, headers)) ??
      withdrawReply(await withdrawChange(db, tenantId, meetingId, body.by.address)),
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
      return notAuthorised(result)
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
      return notAuthorised(result)
    case 'malformed':
      throw malformedBody(result.problems)
    case 'not_booked':
    case 'being_written':
    case 'needs_repair':
    case 'ended':
      return unmovableReply(result)
  }
}

const withdrawReply = (result: WithdrawResult) => {
  switch (result.type) {
    case 'withdrawn': {
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    }
    case 'not_found':
      return refused('not-found')
    case 'not_authorised':
      return notAuthorised(result)
    case 'no_change':
      return refused('no-change', { detail: 'It is confirmed.' })
    case 'not_booked':
    case 'being_written':
    case 'needs_repair':
    case 'ended':
      return unmovableReply(result)
  }
}

/** Why there is nothing to move, or not now, and what may be done instead. */
const unmovableReply = ({ type, state }: Unmovable) => {
  const detail = `It is ${state.type}: ${remedyOf(state)}.`
  return refused(unmovableProblem[type], { detail })
}

const remedyOf = (state: Unmovable['state']): string => {
  switch (state.type) {
    case 'incomplete':
      return 'resolve its exceptions, and it is booked for the first time'
    case 'awaiting_approval':
      return 'approve its proposal, and it is booked for the first time; or cancel it'
    case 'gathering':
    case 'choosing':
      return 'its first time is still being looked for; wait for it, or cancel it'
    case 'no_overlap':
      return 'no time was found for it; cancel it, and ask for a meeting in another window'
    case 'in_repair':
      return `resolve repair ${state.repairId}, or cancel it`
    case 'booking':
    case 'write_uncertain':
    case 'verifying':
    case 'clearing':
      return 'wait until it is confirmed or in repair, or cancel it'
    case 'cancelling':
    case 'cancelled':
    case 'lapsed':
    case 'confirmed':
      return 'ask for a new meeting'
  }
}
