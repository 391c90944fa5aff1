import { defineAction } from '@aftercommit/outbox'
import { z } from 'zod'
import { EndpointId, MeetingId, ParticipantId, ProposalId } from './ids.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const subject = ({ meetingId }: { meetingId: MeetingId }) => ({ type: 'meeting', id: meetingId })
const meetingKey = ({ meetingId }: { meetingId: MeetingId }) => `meeting:${meetingId}`
const patient = { baseMs: 2 * SECOND, maxMs: 10 * MINUTE }

export const clientEvents = [
  'proposal.awaiting_approval',
  'meeting.confirmed',
  'meeting.no_overlap',
  'meeting.lapsed',
  'exception.opened',
  'repair.opened',
] as const
export type ClientEvent = (typeof clientEvents)[number]

/**
 * Everything scheduling may ask of the world. Payloads are references: no name, address or text travels in a row.
 * Attempts are bounded so that at the mean backoff the time bound ends a row, and a burst of quick failures does not.
 */
export const schedulingActions = {
  /** A calendar was connected for this person: read when they are busy. */
  readAvailability: defineAction({
    name: 'scheduling.read_availability',
    payload: z.object({ meetingId: MeetingId, participantId: ParticipantId, round: z.int() }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    subject,
    identity: ({ participantId, round }) => `${participantId}:${round}`,
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 40,
    elapsedMaxMs: 2 * HOUR,
    backoff: patient,
    repairOwner: 'calendar_owner',
  }),
  /** All evidence of a round is in: look for a time. Calls nobody. */
  findTime: defineAction({
    name: 'scheduling.find_time',
    payload: z.object({ meetingId: MeetingId, round: z.int() }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'decide',
    subject,
    identity: ({ meetingId, round }) => `${meetingId}:${round}`,
    orderingKey: meetingKey,
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 5,
    elapsedMaxMs: HOUR,
    backoff: { baseMs: SECOND, maxMs: MINUTE },
    repairOwner: 'operations',
  }),
  /** An approved proposal: write exactly this event into the organizer's calendar. */
  writeEvent: defineAction({
    name: 'scheduling.write_event',
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    subject,
    identity: ({ proposalId }) => proposalId,
    orderingKey: meetingKey,
    repeat: 'reconcile_first',
    onPredecessorDead: 'hold',
    leaseMs: MINUTE,
    attemptsMax: 85,
    elapsedMaxMs: 6 * HOUR,
    backoff: patient,
    repairOwner: 'organizer',
    reconcile: { graceMs: 30 * SECOND, attemptsMax: 85, elapsedMaxMs: 6 * HOUR, backoff: patient },
  }),
  /** The event was written: read it back and hold it against what was approved. */
  readBackEvent: defineAction({
    name: 'scheduling.read_back_event',
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    subject,
    identity: ({ proposalId }) => proposalId,
    orderingKey: meetingKey,
    repeat: 'safe',
    onPredecessorDead: 'hold',
    leaseMs: MINUTE,
    attemptsMax: 60,
    elapsedMaxMs: 2 * HOUR,
    backoff: { baseMs: SECOND, maxMs: 5 * MINUTE },
    repairOwner: 'organizer',
  }),
  /** The booking deadline has come: a meeting that is not approved by then lapses. Calls nobody. */
  reachDeadline: defineAction({
    name: 'scheduling.reach_deadline',
    payload: z.object({
      meetingId: MeetingId,
      /** The round from which an approved meeting waits again; absent for its first wait. */
      round: z.int().optional(),
    }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'decide',
    subject,
    identity: ({ meetingId, round }) => (round === undefined ? meetingId : `${meetingId}:${round}`),
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 20,
    elapsedMaxMs: 72 * HOUR,
    backoff: { baseMs: SECOND, maxMs: HOUR },
    repairOwner: 'operations',
  }),
  /** Tell the client's own system. Unordered: each message names the meeting and the occasion, and the client reads where it stands. */
  notifyClient: defineAction({
    name: 'scheduling.notify_client',
    payload: z.object({
      meetingId: MeetingId,
      endpointId: EndpointId,
      event: z.enum(clientEvents),
      /** What the event is about (a proposal, a repair, a completion), so that each is told once. */
      occasionId: z.uuid(),
    }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'webhook',
    subject,
    identity: ({ endpointId, event, occasionId }) => `${endpointId}:${event}:${occasionId}`,
    // Standard Webhooks: the receiver dedupes by webhook-id, which is the same on every attempt.
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 30,
    elapsedMaxMs: 72 * HOUR,
    backoff: { baseMs: 5 * SECOND, maxMs: 10 * HOUR },
    repairOwner: 'client_integration',
  }),
} as const
