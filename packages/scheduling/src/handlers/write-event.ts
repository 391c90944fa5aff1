import { done, go, handlerOf, type Attempt, type Outcome, type Reconciled } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { InsertAnswer } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import { expectsWriteOf } from '../booking.ts'
import type { ParticipantId } from '../ids.ts'
import { lockMeeting, readMeeting, saveMeeting } from '../store.ts'
import {
  afterRefusal,
  bookingChange,
  loadTarget,
  lookFor,
  requiredCalendars,
  type Target,
  type Written,
} from './booking.ts'
import { readSlot, type RequiredPerson } from './slot.ts'
import { callContext, deadOutOfReach, outcomeOfFailedWrite, type World } from './world.ts'

interface Plan extends Target {
  /** Whose time is checked once more just before writing. */
  readonly required: readonly RequiredPerson[]
  /** Whether an earlier attempt may have left an event behind. */
  readonly triedBefore: boolean
  /** Whose calendar ended the attempt for good. Filled while performing, read by the settle that gets the same plan. */
  readonly blamed: Set<ParticipantId>
}

export const writeEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.writeEvent, {
    prepare: async (tx, { payload, startedBefore }) => {
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
      const required = await requiredCalendars(world, tx, meeting)
      return go<Plan>({ ...target, required, triedBefore: startedBefore, blamed: new Set() })
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

    settle: async (tx, { payload, startedBefore }, outcome, plan) => {
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) return []
      const change = await bookingChange(tx, meeting, payload, outcome, {
        blamed: [...(plan?.blamed ?? [])],
        triedBefore: startedBefore,
      })
      if (!change) return []
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

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
