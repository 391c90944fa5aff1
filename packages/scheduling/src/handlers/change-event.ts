import { done, go, handlerOf, type Attempt, type Outcome, type Reconciled } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { EventDraft, EventRef, ProviderEvent, UpdateAnswer } from '@aftercommit/providers/calendar'
import { schedulingActions } from '../actions.ts'
import { expectsWriteOf } from '../booking.ts'
import { verify, type CheckedField } from '../completion.ts'
import type { MeetingId, ParticipantId, ProposalId } from '../ids.ts'
import { lockMeeting, readApproval, readEvent, readMeeting, saveMeeting } from '../store.ts'
import {
  afterRefusal,
  bookingChange,
  isOfAnother,
  loadTarget,
  requiredCalendars,
  type Target,
  type Written,
} from './booking.ts'
import { readSlot, type RequiredPerson } from './slot.ts'
import {
  callContext,
  deadOutOfReach,
  outcomeOfFailedRead,
  outcomeOfFailedWrite,
  type World,
} from './world.ts'

interface Plan extends Target {
  readonly ref: EventRef
  /** What the event holds if nobody has touched it; undefined when it is to be put right whatever it holds. */
  readonly before: EventDraft | undefined
  readonly required: readonly RequiredPerson[]
  readonly blamed: Set<ParticipantId>
}

/** Makes the event that stands hold what was approved. It is read first: what somebody else made of it is not overwritten. */
export const changeEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.changeEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      const { standingProposalId = payload.proposalId } = meeting
      // What was confirmed once is only put back; a change that was never made is a booking like any other.
      const restoring = payload.occasionId !== undefined && standingProposalId === payload.proposalId
      if (!restoring && tx.now.getTime() > Date.parse(meeting.intent.bookBy)) {
        return { type: 'dead', class: 'stale', code: 'booking_deadline_passed' }
      }
      const target = await loadChange(world, tx, payload)
      if (target.type === 'out_of_reach') return deadOutOfReach(target)
      if (target.draft.start <= tx.now) return { type: 'dead', class: 'stale', code: 'slot_passed' }
      const required = restoring ? [] : await requiredCalendars(world, tx, meeting)
      return go<Plan>({ ...target, required, blamed: new Set() })
    },

    perform: async (plan, attempt): Promise<Outcome<Written>> => {
      const read = await plan.calendar.readEvent(plan.ref, callContext(world, attempt))
      if (read.type === 'not_found') return { type: 'dead', class: 'stale', code: 'event_gone' }
      if (read.type !== 'found') return outcomeOfFailedRead(read)
      const judged = judgeChange(plan, read.event)
      switch (judged) {
        case 'changed_already':
          return done({ type: 'written', event: read.event, at: attempt.now })
        case 'event_gone':
        case 'event_changed':
          return { type: 'dead', class: 'stale', code: judged }
        case 'as_before':
          return change(world, plan, read.event, attempt)
      }
    },

    reconcile: {
      load: (tx, { payload }) => loadChange(world, tx, payload),
      ask: async (target, correlation, attempt): Promise<Reconciled<Written>> => {
        if (target.type === 'out_of_reach') return { type: 'conflicting', code: target.code }
        const read = await target.calendar.readEvent(target.ref, callContext(world, attempt))
        if (read.type === 'not_found') return { type: 'conflicting', code: 'event_gone' }
        if (read.type !== 'found') {
          const failed = outcomeOfFailedRead(read)
          if (failed.type === 'retry' || failed.type === 'throttled') return failed
          return { type: 'conflicting', code: 'code' in failed ? failed.code : failed.type }
        }
        const judged = judgeChange(target, read.event)
        if (judged === 'as_before') return afterRefusal({ type: 'absent' }, correlation)
        if (judged !== 'changed_already') return { type: 'conflicting', code: judged }
        return afterRefusal(
          { type: 'found', facts: { type: 'written', event: read.event, at: attempt.now } },
          correlation,
        )
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

const change = async (
  world: World,
  plan: Plan,
  event: ProviderEvent,
  attempt: Attempt,
): Promise<Outcome<Written>> => {
  const slot = await readSlot(world, plan.required, plan.draft, attempt)
  if (slot.type === 'taken') return done({ type: 'slot_taken', participantIds: slot.participantIds })
  if (slot.type === 'failed') {
    if (slot.outcome.type === 'dead') plan.blamed.add(slot.participantId)
    return slot.outcome
  }
  const { calendar, ref, draft } = plan
  const answer = await calendar.updateEvent(ref, draft, event.etag, callContext(world, attempt))
  return outcomeOfUpdate(answer, attempt)
}

const outcomeOfUpdate = (answer: UpdateAnswer, attempt: Attempt): Outcome<Written> => {
  switch (answer.type) {
    case 'written':
      return done({ type: 'written', event: answer.event, at: attempt.now })
    case 'not_found':
      return { type: 'dead', class: 'stale', code: 'event_gone' }
    case 'stale':
      // Somebody answered the invitation, or changed the event: the next attempt reads which.
      return { type: 'retry', code: 'event_stale' }
    case 'not_sent':
    case 'refused':
    case 'throttled':
    case 'uncertain':
    case 'malformed':
      return outcomeOfFailedWrite(answer)
  }
}

type LoadedChange = Target & Pick<Plan, 'ref' | 'before'> & { readonly type: 'in_reach' }

const loadChange = async (
  world: World,
  tx: Tx,
  payload: {
    readonly meetingId: MeetingId
    readonly proposalId: ProposalId
    readonly occasionId?: string | undefined
  },
): Promise<LoadedChange | Extract<Awaited<ReturnType<typeof loadTarget>>, { type: 'out_of_reach' }>> => {
  const { meetingId, proposalId, occasionId } = payload
  const target = await loadTarget(world, tx, payload)
  if (target.type === 'out_of_reach') return target
  const meeting = await readMeeting(tx, meetingId)
  const standing = meeting?.standingProposalId ?? proposalId
  const event = (await readEvent(tx, proposalId)) ?? (await readEvent(tx, standing))
  const before = occasionId === undefined ? await readApproval(tx, standing) : undefined
  if (!event) throw new Error('a change was enqueued without an event to change')
  const { calendarAddress, eventId } = event
  return { ...target, ref: { calendarAddress, eventId }, before: before?.draft }
}

/** What a change touches; the rest of an event is judged when it is read back. */
const touched: ReadonlySet<CheckedField> = new Set<CheckedField>([
  'title',
  'start',
  'end',
  'required_attendees',
  'optional_attendees',
  'nobody_else',
  'location',
])

const holds = (draft: EventDraft, event: ProviderEvent): boolean => {
  const verdict = verify(draft, event)
  return verdict.type !== 'mismatch' || !verdict.fields.some((field) => touched.has(field))
}

type Judged = 'changed_already' | 'as_before' | 'event_gone' | 'event_changed'

/** An event that stands at another time than it was left at has been moved by somebody, who is asked first. */
const judgeChange = ({ draft, before }: Pick<Plan, 'draft' | 'before'>, event: ProviderEvent): Judged => {
  if (event.status === 'cancelled') return 'event_gone'
  if (isOfAnother(draft, event)) return 'event_changed'
  if (holds(draft, event)) return 'changed_already'
  if (!before) return 'as_before'
  const unmoved =
    event.start?.getTime() === before.start.getTime() && event.end?.getTime() === before.end.getTime()
  return unmoved ? 'as_before' : 'event_changed'
}
