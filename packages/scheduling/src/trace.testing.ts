/** Entries of every kind, for tests of how they are ordered and told. */
import { randomUUID } from 'node:crypto'
import { MeetingId } from './ids.ts'
import type { MeetingTrace } from './trace.ts'
import type { EntryOf, TraceEntry } from './trace-entries.ts'

export const at = (seconds: number): string =>
  new Date(Date.UTC(2027, 2, 1, 9) + seconds * 1_000).toISOString()

export const person = randomUUID()
export const proposalId = randomUUID()
export const replicaId = randomUUID()

const action = {
  actionId: '1',
  action: 'scheduling.read_availability',
  kind: 'effect',
  about: { participantId: person, round: 1 },
} as const
const ids = { repairId: randomUUID(), exceptionId: randomUUID(), evidenceId: randomUUID() }
const slot = { start: at(3_600), end: at(7_200) }

/** One entry of each kind there is. */
export const entryByType: { readonly [Type in TraceEntry['type']]: EntryOf<Type> } = {
  meeting_opened: { type: 'meeting_opened', at: at(0), revision: 1, instructed: true },
  exception_opened: {
    type: 'exception_opened',
    at: at(0),
    exceptionId: ids.exceptionId,
    code: 'zone_missing',
    owner: 'requester',
    lapsesAt: at(90),
  },
  exception_ended: {
    type: 'exception_ended',
    at: at(1),
    exceptionId: ids.exceptionId,
    code: 'zone_missing',
    state: 'resolved',
  },
  action_enqueued: { type: 'action_enqueued', at: at(1), ...action },
  attempt: {
    type: 'attempt',
    at: at(3),
    ...action,
    attempt: 1,
    replicaId,
    claimedAt: at(2),
    startedAt: at(2),
    outcome: 'retrying',
    code: 'calendar_internal',
    durationMs: 1_000,
    calls: [
      {
        provider: 'google',
        operation: 'freebusy.query',
        startedAt: at(2),
        durationMs: 120,
        status: 200,
        outcome: 'read',
        requestId: 'r1',
      },
    ],
  },
  unknown_resolved: {
    type: 'unknown_resolved',
    at: at(4),
    ...action,
    action: 'scheduling.write_event',
    outcome: 'succeeded',
    code: null,
  },
  action_ended: {
    type: 'action_ended',
    at: at(5),
    ...action,
    outcome: 'dead',
    code: 'grant_revoked',
    attempts: 3,
    owner: 'calendar_owner',
  },
  evidence: {
    type: 'evidence',
    at: at(5),
    evidenceId: ids.evidenceId,
    participantId: person,
    round: 1,
    source: 'google',
    learned: 'known',
    retrievedAt: at(2),
    expiresAt: at(900),
  },
  proposal: {
    type: 'proposal',
    at: at(6),
    proposalId,
    round: 1,
    ...slot,
    evidenceIds: [ids.evidenceId],
    grounds: { optionalAttending: [], optionalMissing: [], ranking: [], alternatives: [] },
  },
  approval: { type: 'approval', at: at(7), proposalId, authority: 'named_approver' },
  hold_placed: { type: 'hold_placed', at: at(7), proposalId, people: 2 },
  hold_released: {
    type: 'hold_released',
    at: at(8),
    proposalId,
    people: 1,
    placedAt: at(7),
    state: 'gathering',
  },
  decision: {
    type: 'decision',
    at: at(8),
    decision: 'looked_again',
    by: 'rule',
    because: 'slot_taken',
    participantIds: [person],
    revision: 1,
    round: 2,
  },
  event_written: { type: 'event_written', at: at(8), proposalId, provider: 'google', eventId: 'e1' },
  completion_verified: {
    type: 'completion_verified',
    at: at(9),
    proposalId,
    eventId: 'e1',
    checks: ['start', 'end'],
  },
  message_sent: {
    type: 'message_sent',
    at: at(2),
    participantId: person,
    kind: 'invitation',
    round: 1,
    outcome: 'accepted',
  },
  reply_received: { type: 'reply_received', at: at(3), participantId: person, unclear: ['zone'] },
  repair_opened: {
    type: 'repair_opened',
    at: at(9),
    repairId: ids.repairId,
    code: 'event_differs',
    owner: 'organizer',
    participantIds: [person],
  },
  repair_resolved: {
    type: 'repair_resolved',
    at: at(10),
    repairId: ids.repairId,
    code: 'event_differs',
    choice: 'restore',
    authority: 'organizer',
  },
}

/** A confirmed meeting's trace with these entries. */
export const traceOf = (entries: readonly TraceEntry[], more: Partial<MeetingTrace> = {}): MeetingTrace => ({
  ...head,
  entries: [...entries],
  ...more,
})

const head: Omit<MeetingTrace, 'entries'> = {
  meetingId: MeetingId.parse(randomUUID()),
  state: { type: 'no_overlap' },
  revision: 1,
  openedAt: at(0),
  changedAt: at(10),
  round: 1,
  people: [{ id: person, label: 'p1', role: 'required', source: 'google', removed: false }],
  endpoints: [],
  waits: [],
  rounds: [],
  stages: [],
  pending: [],
  next: [],
}
