/** What waits to be done, and why it is not done yet. Pure. */
import type { ActionRecordRow } from '@aftercommit/outbox/operate'
import { afterQuietHours, formatInstant } from '@aftercommit/time'
import type { IncompleteMeeting, Meeting, Participant } from './meeting.ts'
import { schedulingActions } from './actions.ts'
import { factsOfAction } from './trace-record.ts'
import type { Pending } from './trace-waits.ts'

export const pendingOf = (
  row: ActionRecordRow,
  meeting: Meeting | IncompleteMeeting,
  participants: readonly Participant[],
): Pending => {
  const until = postponedBy(row, meeting, participants)
  return {
    ...factsOfAction(row),
    state: row.state,
    ...(row.due_at && { dueAt: row.due_at.toISOString() }),
    ...(row.attempts > 0 && { attempts: row.attempts }),
    ...(row.code !== null && { code: row.code }),
    ...(until && { until }),
    ...(row.lease_owner !== null && { heldBy: row.lease_owner }),
  }
}

const MINUTE_MS = 60_000

/**
 * Why a message to a person waits. Quiet hours that end just when it is due are what it waits for: a minute before, it
 * would have had to wait until then.
 */
const postponedBy = (
  row: ActionRecordRow,
  meeting: Meeting | IncompleteMeeting,
  participants: readonly Participant[],
): Pending['until'] => {
  const isAsk = row.action === schedulingActions.askParticipant.name
  if (!isAsk || !row.due_at || row.lease_owner !== null || !('intent' in meeting)) return undefined
  const { about } = factsOfAction(row)
  const person = participants.find(({ id }) => id === about.participantId)
  const { outreach } = meeting.intent
  if (!person || !outreach) return undefined
  const zone = person.timeZone ?? meeting.intent.timeZone
  const before = new Date(row.due_at.getTime() - MINUTE_MS)
  const quietUntil = afterQuietHours(before, outreach.quietHours, zone)
  // A row that was put off until then is due a moment later: it counts from the moment in which it was put off.
  if (quietUntil > before && quietUntil <= row.due_at) {
    return { because: 'quiet_hours', localTime: formatInstant(row.due_at, zone, 'HH:mm') }
  }
  return (about.number ?? 1) > 1 ? { because: 'spacing' } : undefined
}
