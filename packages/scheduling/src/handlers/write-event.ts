import { randomUUID } from 'node:crypto'
import {
  done,
  go,
  handlerOf,
  type Attempt,
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
import { callContext, outcomeOfFailedRead, outcomeOfFailedWrite, type World } from './world.ts'

interface Plan {
  readonly calendar: Calendar
  readonly draft: EventDraft
  /** Whose time is checked once more just before writing. */
  readonly required: readonly {
    readonly participantId: ParticipantId
    readonly address: string
    readonly calendar: Calendar
  }[]
}

type Written =
  | { readonly type: 'written'; readonly event: ProviderEvent; readonly at: Date }
  | { readonly type: 'slot_taken'; readonly participantIds: readonly ParticipantId[] }

type Payload = { readonly meetingId: MeetingId; readonly proposalId: ProposalId }

export const writeEvent = (world: World) =>
  handlerOf<Tx>()(schedulingActions.writeEvent, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) {
        return { type: 'obsolete', reason: 'meeting_moved_on' }
      }
      if (tx.now.getTime() > Date.parse(meeting.intent.bookBy)) {
        return { type: 'dead', class: 'stale', code: 'booking_deadline_passed' }
      }
      const target = await loadTarget(world, tx, payload)
      if (!target) return { type: 'dead', class: 'permission', code: 'grant_revoked' }
      const required = await requiredCalendars(world, tx, payload.meetingId)
      if (!required) return { type: 'dead', class: 'permission', code: 'grant_revoked' }
      return go<Plan>({ ...target, required })
    },

    perform: async (plan, attempt): Promise<Outcome<Written>> => {
      const refusal = await stillFree(world, plan, attempt)
      if (refusal) return refusal
      const answer = await plan.calendar.insertEvent(plan.draft, callContext(world, attempt))
      return outcomeOfInsert(answer, attempt)
    },

    reconcile: {
      load: async (tx, { payload }) => {
        const target = await loadTarget(world, tx, payload)
        if (!target) throw new Error('the approval or the calendar of an unknown write cannot be read')
        return target
      },
      ask: async ({ calendar, draft }, _correlation, attempt): Promise<Reconciled<Written>> => {
        const answer = await calendar.findEvents(
          draft.calendarAddress,
          draft.operationId,
          callContext(world, attempt),
        )
        if (answer.type === 'read') return judge(draft, answer.events, attempt)
        const failed = outcomeOfFailedRead(answer)
        if (failed.type === 'retry' || failed.type === 'throttled') return failed
        return { type: 'retry', code: 'code' in failed ? failed.code : failed.type }
      },
    },

    settle: async (tx, { payload }, outcome) => {
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (!meeting || !expectsWriteOf(meeting, payload.proposalId)) return []
      const change = await changeOf(tx, meeting, payload.proposalId, outcome)
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
      const fault = { code, owner, facts: { proposalId, class: outcome.class } }
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
): Promise<{ calendar: Calendar; draft: EventDraft } | undefined> => {
  const meeting = await readMeeting(tx, meetingId)
  const approval = await readApproval(tx, proposalId)
  if (!meeting || !approval) return undefined
  const id: ConnectionId = meeting.intent.organizer.calendarConnectionId
  const connection = (await readConnections(tx, [id])).get(id)
  if (connection?.state !== 'active') return undefined
  return { calendar: world.calendarOf(tx.tenantId, connection), draft: approval.draft }
}

const requiredCalendars = async (
  world: World,
  tx: Tx,
  meetingId: MeetingId,
): Promise<Plan['required'] | undefined> => {
  const people = (await readParticipants(tx, meetingId)).filter(({ role }) => role === 'required')
  const ids = people.flatMap(({ connectionId }) => (connectionId === undefined ? [] : [connectionId]))
  const connections = await readConnections(tx, ids)
  const required: Plan['required'][number][] = []
  for (const { id, connectionId } of people) {
    if (connectionId === undefined) continue
    const connection = connections.get(connectionId)
    if (connection?.state !== 'active') return undefined
    const calendar = world.calendarOf(tx.tenantId, connection)
    required.push({ participantId: id, address: connection.address, calendar })
  }
  return required
}

/** S8: reads every required person's free/busy once more. Answers why nothing may be written, or undefined. */
const stillFree = async (
  world: World,
  { draft, required }: Plan,
  attempt: Attempt,
): Promise<Outcome<Written> | undefined> => {
  const window = { start: draft.start, end: draft.end }
  const answers = await Promise.all(
    required.map(async ({ participantId, address, calendar }) => ({
      participantId,
      address,
      answer: await calendar.readFreeBusy({ addresses: [address], window }, callContext(world, attempt)),
    })),
  )
  const taken: ParticipantId[] = []
  for (const { participantId, address, answer } of answers) {
    if (answer.type !== 'read') return outcomeOfFailedRead(answer)
    const busy = answer.busyByAddress.get(address)
    if (busy?.type !== 'known') return { type: 'retry', code: 'availability_unknown' }
    if (busy.busy.some(({ start, end }) => start < window.end && end > window.start))
      taken.push(participantId)
  }
  return taken.length > 0 ? done({ type: 'slot_taken', participantIds: taken }) : undefined
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
