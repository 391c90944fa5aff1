/** A meeting and its people for tests of the core, every part of which a test may replace. */
import { randomUUID } from 'node:crypto'
import type { ActionRequest } from '@aftercommit/outbox'
import type { EventDraft, ProviderAttendee, ProviderEvent } from '@aftercommit/providers/calendar'
import { z } from 'zod'
import {
  ConnectionId,
  EndpointId,
  EvidenceId,
  MeetingId,
  ParticipantId,
  ProposalId,
  RepairId,
} from './ids.ts'
import { MeetingIntent } from './intent.ts'
import type { Meeting, MeetingState, MeetingStateType, Participant, Proposal } from './meeting.ts'

export const ids = {
  meeting: () => MeetingId.parse(randomUUID()),
  participant: () => ParticipantId.parse(randomUUID()),
  proposal: () => ProposalId.parse(randomUUID()),
  evidence: () => EvidenceId.parse(randomUUID()),
  connection: () => ConnectionId.parse(randomUUID()),
  repair: () => RepairId.parse(randomUUID()),
}

export const ada = { address: 'ada@google.example', calendarConnectionId: randomUUID() }
export const ben = { address: 'ben@google.example', calendarConnectionId: randomUUID() }
export const chen = { address: 'chen@microsoft.example', calendarConnectionId: randomUUID() }

/** Where the client is told what happens. */
export const endpoints = [EndpointId.parse(randomUUID()), EndpointId.parse(randomUUID())]

/** Long before any deadline. */
export const early = new Date('2027-03-01T00:00:00Z')

/** Nobody was written to. */
export const unwritten = (): readonly Date[] => []

export const namesOf = (actions: readonly ActionRequest[]) => actions.map(({ action }) => action)

const ClientMessage = z.object({ event: z.string() })
/** The events that are told by these actions, all of which tell the client something. */
export const eventsOf = (actions: readonly ActionRequest[]) =>
  actions.map(({ payload }) => ClientMessage.parse(payload).event)

/** An intent as a client sends it; see the schemas for what it becomes. */
export const intentInput = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  purpose: 'Contract review',
  durationMinutes: 60,
  timeZone: 'Europe/Berlin',
  window: { from: '2027-03-25T00:00', to: '2027-04-02T00:00' },
  bookBy: '2027-03-24T12:00:00Z',
  organizer: ada,
  participants: [
    { displayName: 'Ada', role: 'required', ...ada },
    { displayName: 'Ben', role: 'required', ...ben },
    { displayName: 'Chen', role: 'optional', ...chen },
  ],
  approval: { type: 'named_approver', address: ada.address },
  ...more,
})

export const intentOf = (more: Record<string, unknown> = {}): MeetingIntent =>
  MeetingIntent.parse(intentInput(more))

export const meetingIn = (state: MeetingState, more: Partial<Meeting> = {}): Meeting => ({
  id: ids.meeting(),
  revision: 1,
  round: 1,
  standingProposalId: undefined,
  statedSinceRound: 1,
  traceParent: undefined,
  intent: intentOf(),
  state,
  ...more,
})

/** One of every state; those that are about a proposal are about the given one. */
export const stateOf = (proposalId: ProposalId): Record<MeetingStateType, MeetingState> => ({
  incomplete: { type: 'incomplete' },
  gathering: { type: 'gathering' },
  choosing: { type: 'choosing' },
  awaiting_approval: { type: 'awaiting_approval', proposalId },
  booking: { type: 'booking', proposalId },
  write_uncertain: { type: 'write_uncertain', proposalId },
  verifying: { type: 'verifying', proposalId },
  confirmed: { type: 'confirmed', proposalId },
  no_overlap: { type: 'no_overlap' },
  lapsed: { type: 'lapsed' },
  in_repair: { type: 'in_repair', repairId: ids.repair(), code: 'event_differs' },
  clearing: { type: 'clearing', proposalId },
  cancelling: { type: 'cancelling', proposalId },
  cancelled: { type: 'cancelled' },
})

export const personOf = (more: Partial<Participant> = {}): Participant => ({
  id: ids.participant(),
  displayName: 'Ben',
  address: ben.address,
  role: 'required',
  connectionId: ids.connection(),
  timeZone: undefined,
  workingHours: undefined,
  revision: 1,
  askedRound: undefined,
  ...more,
})

export const slot = { start: new Date('2027-03-29T13:00:00Z'), end: new Date('2027-03-29T14:00:00Z') }

export const proposalOf = (more: Partial<Proposal> = {}): Proposal => ({
  id: ids.proposal(),
  meetingRevision: 1,
  round: 1,
  ...slot,
  evidenceIds: [],
  grounds: { optionalAttending: [], optionalMissing: [], ranking: [], alternatives: [] },
  ...more,
})

export const draftWith = (more: Partial<EventDraft> = {}): EventDraft => ({
  operationId: randomUUID(),
  epoch: 0,
  calendarAddress: ada.address,
  title: 'Contract review',
  ...slot,
  timeZone: 'Europe/Berlin',
  attendees: [
    { address: ben.address, displayName: 'Ben', role: 'required' },
    { address: chen.address, displayName: 'Chen', role: 'optional' },
  ],
  location: 'Room 4',
  conference: true,
  ...more,
})

export const guest = (address: string, more: Partial<ProviderAttendee> = {}): ProviderAttendee => ({
  address,
  role: 'required',
  response: 'needs_action',
  organizer: false,
  ...more,
})

/** The event that a provider holds when it did exactly what the draft asks. */
export const eventFor = (draft: EventDraft, more: Partial<ProviderEvent> = {}): ProviderEvent => ({
  provider: 'google',
  calendarAddress: draft.calendarAddress,
  eventId: randomUUID(),
  etag: '"1"',
  icalUid: `${draft.operationId}@google.com`,
  status: 'confirmed',
  title: draft.title,
  start: draft.start,
  end: draft.end,
  timeZone: draft.timeZone,
  attendees: draft.attendees.map(({ address, role }) => guest(address, { role })),
  location: draft.location,
  conference: draft.conference ? 'ready' : 'none',
  conferenceUrl: undefined,
  visibility: 'default',
  operationId: draft.operationId,
  ...more,
})
