/** A person who was asked by mail has connected a calendar: it is read, and they are asked no more. */
import { enqueue } from '@aftercommit/outbox/enqueue'
import type { Db } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { authorityOver, notAuthorisedOver, type NotAuthorised } from './booking.ts'
import { unknownReferences } from './commands.ts'
import type { UnknownReference } from './references.ts'
import { gatherNow } from './gathering.ts'
import type { ConnectionId, MeetingId, ParticipantId } from './ids.ts'
import { IntentDraft } from './intent.ts'
import { facets, type Meeting, type MeetingStateType } from './meeting.ts'
import { nextRound } from './round.ts'
import { isAboutGathering } from './replies.ts'
import {
  endRepairs,
  insertDecision,
  lockMeeting,
  readParticipants,
  saveMeeting,
  saveParticipant,
} from './store.ts'

export type ConnectParticipantResult =
  | { readonly type: 'connected'; readonly meeting: Meeting }
  | { readonly type: 'not_found' }
  | NotAuthorised
  /** A time has been approved, or the meeting has ended. */
  | { readonly type: 'not_open'; readonly state: MeetingStateType }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

const open: ReadonlySet<MeetingStateType> = new Set<MeetingStateType>([
  'gathering',
  'choosing',
  'awaiting_approval',
  'no_overlap',
])

/**
 * Names the calendar of one participant, as a new revision. A message that waits to be sent finds before contact that
 * the person's part is another one.
 */
export const connectParticipant = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  participantId: ParticipantId,
  { by, calendarConnectionId }: { readonly by: string; readonly calendarConnectionId: ConnectionId },
): Promise<ConnectParticipantResult> =>
  db.transact(tenantId, async (tx): Promise<ConnectParticipantResult> => {
    const meeting = await lockMeeting(tx, meetingId)
    const participants = await readParticipants(tx, meetingId)
    const index = participants.findIndex(({ id }) => id === participantId)
    const person = participants[index]
    if (!meeting || !person) return { type: 'not_found' }
    const authority = authorityOver(meeting.intent, by)
    if (!authority) return notAuthorisedOver(meeting.intent)
    const inRepair = isAboutGathering(meeting)
    if (!open.has(meeting.state.type) && !inRepair) return { type: 'not_open', state: meeting.state.type }
    const next = withCalendar(meeting, index, calendarConnectionId)
    const unknown = await unknownReferences(tx, IntentDraft.parse(next.intent))
    if (unknown.length > 0) {
      const problems = unknown.map(({ reason }) => ({ path: ['calendarConnectionId'], reason }))
      return { type: 'malformed', problems }
    }
    await saveParticipant(tx, { ...person, connectionId: calendarConnectionId, revision: next.revision })
    // What was wrong with the search is looked at anew; what is not mended by this calendar is found again.
    if (inRepair) await endRepairs(tx, meetingId)
    // A calendar is read once per round: another one in its place is read in the next.
    const change =
      meeting.state.type === 'gathering' && person.connectionId === undefined
        ? { meeting: next, actions: [readOf(next, participantId, calendarConnectionId)] }
        : await gatherNow(tx, nextRound(next))
    await saveMeeting(tx, change.meeting)
    await insertDecision(tx, change.meeting, {
      type: 'calendar_connected',
      by: authority,
      participantIds: [participantId],
    })
    await enqueue(tx, change.actions)
    return { type: 'connected', meeting: change.meeting }
  })

const withCalendar = (meeting: Meeting, index: number, calendarConnectionId: ConnectionId): Meeting => ({
  ...meeting,
  revision: meeting.revision + 1,
  intent: {
    ...meeting.intent,
    participants: meeting.intent.participants.map((each, at) =>
      at === index ? { ...each, calendarConnectionId } : each,
    ),
  },
})

const readOf = (meeting: Meeting, participantId: ParticipantId, connectionId: ConnectionId) =>
  schedulingActions.readAvailability.request(
    { meetingId: meeting.id, participantId, round: meeting.round },
    facets(meeting, connectionId),
  )
