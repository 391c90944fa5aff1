import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type Attempt, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { EventRef, ProviderEvent } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import { eventWritten, sweepOf } from '../booking.ts'
import { bookedEventOf, contactedOf } from '../cancellation.ts'
import { bookedProposalOf, cancelledNow } from '../ending.ts'
import { gatherNow } from '../gathering.ts'
import type { ProposalId } from '../ids.ts'
import { deadlineOf, type Change, type Meeting } from '../meeting.ts'
import { nextRound } from '../round.ts'
import { openRepairNow } from '../repairing.ts'
import {
  insertDecision,
  insertEvent,
  lockMeeting,
  markEventsCancelled,
  readActiveEndpointIds,
  readMeeting,
  saveMeeting,
} from '../store.ts'
import { isOfAnother, loadTarget, type Target } from './booking.ts'
import { callContext, deadOutOfReach, outcomeOfFailedRead, type World } from './world.ts'

interface Plan extends Target {
  /** The event as it was once written; it is cancelled by its id even if it no longer carries our identity. */
  readonly known: EventRef | undefined
  readonly keepOne: boolean
  /** Before it, finding nothing proves nothing. Undefined: it proves it now. */
  readonly sureAt: Date | undefined
}

interface Cleared {
  readonly cancelledCount: number
  readonly kept: ProviderEvent | undefined
  readonly at: Date
}

/** Cancels everything that stands under a proposal's identity, and only then lets its meeting go on. */
export const cancelEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.cancelEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || !expectsClearingOf(meeting, payload.proposalId)) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      const target = await loadTarget(world, tx, payload)
      if (target.type === 'out_of_reach') return deadOutOfReach(target)
      const event = await bookedEventOf(tx, meeting, payload.proposalId)
      const known = event && { calendarAddress: event.calendarAddress, eventId: event.eventId }
      const sureAt = payload.sureAt === undefined ? undefined : new Date(payload.sureAt)
      return go<Plan>({ ...target, known, keepOne: payload.keepOne, sureAt })
    },

    perform: (plan, attempt) => clear(world, plan, attempt),

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      const { proposalId } = payload
      if (!meeting || !expectsClearingOf(meeting, proposalId)) return []
      // A meeting that was cancelled meanwhile keeps none: the row behind this one takes the last one away.
      if (payload.keepOne && meeting.state.type === 'cancelling') return []
      const change =
        outcome.type === 'dead'
          ? await openRepairNow(tx, meeting, {
              code: 'cancel_failed',
              owner: outcome.owner,
              facts: { because: outcome.code },
              proposalId,
            })
          : await changeOf(tx, meeting, proposalId, outcome.facts)
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

const expectsClearingOf = ({ state }: Meeting, proposalId: ProposalId): boolean =>
  (state.type === 'cancelling' || state.type === 'clearing') && state.proposalId === proposalId

const changeOf = async (
  tx: Tx,
  meeting: Meeting,
  proposalId: ProposalId,
  { cancelledCount, kept, at }: Cleared,
): Promise<Change> => {
  // A write whose process stood still may take its effect later than anybody waits for.
  const sweep = cancelledCount === 0 && !kept ? [sweepOf(meeting, proposalId, tx.now)] : []
  if (!kept) await markEventsCancelled(tx, meeting.id, at)
  if (meeting.state.type === 'cancelling') {
    // An event's guests are told by its provider. Where there was none, those who were asked are told by us.
    const contacted = cancelledCount === 0 ? await contactedOf(tx, meeting) : []
    const ended = cancelledNow(meeting, await readActiveEndpointIds(tx), contacted, randomUUID)
    return { ...ended, actions: [...ended.actions, ...sweep] }
  }
  if (kept) {
    const { provider, calendarAddress, eventId, icalUid } = kept
    await insertEvent(tx, meeting.id, {
      proposalId,
      provider,
      calendarAddress,
      eventId,
      icalUid,
      writtenAt: at,
    })
    return eventWritten(meeting, proposalId, randomUUID())
  }
  const next = nextRound({ ...meeting, standingProposalId: undefined })
  const gathering = await gatherNow(tx, next)
  const deadline = deadlineOf(next, meeting.intent.bookBy, next.round)
  await insertDecision(tx, next, { type: 'looked_again', by: 'rule', because: 'cleared' })
  return { meeting: gathering.meeting, actions: [...gathering.actions, deadline, ...sweep] }
}

/** Looks later for what an abandoned write may have left. What is found was approved by nobody any more. */
export const sweepEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.sweepEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || bookedProposalOf(meeting) === payload.proposalId) {
        return { type: 'obsolete', reason: 'proposal_stands' }
      }
      const target = await loadTarget(world, tx, payload)
      if (target.type === 'out_of_reach') return deadOutOfReach(target)
      return go<Plan>({ ...target, known: undefined, keepOne: false, sureAt: undefined })
    },
    perform: (plan, attempt) => clear(world, plan, attempt),
  })

const clear = async (world: World, plan: Plan, attempt: Attempt): Promise<Outcome<Cleared>> => {
  const { calendar, draft, known } = plan
  const context = callContext(world, attempt)
  const found = await calendar.findEvents(draft.calendarAddress, draft.operationId, context)
  if (found.type !== 'read') return outcomeOfFailedRead(found)
  const live = found.events.filter(({ status }) => status !== 'cancelled')
  const kept = plan.keepOne ? live.find((event) => standsAsApproved(plan, event)) : undefined
  const ids = new Set(live.map(({ eventId }) => eventId))
  if (known && !ids.has(known.eventId)) {
    const held = await calendar.readEvent(known, context)
    if (held.type !== 'found' && held.type !== 'not_found') return outcomeOfFailedRead(held)
    // It may have lost our identity. One that carries another was never ours, whatever the provider answered once.
    if (held.type !== 'found' || !isOfAnother(draft, held.event)) ids.add(known.eventId)
  }
  if (kept) ids.delete(kept.eventId)
  for (const eventId of ids) {
    const answer = await calendar.cancelEvent({ calendarAddress: draft.calendarAddress, eventId }, context)
    if (answer.type !== 'cancelled' && answer.type !== 'already_gone') return outcomeOfFailedRead(answer)
  }
  const { sureAt } = plan
  const nothingFound = ids.size === 0 && !kept && found.events.length === 0
  if (nothingFound && sureAt && attempt.now < sureAt) {
    return { type: 'retry', code: 'absence_not_sure', afterMs: sureAt.getTime() - attempt.now.getTime() }
  }
  return done({ cancelledCount: ids.size, kept, at: attempt.now })
}

const standsAsApproved = ({ draft }: Target, { start, end }: ProviderEvent): boolean =>
  start?.getTime() === draft.start.getTime() && end?.getTime() === draft.end.getTime()
