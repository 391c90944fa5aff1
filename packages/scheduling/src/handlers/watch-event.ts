import { done, go, handlerOf, type Attempt, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { EventRef, ProviderEvent } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import { driftOf, type Drift } from '../drift.ts'
import { settledProposalOf } from '../ending.ts'
import type { Fault, Participant } from '../meeting.ts'
import { openRepairNow } from '../repairing.ts'
import { dropChange } from '../rescheduling.ts'
import { lockMeeting, readEvent, readMeeting, readParticipants, saveMeeting } from '../store.ts'
import { loadTarget, type Target } from './booking.ts'
import { callContext, deadOutOfReach, outcomeOfFailedRead, type World } from './world.ts'

interface Plan extends Target {
  readonly ref: EventRef
  readonly participants: readonly Participant[]
}

/** Looks at a booked event again, and names what people did to it. */
export const watchEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.watchEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || settledProposalOf(meeting) !== payload.proposalId) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      const target = await loadTarget(world, tx, payload)
      if (target.type === 'out_of_reach') return deadOutOfReach(target)
      const event = await readEvent(tx, payload.proposalId)
      if (!event) throw new Error('a confirmed meeting has no event')
      const { calendarAddress, eventId } = event
      const participants = await readParticipants(tx, meeting.id)
      return go<Plan>({ ...target, ref: { calendarAddress, eventId }, participants })
    },

    perform: async (plan, attempt): Promise<Outcome<Drift>> => {
      const found = await look(world, plan, attempt)
      return found.type === 'looked' ? done(driftOf(plan.draft, found.event, plan.participants)) : found
    },

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const fault = outcome.type === 'done' ? faultOf(outcome.facts) : lookFailed(outcome)
      if (!fault) return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      const { proposalId } = payload
      if (!meeting || settledProposalOf(meeting) !== proposalId) return []
      const isSought = meeting.state.type !== 'confirmed'
      if (isSought && !(outcome.type === 'done' && endsChange(outcome.facts))) return []
      const standing = isSought ? await dropChange(tx, meeting, proposalId) : meeting
      const change = await openRepairNow(tx, standing, { ...fault, proposalId })
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

/**
 * Whether a change that is sought has nothing to change any more. Anything else the change itself may settle: it asks
 * everybody anew, and writes the whole event. What it does not settle, the looks after it find.
 */
const endsChange = ({ type }: Drift): boolean => type === 'gone' || type === 'moved'

type Looked =
  | { readonly type: 'looked'; readonly event: ProviderEvent | undefined }
  | Exclude<Outcome<never>, { type: 'done' }>

/** One 404 is not believed: only when a search by our identity finds nothing either is the event gone. */
const look = async (world: World, { calendar, draft, ref }: Plan, attempt: Attempt): Promise<Looked> => {
  const context = callContext(world, attempt)
  const read = await calendar.readEvent(ref, context)
  if (read.type === 'found') return { type: 'looked', event: read.event }
  if (read.type !== 'not_found') return outcomeOfFailedRead(read)
  const found = await calendar.findEvents(ref.calendarAddress, draft.operationId, context)
  if (found.type !== 'read') return outcomeOfFailedRead(found)
  return { type: 'looked', event: found.events.find(({ status }) => status !== 'cancelled') }
}

const faultOf = (drift: Drift): Fault | undefined => {
  switch (drift.type) {
    case 'none':
      return undefined
    case 'gone':
      return { code: 'event_gone', owner: 'organizer', facts: {} }
    case 'moved':
      return {
        code: 'event_moved',
        owner: 'organizer',
        facts: { start: drift.start.toISOString(), end: drift.end.toISOString() },
      }
    case 'declined':
      return {
        code: 'participant_declined',
        owner: 'organizer',
        facts: { participantIds: drift.participantIds },
      }
    case 'changed':
      return { code: 'event_differs', owner: 'organizer', facts: { fields: drift.fields } }
  }
}

/** A meeting that cannot be looked at may be gone: somebody is told, rather than nobody. */
const lookFailed = ({ code, owner }: { readonly code: string; readonly owner: string }): Fault => ({
  code: 'event_unreadable',
  owner,
  facts: { because: code },
})
