/** What writing an event and changing one have in common: what for, whose time, what was found, and what follows. */
import type { Attempt, Correlation, Reconciled, Settled } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { Calendar, EventDraft, ProviderEvent } from '@aftercommit/providers/calendar'
import { eventWritten, slotTaken, writePending, writeUncertain } from '../booking.ts'
import { lookAgainByRule } from '../gathering.ts'
import type { ConnectionId, MeetingId, ParticipantId, ProposalId } from '../ids.ts'
import { sameAddress } from '../intent.ts'
import { currentEvidence } from '../known.ts'
import type { Change, Meeting } from '../meeting.ts'
import { openRepairNow } from '../repairing.ts'
import {
  insertEvent,
  readApproval,
  readConnections,
  readEvidence,
  readMeeting,
  readParticipants,
} from '../store.ts'
import type { RequiredPerson } from './slot.ts'
import { callContext, outcomeOfFailedRead, reachCalendar, type OutOfReach, type World } from './world.ts'

export interface Target {
  readonly calendar: Calendar
  readonly draft: EventDraft
}

export type Written =
  | { readonly type: 'written'; readonly event: ProviderEvent; readonly at: Date }
  | { readonly type: 'slot_taken'; readonly participantIds: readonly ParticipantId[] }

export type BookingPayload = { readonly meetingId: MeetingId; readonly proposalId: ProposalId }

export const loadTarget = async (
  world: World,
  tx: Tx,
  { meetingId, proposalId }: BookingPayload,
): Promise<(Target & { readonly type: 'in_reach' }) | OutOfReach> => {
  const meeting = await readMeeting(tx, meetingId)
  const approval = await readApproval(tx, proposalId)
  if (!meeting || !approval) throw new Error('a write was enqueued without an approval')
  const id: ConnectionId = meeting.intent.organizer.calendarConnectionId
  const access = reachCalendar(world, tx.tenantId, (await readConnections(tx, [id])).get(id))
  if (access.type === 'out_of_reach') return access
  return { type: 'in_reach', calendar: access.calendar, draft: approval.draft }
}

/** The calendars that are read once more just before an event is written. */
export const requiredCalendars = async (
  world: World,
  tx: Tx,
  meeting: Meeting,
): Promise<readonly RequiredPerson[]> => {
  const current = currentEvidence(meeting, await readEvidence(tx, meeting.id), tx.now)
  // Who answered in words is held to those: their calendar, if there is one, does not tell.
  const people = (await readParticipants(tx, meeting.id)).filter(
    ({ id, role }) => role === 'required' && current.get(id)?.type !== 'stated',
  )
  const ids = people.flatMap(({ connectionId }) => (connectionId === undefined ? [] : [connectionId]))
  const connections = await readConnections(tx, ids)
  return people.flatMap(({ id, connectionId, ...buffers }) =>
    connectionId === undefined
      ? []
      : [
          {
            participantId: id,
            access: reachCalendar(world, tx.tenantId, connections.get(connectionId)),
            buffers,
          },
        ],
  )
}

/** Whether an event carries the identity of another write. Providers compare it in any case. */
export const isOfAnother = (
  draft: Pick<EventDraft, 'operationId'>,
  { operationId }: Pick<ProviderEvent, 'operationId'>,
): boolean => operationId !== undefined && operationId.toLowerCase() !== draft.operationId.toLowerCase()

/** Asks the provider for the events that carry our identity. */
export const lookFor = async (
  world: World,
  { calendar, draft }: Target,
  attempt: Attempt,
): Promise<Reconciled<Written>> => {
  const answer = await calendar.findEvents(
    draft.calendarAddress,
    draft.operationId,
    callContext(world, attempt),
  )
  if (answer.type === 'read') return judge(draft, answer.events, attempt)
  const failed = outcomeOfFailedRead(answer)
  if (failed.type === 'retry' || failed.type === 'throttled') return failed
  const code = 'code' in failed ? failed.code : failed.type
  return failed.type === 'dead' && failed.class === 'permission'
    ? { type: 'conflicting', code }
    : { type: 'retry', code }
}

