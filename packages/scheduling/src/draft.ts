import { operationIdOf } from '@aftercommit/outbox'
import type { EventDraft } from '@aftercommit/providers/calendar'
import { schedulingActions } from './actions.ts'
import { sameAddress } from './intent.ts'
import type { Meeting, Participant, Proposal } from './meeting.ts'

/**
 * The one event that an approval allows to be written, fixed at approval and sent unchanged on every attempt. The
 * organizer attends by owning the calendar; optional people are invited when they can come. A change of an event that stands
 * keeps that event's identity.
 */
export const draftOf = (
  tenantId: string,
  meeting: Meeting,
  participants: readonly Participant[],
  proposal: Proposal,
  standing: EventDraft | undefined,
): EventDraft => {
  const { intent } = meeting
  const calendarAddress = intent.organizer.address
  const write = schedulingActions.writeEvent.request({ meetingId: meeting.id, proposalId: proposal.id })
  const attending = new Set(proposal.grounds.optionalAttending)
  return {
    operationId: standing?.operationId ?? operationIdOf(tenantId, write.identity),
    epoch: standing?.epoch ?? 0,
    calendarAddress,
    title: intent.purpose,
    start: proposal.start,
    end: proposal.end,
    timeZone: intent.timeZone,
    attendees: participants
      .filter(({ role, id }) => role === 'required' || attending.has(id))
      .filter(({ address }) => !sameAddress(address, calendarAddress))
      .map(({ address, displayName, role }) => ({ address, displayName, role })),
    location: intent.location,
    conference: intent.conference,
  }
}
