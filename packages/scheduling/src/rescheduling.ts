/** Rescheduling a booked meeting: an action of its own, by its own authority. */
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { Db } from '@aftercommit/platform/db'
import { authorityOver } from './booking.ts'
import { actionsAfterBooking, reschedule } from './ending.ts'
import { gatherNow } from './gathering.ts'
import type { MeetingId } from './ids.ts'
import { IntentDraft, untimely, type MeetingIntent } from './intent.ts'
import type { Meeting, MeetingStateType } from './meeting.ts'
import { insertDecision, lockMeeting, renewParticipants, saveMeeting } from './store.ts'
import type { UnknownReference } from './references.ts'

export interface RescheduleRequest {
  readonly by: string
  readonly window: MeetingIntent['window']
  readonly bookBy: string
  readonly durationMinutes?: number | undefined
}

export type RescheduleResult =
  | { readonly type: 'rescheduling'; readonly meeting: Meeting }
  | { readonly type: 'not_found' }
  | { readonly type: 'not_authorised' }
  | { readonly type: 'not_booked'; readonly state: MeetingStateType }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

/**
 * Seeks another time for a booked meeting. Until one is approved the event stands as it is; of two at once the second
 * finds the meeting no longer booked.
 */
export const rescheduleMeeting = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  { by, ...change }: RescheduleRequest,
): Promise<RescheduleResult> =>
  db.transact(tenantId, async (tx): Promise<RescheduleResult> => {
    const meeting = await lockMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    const authority = authorityOver(meeting.intent, by)
    if (!authority) return { type: 'not_authorised' }
    const rescheduled = reschedule(meeting, change)
    if (rescheduled.type === 'not_booked') return rescheduled
    const problems = [
      ...malformedIn(rescheduled.meeting.intent),
      ...untimely(rescheduled.meeting.intent, tx.now),
    ]
    if (problems.length > 0) return { type: 'malformed', problems }
    await supersede(tx, { type: 'meeting', id: meeting.id }, actionsAfterBooking, 'rescheduled')
    await renewParticipants(tx, rescheduled.meeting)
    const gathering = await gatherNow(tx, rescheduled.meeting)
    await saveMeeting(tx, gathering.meeting)
    await insertDecision(tx, gathering.meeting, { type: 'rescheduled', by: authority })
    await enqueue(tx, [...gathering.actions, rescheduled.deadline])
    return { type: 'rescheduling', meeting: gathering.meeting }
  })

/** The new window is held against the rules of every intent. */
const malformedIn = (intent: MeetingIntent): readonly UnknownReference[] => {
  const parsed = IntentDraft.safeParse(intent)
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => ({
        path: path.filter((part) => typeof part !== 'symbol'),
        reason: message,
      }))
}