/** What the events that carry our identity prove. One that somebody changed since is not the one we approved. */
const judge = (
  draft: EventDraft,
  events: readonly ProviderEvent[],
  attempt: Attempt,
): Reconciled<Written> => {
  const live = events.filter(({ status }) => status !== 'cancelled')
  const [event, ...more] = live
  if (more.length > 0) return { type: 'conflicting', code: 'several_events' }
  if (!event) return events.length > 0 ? { type: 'conflicting', code: 'event_cancelled' } : { type: 'absent' }
  const unchanged =
    event.start?.getTime() === draft.start.getTime() && event.end?.getTime() === draft.end.getTime()
  if (!unchanged) return { type: 'conflicting', code: 'event_altered' }
  return { type: 'found', facts: { type: 'written', event, at: attempt.now } }
}

/**
 * Exchange refuses an attendee's address and has been seen to keep the event all the same (msgraph-sdk-php#280). Either
 * way somebody who was approved cannot be invited: an event that exists is no meeting, and one that does not would only
 * be refused again.
 */
export const afterRefusal = (found: Reconciled<Written>, { claimed }: Correlation): Reconciled<Written> => {
  if (claimed !== 'invalid_attendee') return found
  if (found.type === 'found') return { type: 'conflicting', code: claimed }
  if (found.type !== 'absent') return found
  return { ...found, verdict: { class: 'validation', code: claimed, owner: 'organizer' } }
}

/** What an attempt to write or change an event means for its meeting. */
export const bookingChange = async (
  tx: Tx,
  meeting: Meeting,
  { proposalId, occasionId }: { readonly proposalId: ProposalId; readonly occasionId?: string | undefined },
  outcome: Settled<Written>,
  { blamed, triedBefore }: { readonly blamed: readonly ParticipantId[]; readonly triedBefore: boolean },
): Promise<Change | undefined> => {
  switch (outcome.type) {
    case 'done': {
      const { facts } = outcome
      if (facts.type === 'slot_taken') {
        const taken = slotTaken(meeting, proposalId, { triedBefore, now: tx.now })
        const { participantIds } = facts
        const again = await lookAgainByRule(tx, taken.meeting, { because: facts.type, participantIds })
        return { meeting: again.meeting, actions: [...taken.actions, ...again.actions] }
      }
      const { provider, calendarAddress, eventId, icalUid } = facts.event
      const event = { proposalId, provider, calendarAddress, eventId, icalUid, writtenAt: facts.at }
      await insertEvent(tx, meeting.id, event)
      return eventWritten(meeting, proposalId, occasionId)
    }
    case 'unknown':
      return writeUncertain(meeting, proposalId)
    case 'retrying':
    case 'throttled':
      return writePending(meeting, proposalId)
    case 'dead': {
      const { code, owner } = outcome
      const participantIds = code === 'invalid_attendee' ? await suspectsOf(tx, meeting) : blamed
      const facts = { class: outcome.class, ...(participantIds.length > 0 && { participantIds }) }
      return openRepairNow(tx, meeting, { code, owner, facts, proposalId })
    }
    case 'suppressed':
    case 'obsolete':
      return undefined
  }
}

/**
 * Neither provider says whose address it refuses. A connected calendar's address is a mailbox that exists, so whoever has
 * none connected is suspected; if everybody has one, everybody is.
 */
const suspectsOf = async (tx: Tx, meeting: Meeting): Promise<readonly ParticipantId[]> => {
  const { address } = meeting.intent.organizer
  const guests = (await readParticipants(tx, meeting.id)).filter(
    (person) => !sameAddress(person.address, address),
  )
  const unconnected = guests.filter(({ connectionId }) => connectionId === undefined)
  return (unconnected.length > 0 ? unconnected : guests).map(({ id }) => id)
}
