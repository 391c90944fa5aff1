/** Committed, and then what must follow is nowhere. */
import type { Seen, SeenMeeting, SeenRow } from '../seen.ts'
import { standingEvents, type StandingEvent } from './events.ts'
import { groupBy, type Offence } from './offence.ts'

const ENDED: ReadonlySet<string> = new Set(['confirmed', 'cancelled', 'no_overlap', 'lapsed', 'in_repair'])
/** These wait for a day that has not come, and move no meeting on. */
const STANDBY = /\.(watch_event|reach_deadline|notify_client|sweep_event)$/

export const lost = (seen: Seen): readonly Offence[] => [
  ...requestsLost(seen),
  ...successorsLost(seen),
  ...meetingsAbandoned(seen),
  ...messagesLost(seen),
  ...seen.meetings.flatMap((meeting) => eventLost(meeting, seen, standingEvents(seen.ledger))),
]

/** A client was told that its meeting is open. */
const requestsLost = ({ asked, meetings }: Seen): readonly Offence[] => {
  const known = new Set(meetings.map(({ purpose }) => purpose))
  return asked.flatMap(({ path, about, answer }) =>
    path === '/v1/meetings' && answer?.status === 201 && !known.has(about)
      ? [{ id: about, what: 'the client was told that it is open, and it is not there' }]
      : [],
  )
}

/** Every change of state commits together with the row for what follows it. */
const successorsLost = ({ approvals, written, completed, meetings, rows }: Seen): readonly Offence[] => {
  const byMeeting = groupBy(rows, ({ meetingId }) => meetingId)
  const has = (meetingId: string, wanted: (row: SeenRow) => boolean): boolean =>
    (byMeeting.get(meetingId) ?? []).some(wanted)
  const of =
    (proposalId: string, ...actions: readonly string[]) =>
    (row: SeenRow): boolean =>
      row.payload.proposalId === proposalId && actions.includes(row.action)
  const tells =
    (occasionId: string, ...events: readonly string[]) =>
    (row: SeenRow): boolean =>
      row.payload.occasionId === occasionId && events.includes(row.payload.event ?? '')
  const missing = (meetingId: string, what: string): Offence => ({ id: meetingId, what })
  return [
    ...approvals
      .filter(
        ({ meetingId, proposalId }) =>
          !has(meetingId, of(proposalId, 'scheduling.write_event', 'scheduling.change_event')),
      )
      .map(({ meetingId }) => missing(meetingId, 'approved, and no row to write the event')),
    ...written
      .filter(({ meetingId, proposalId }) => !has(meetingId, of(proposalId, 'scheduling.read_back_event')))
      .map(({ meetingId }) => missing(meetingId, 'written, and no row to read the event back')),
    ...completed
      .filter(
        ({ meetingId, proposalId }) =>
          !has(meetingId, tells(proposalId, 'meeting.confirmed', 'meeting.rescheduled')),
      )
      .map(({ meetingId }) => missing(meetingId, 'complete, and no row to tell the client')),
    ...completed
      .filter(({ meetingId, proposalId }) => !has(meetingId, of(proposalId, 'scheduling.watch_event')))
      .map(({ meetingId }) => missing(meetingId, 'complete, and no row to look at the event again')),
    ...meetings
      .filter(({ id, state }) => state === 'cancelled' && !has(id, tells(id, 'meeting.cancelled')))
      .map(({ id }) => missing(id, 'cancelled, and no row to tell the client')),
  ]
}

const meetingsAbandoned = ({ meetings, rows }: Seen): readonly Offence[] => {
  const busy = new Set(
    rows
      .filter(({ state, action }) => state !== null && !STANDBY.test(action))
      .map(({ meetingId }) => meetingId),
  )
  return meetings.flatMap(({ id, state }) =>
    ENDED.has(state) || busy.has(id) ? [] : [{ id, what: `it is ${state}, and no row leads on from there` }],
  )
}

const messagesLost = ({ rows, told }: Seen): readonly Offence[] => {
  const arrived = new Set(told.map(({ type, data }) => `${type} ${data.meetingId} ${data.occasionId}`))
  return rows.flatMap(({ id, action, meetingId, outcome, payload }) =>
    action === 'scheduling.notify_client' &&
    outcome === 'succeeded' &&
    !arrived.has(`${payload.event} ${meetingId} ${payload.occasionId}`)
      ? [{ id, what: `settled as delivered, and the client never got ${payload.event}` }]
      : [],
  )
}

/** Of a meeting that has ended, the provider holds what the database says. */
const eventLost = (
  { id, state, standingProposalId }: SeenMeeting,
  { approvals }: Seen,
  standing: readonly StandingEvent[],
): readonly Offence[] => {
  const mine = approvals.filter(({ meetingId }) => meetingId === id)
  const operations = new Set(mine.map(({ operationId }) => operationId))
  const events = standing.filter(({ operationId }) => operations.has(operationId))
  if (state === 'cancelled') {
    return events.map(({ eventId }) => ({
      id,
      what: `cancelled, and its event stands: ${eventId.slice(0, 12)}`,
    }))
  }
  if (state !== 'confirmed') return []
  const approved = mine.find(({ proposalId }) => proposalId === standingProposalId)
  if (!approved) return [{ id, what: 'confirmed without an approval' }]
  if (events.length === 0) return [{ id, what: 'confirmed, and no event stands' }]
  const agrees = events.some(
    ({ start, end }) =>
      Date.parse(start) === Date.parse(approved.start) && Date.parse(end) === Date.parse(approved.end),
  )
  return agrees ? [] : [{ id, what: 'confirmed, and its event stands at another time' }]
}
