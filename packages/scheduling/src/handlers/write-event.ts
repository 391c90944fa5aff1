import { randomUUID } from 'node:crypto'
import {
  done,
  go,
  handlerOf,
  type Attempt,
  type Correlation,
  type Outcome,
  type Reconciled,
  type Settled,
} from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { Calendar, EventDraft, InsertAnswer, ProviderEvent } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import type { ConnectionId, MeetingId, ParticipantId, ProposalId } from '../ids.ts'
import {
  eventWritten,
  expectsWriteOf,
  openRepair,
  slotTaken,
  writePending,
  writeUncertain,
  type Change,
  type Meeting,
} from '../meeting.ts'
import {
  insertEvent,
  insertRepair,
  lockMeeting,
  readActiveEndpointIds,
  readApproval,
  readConnections,
  readMeeting,
  readParticipants,
  saveMeeting,
} from '../store.ts'
import { readSlot, type RequiredPerson } from './slot.ts'
import {
  callContext,
  deadOutOfReach,
  outcomeOfFailedRead,
  outcomeOfFailedWrite,
  reachCalendar,
  type OutOfReach,
  type World,
} from './world.ts'

interface Target {
  readonly calendar: Calendar
  readonly draft: EventDraft
}

interface Plan extends Target {
  /** Whose time is checked once more just before writing. */
  readonly required: readonly RequiredPerson[]
  /** Whether an earlier attempt may have left an event behind. */
  readonly triedBefore: boolean
  /** Whose calendar ended the attempt for good. Filled while performing, read by the settle that gets the same plan. */
  readonly blamed: Set<ParticipantId>
}

type Written =
  | { readonly type: 'written'; readonly event: ProviderEvent; readonly at: Date }
  | { readonly type: 'slot_taken'; readonly participantIds: readonly ParticipantId[] }

type Payload = { readonly meetingId: MeetingId; readonly proposalId: ProposalId }

