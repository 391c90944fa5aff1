/** What the operations answer, as examples in the reference. A test holds each against its schema. */
const MEETING_ID = '3f2b8c1d-6a4e-4f0b-9d27-8e5c1a7b9f03'
const PROPOSAL_ID = '0f4a1c2e-93b7-4d55-8a61-2b7c9d3e5f10'
const ADA_ID = '7c1e5a52-2d6f-4c1e-9d0e-3a8f6b1c2d4e'
const BEN_ID = '1d9f3b60-5a2c-4c77-8a0b-6e4d2f1c0b9a'
const REPAIR_ID = 'b1f0a9d4-5d0b-4a37-8f0e-0c3f6f0e9a12'
const EXCEPTION_ID = '5b0c6c0e-8f0d-4b0a-9a53-6f2d1f1f7a11'
const CONNECTION_ID = '7d0f7a3e-6c0f-4a57-9b0e-3c8e5b1d2f64'
const ENDPOINT_ID = '0d1c52f4-7a35-4d1c-8a59-2f6c1b0f3e77'
const CURSOR = 'WyIyMDI3LTAzLTEyVDA4OjAwOjAwWiJd'

/** It was opened in revision 1 and told its last missing part in revision 2. */
const head = (state: object, revision = 2) => ({ id: MEETING_ID, revision, state })
const gathering = head({ type: 'gathering' })

const meeting = {
  ...head({ type: 'awaiting_approval', proposalId: PROPOSAL_ID }),
  intent: {
    purpose: 'Contract review',
    durationMinutes: 60,
    timeZone: 'Europe/Berlin',
    window: { from: '2027-03-29T00:00', to: '2027-04-03T00:00' },
    bookBy: '2027-03-28T12:00:00Z',
    organizer: { address: 'ada@example.com', calendarConnectionId: CONNECTION_ID },
    participants: [
      {
        displayName: 'Ada Lovelace',
        address: 'ada@example.com',
        role: 'required',
        calendarConnectionId: CONNECTION_ID,
      },
      { displayName: 'Ben Carter', address: 'ben@example.com', role: 'required' },
    ],
    approval: { type: 'organizer' },
    conference: false,
    disclosure: 'time_only',
    outreach: { messagesMax: 3, spacingHours: 24, quietHours: { startsAt: '20:00', endsAt: '08:00' } },
  },
  participants: [
    { id: ADA_ID, displayName: 'Ada Lovelace', address: 'ada@example.com', role: 'required', messages: 0 },
    { id: BEN_ID, displayName: 'Ben Carter', address: 'ben@example.com', role: 'required', messages: 1 },
  ],
  proposal: {
    id: PROPOSAL_ID,
    start: '2027-03-30T08:00:00.000Z',
    end: '2027-03-30T09:00:00.000Z',
    optionalAttending: [],
    optionalMissing: [],
    ranking: [],
    alternatives: [],
  },
  exceptions: [],
  repairs: [],
}

const repair = {
  id: REPAIR_ID,
  meetingId: MEETING_ID,
  code: 'address_refused',
  owner: 'organizer',
  facts: { participantIds: [BEN_ID] },
  choices: ['correct_address', 'substitute_person', 'cancel_meeting'],
  state: 'open',
  openedAt: '2027-03-12T08:00:00.000Z',
}

const exception = {
  id: EXCEPTION_ID,
  meetingId: MEETING_ID,
  code: 'organizer_calendar_missing',
  path: ['organizer'],
  answeredBy: ['address', 'calendarConnectionId'],
  owner: 'requester',
  state: 'open',
  openedAt: '2027-03-12T08:00:00.000Z',
  lapsesAt: '2027-03-28T12:00:00.000Z',
}

const endpoint = {
  id: ENDPOINT_ID,
  url: 'https://client.example/hook',
  state: 'active',
  createdAt: '2027-03-01T08:00:00.000Z',
}

/** By operation. */
export const answerExamples: Readonly<Record<string, unknown>> = {
  openMeeting: head({ type: 'incomplete' }, 1),
  viewMeeting: meeting,
  listMeetings: {
    meetings: [
      {
        id: MEETING_ID,
        revision: 2,
        state: 'awaiting_approval',
        purpose: 'Contract review',
        createdAt: '2027-03-12T08:00:00.000Z',
        changedAt: '2027-03-12T08:04:00.000Z',
      },
    ],
    nextCursor: CURSOR,
  },
  approveProposal: head({ type: 'booking', proposalId: PROPOSAL_ID }),
  cancelMeeting: head({ type: 'cancelling', proposalId: PROPOSAL_ID }),
  rescheduleMeeting: head({ type: 'gathering' }, 3),
  withdrawChange: head({ type: 'confirmed', proposalId: PROPOSAL_ID }, 4),
  connectParticipant: head({ type: 'gathering' }, 3),
  resolveException: gathering,
  resolveRepair: gathering,
  listExceptions: { exceptions: [exception] },
  viewException: exception,
  listRepairs: { repairs: [repair] },
  viewRepair: repair,
  connectCalendar: { id: CONNECTION_ID },
  listCalendarConnections: {
    connections: [
      {
        id: CONNECTION_ID,
        provider: 'google',
        address: 'ada@example.com',
        state: 'active',
        createdAt: '2027-03-01T08:00:00.000Z',
      },
    ],
  },
  addWebhookEndpoint: { id: ENDPOINT_ID },
  listWebhookEndpoints: { endpoints: [endpoint] },
  disableWebhookEndpoint: { ...endpoint, state: 'disabled' },
  receiveMail: { type: 'read', meetingId: MEETING_ID, isClear: true },
}
