import { defineAction } from '@aftercommit/outbox'
import { z } from 'zod'
import { EndpointId, MeetingId, ParticipantId, ProposalId } from './ids.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const subject = ({ meetingId }: { meetingId: MeetingId }) => ({ type: 'meeting', id: meetingId })
const meetingKey = ({ meetingId }: { meetingId: MeetingId }) => `meeting:${meetingId}`
/**
 * Microsoft lets an application make 4 requests at a time of one mailbox ("MailboxConcurrency" in Graph's throttling limits);
 * whether per mailbox or for all of them its pages do not agree on. Half of it leaves room for the looks at guests' calendars,
 * which are made by other rows. Google counts per minute and user, and two at a time are far from its 600.
 */
const CALENDAR_CONCURRENCY_MAX = 2
const patient = { baseMs: 2 * SECOND, maxMs: 10 * MINUTE }

export const clientEvents = [
  'proposal.awaiting_approval',
  'meeting.confirmed',
  'meeting.rescheduled',
  'meeting.reschedule_lapsed',
  'meeting.cancelled',
  'meeting.no_overlap',
  'meeting.lapsed',
  'exception.opened',
  'repair.opened',
] as const
export type ClientEvent = (typeof clientEvents)[number]

/** What a mail can be about; each has a template of its own. The first two are repeated by a human cadence. */
export const askKinds = ['invitation', 'reminder'] as const
export const noticeKinds = ['confirm_reading', 'clarification', 'withdrawn', 'approval_request'] as const

/** When a booked event is looked at again, to notice what people did to it at the provider. */
export const looks = ['after_booking', 'day_before', 'hour_before'] as const
export type Look = (typeof looks)[number]

const occasion = { occasionId: z.uuid().optional() }
const perOccasion = ({
  proposalId,
  occasionId,
}: {
  proposalId: ProposalId
  occasionId?: string | undefined
}) => (occasionId === undefined ? proposalId : `${proposalId}:${occasionId}`)

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
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
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
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: ({ proposalId }) => proposalId,
    orderingKey: meetingKey,
    repeat: 'reconcile_first',
    // Nothing is approved while a meeting is in repair, and what a dead write may have left goes first under the same key.
    onPredecessorDead: 'run',
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
    /** The occasion names a look that a person asked for; the first one has none. */
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId, ...occasion }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: perOccasion,
    orderingKey: meetingKey,
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 60,
    elapsedMaxMs: 2 * HOUR,
    backoff: { baseMs: SECOND, maxMs: 5 * MINUTE },
    repairOwner: 'organizer',
  }),
  /** An approved change: make the event that stands hold what was approved now. */
  changeEvent: defineAction({
    name: 'scheduling.change_event',
    /** The occasion names a repair by which a person wants the event put back as it was approved. */
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId, ...occasion }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: perOccasion,
    orderingKey: meetingKey,
    repeat: 'reconcile_first',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 85,
    elapsedMaxMs: 6 * HOUR,
    backoff: patient,
    repairOwner: 'organizer',
    reconcile: { graceMs: 30 * SECOND, attemptsMax: 85, elapsedMaxMs: 6 * HOUR, backoff: patient },
  }),
  /** Take away what stands at the provider under a proposal: for a cancelled meeting, or before it is booked anew. */
  cancelEvent: defineAction({
    name: 'scheduling.cancel_event',
    payload: z.object({
      meetingId: MeetingId,
      proposalId: ProposalId,
      occasionId: z.uuid(),
      /** Of several events the one that agrees with what was approved stays. */
      keepOne: z.boolean().default(false),
      /** Until then a write without an answer may still come to light, and absence proves nothing. */
      sureAt: z.iso.datetime().optional(),
    }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: perOccasion,
    orderingKey: meetingKey,
    // An event that is gone already counts as cancelled.
    repeat: 'safe',
    // What may have been left behind by a write that died is just what has to go.
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 85,
    elapsedMaxMs: 6 * HOUR,
    backoff: patient,
    repairOwner: 'organizer',
  }),
  /** Later, look once more for an event of a write that was given up without an answer, and cancel what has come to light. */
  sweepEvent: defineAction({
    name: 'scheduling.sweep_event',
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: ({ proposalId }) => proposalId,
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 85,
    elapsedMaxMs: 6 * HOUR,
    backoff: patient,
    repairOwner: 'organizer',
  }),
  /** A booked event is looked at again: has anybody declined, moved, changed or deleted it? */
  watchEvent: defineAction({
    name: 'scheduling.watch_event',
    /** The occasion names the proof of which these looks are, when it was not the first one. */
    payload: z.object({ meetingId: MeetingId, proposalId: ProposalId, look: z.enum(looks), ...occasion }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'calendar',
    accountConcurrencyMax: CALENDAR_CONCURRENCY_MAX,
    subject,
    identity: (payload) => `${perOccasion(payload)}:${payload.look}`,
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 40,
    elapsedMaxMs: 2 * HOUR,
    backoff: patient,
    repairOwner: 'organizer',
  }),
  /** Ask a person without a readable calendar when they can, by mail. */
  askParticipant: defineAction({
    name: 'scheduling.ask_participant',
    payload: z.object({
      meetingId: MeetingId,
      participantId: ParticipantId,
      participantRevision: z.int(),
      round: z.int(),
      /** 1 is the invitation; what follows are reminders, and one more than allowed ends the asking. */
      number: z.int(),
    }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'mail',
    subject,
    identity: ({ participantId, participantRevision, round, number }) =>
      `${participantId}:${participantRevision}:${round}:${number}`,
    // A mail server cannot be asked. A second copy is worse than a missing one, for the reminder comes anyway.
    repeat: 'give_up',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 60,
    elapsedMaxMs: 24 * HOUR,
    backoff: patient,
    repairOwner: 'operations',
  }),
  /** Tell one person something by mail, once. */
  sendNotice: defineAction({
    name: 'scheduling.send_notice',
    payload: z.object({
      meetingId: MeetingId,
      kind: z.enum(noticeKinds),
      /** Absent: the approver. */
      participantId: ParticipantId.optional(),
      /** What it is about: a reply that was read, a proposal, a cancellation. */
      occasionId: z.uuid(),
    }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'mail',
    subject,
    identity: ({ kind, participantId, occasionId }) => `${kind}:${participantId ?? 'approver'}:${occasionId}`,
    // Nobody reminds of these: a second copy is better than none.
    repeat: 'resend',
    onPredecessorDead: 'run',
    leaseMs: MINUTE,
    attemptsMax: 60,
    elapsedMaxMs: 24 * HOUR,
    backoff: patient,
    repairOwner: 'operations',
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