export const writeEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.writeEvent, {
    prepare: async (tx, { payload, attempts }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      if (tx.now.getTime() > Date.parse(meeting.intent.bookBy)) {
        return { type: 'dead', class: 'stale', code: 'booking_deadline_passed' }
      }
      const target = await loadTarget(world, tx, payload)
      if (target.type === 'out_of_reach') return deadOutOfReach(target)
      if (target.draft.start <= tx.now) return { type: 'dead', class: 'stale', code: 'slot_passed' }
      const required = await requiredCalendars(world, tx, payload.meetingId)
      return go<Plan>({ ...target, required, triedBefore: attempts > 0, blamed: new Set() })
    },

    perform: async (plan, attempt): Promise<Outcome<Written>> => {
      const refusal = await whyNot(world, plan, attempt)
      if (refusal) return refusal
      const answer = await plan.calendar.insertEvent(plan.draft, callContext(world, attempt))
      return outcomeOfInsert(answer, attempt)
    },

    reconcile: {
      load: (tx, { payload }) => loadTarget(world, tx, payload),
      ask: async (target, correlation, attempt): Promise<Reconciled<Written>> => {
        // What may have been written cannot be looked for: a person must, and is told why.
        if (target.type === 'out_of_reach') return { type: 'conflicting', code: target.code }
        return afterRefusal(await lookFor(world, target, attempt), correlation)
      },
    },

    settle: async (tx, { payload }, outcome, plan) => {
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) return []
      const change = await changeOf(tx, meeting, payload.proposalId, outcome, [...(plan?.blamed ?? [])])
      if (!change) return []
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

const changeOf = async (
  tx: Tx,
  meeting: Meeting,
  proposalId: ProposalId,
  outcome: Settled<Written>,
  participantIds: readonly ParticipantId[],
): Promise<Change | undefined> => {
  switch (outcome.type) {
    case 'done': {
      const { facts } = outcome
      if (facts.type === 'slot_taken') return slotTaken(meeting, await readParticipants(tx, meeting.id))
      const { provider, calendarAddress, eventId, icalUid } = facts.event
      const event = { proposalId, provider, calendarAddress, eventId, icalUid, writtenAt: facts.at }
      await insertEvent(tx, meeting.id, event)
      return eventWritten(meeting, proposalId)
    }
    case 'unknown':
      return writeUncertain(meeting, proposalId)
    case 'retrying':
    case 'throttled':
      return writePending(meeting, proposalId)
    case 'dead': {
      const { code, owner } = outcome
      const blamed = participantIds.length > 0 && { participantIds }
      const fault = { code, owner, facts: { proposalId, class: outcome.class, ...blamed } }
      const change = openRepair(meeting, await readActiveEndpointIds(tx), fault, randomUUID)
      await insertRepair(tx, meeting.id, change.repair)
      return change
    }
    case 'suppressed':
    case 'obsolete':
      return undefined
  }
}

const loadTarget = async (
  world: World,
  tx: Tx,
  { meetingId, proposalId }: Payload,
): Promise<(Target & { readonly type: 'in_reach' }) | OutOfReach> => {
  const meeting = await readMeeting(tx, meetingId)
  const approval = await readApproval(tx, proposalId)
  if (!meeting || !approval) throw new Error('a write was enqueued without an approval')
  const id: ConnectionId = meeting.intent.organizer.calendarConnectionId
  const access = reachCalendar(world, tx.tenantId, (await readConnections(tx, [id])).get(id))
  if (access.type === 'out_of_reach') return access
  return { type: 'in_reach', calendar: access.calendar, draft: approval.draft }
}

const requiredCalendars = async (
  world: World,
  tx: Tx,
  meetingId: MeetingId,
): Promise<readonly RequiredPerson[]> => {
  const people = (await readParticipants(tx, meetingId)).filter(({ role }) => role === 'required')
  const ids = people.flatMap(({ connectionId }) => (connectionId === undefined ? [] : [connectionId]))
  const connections = await readConnections(tx, ids)
  return people.flatMap(({ id, connectionId }) =>
    connectionId === undefined
      ? []
      : [
          {
            participantId: id,
            access: reachCalendar(world, tx.tenantId, connections.get(connectionId)),
          },
        ],
  )
}

/** Why nothing may be written now, or undefined when the slot is still everybody's. */
const whyNot = async (world: World, plan: Plan, attempt: Attempt): Promise<Outcome<Written> | undefined> => {
  const slot = await readSlot(world, plan.required, plan.draft, attempt)
  switch (slot.type) {
    case 'free':
      return undefined
    case 'taken':
      return plan.triedBefore
        ? takenByOurselves(world, plan, slot.participantIds, attempt)
        : done({ type: 'slot_taken', participantIds: slot.participantIds })
    case 'failed':
      if (slot.outcome.type === 'dead') plan.blamed.add(slot.participantId)
      return slot.outcome
  }
}

/**
 * The slot was free when it was approved, and an earlier attempt may have filled it: a provider can show an event as
 * busy time before its lists show it. What is ours is no reason to look for another time.
 */
const takenByOurselves = async (
  world: World,
  plan: Plan,
  taken: readonly ParticipantId[],
  attempt: Attempt,
): Promise<Outcome<Written>> => {
  const found = await lookFor(world, plan, attempt)
  switch (found.type) {
    case 'found':
      return done(found.facts)
    case 'conflicting':
      return { type: 'dead', class: 'uncertain', code: found.code }
    case 'absent':
      return done({ type: 'slot_taken', participantIds: taken })
    case 'retry':
    case 'throttled':
      return found
  }
}

const outcomeOfInsert = (answer: InsertAnswer, attempt: Attempt): Outcome<Written> => {
  switch (answer.type) {
    case 'written':
      return done({ type: 'written', event: answer.event, at: attempt.now })
    case 'already_exists':
      // By an earlier attempt of ours, or by something that used the id up: only a read tells which.
      return { type: 'unknown', code: 'already_exists', correlation: {} }
    case 'not_sent':
    case 'refused':
    case 'throttled':
    case 'uncertain':
    case 'malformed':
      return outcomeOfFailedWrite(answer)
  }
}

/** Asks the provider for the events that carry our identity. */
const lookFor = async (
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

/**
 * Exchange refuses an attendee's address and has been seen to keep the event all the same (msgraph-sdk-php#280). Either
 * way somebody who was approved cannot be invited: an event that exists is no meeting, and one that does not would only
 * be refused again.
 */
const afterRefusal = (found: Reconciled<Written>, { claimed }: Correlation): Reconciled<Written> => {
  if (claimed !== 'invalid_attendee') return found
  if (found.type === 'found') return { type: 'conflicting', code: claimed }
  if (found.type !== 'absent') return found
  return { ...found, verdict: { class: 'validation', code: claimed, owner: 'organizer' } }
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
  if (!unchanged) return { type: 'conflicting', code: 'event_changed' }
  return { type: 'found', facts: { type: 'written', event, at: attempt.now } }
}
