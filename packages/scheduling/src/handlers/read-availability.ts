import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import type { Calendar, CalendarBusy } from '@aftercommit/providers/calendar'
import type { Interval } from '@aftercommit/time'
import { schedulingActions } from '../actions.ts'
import { evidenceExpiresAt, type Evidence } from '../evidence.ts'
import { EvidenceId } from '../ids.ts'
import { windowOf } from '../intent.ts'
import { withBuffers } from '../search.ts'
import { messagesTo } from '../known.ts'
import type { Meeting, Participant } from '../meeting.ts'
import { askAgain, isBeingAsked } from '../round.ts'
import { afterEvidence } from '../gathering.ts'
import {
  insertEvidence,
  lockMeeting,
  markAsked,
  markRevoked,
  readConnections,
  readContacts,
  readMeeting,
  readParticipants,
  saveMeeting,
  type CalendarConnection,
} from '../store.ts'
import {
  callContext,
  deadOutOfReach,
  outcomeOfFailedRead,
  passes,
  reachCalendar,
  type World,
} from './world.ts'

interface Plan {
  readonly connection: CalendarConnection
  readonly calendar: Calendar
  readonly address: string
  readonly window: Interval
}

/** What was learned of one calendar: an empty busy set and an unreadable calendar are kept apart. */
type Learned = CalendarBusy & { readonly retrievedAt: Date }

export const readAvailability = (world: World) =>
  handlerOf<Tx>()(schedulingActions.readAvailability, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'gathering' || meeting.round !== payload.round) {
        return { type: 'obsolete', reason: 'round_over' }
      }
      const people = await readParticipants(tx, meeting.id)
      const person = people.find(({ id }) => id === payload.participantId)
      if (!person) return { type: 'obsolete', reason: 'participant_gone' }
      if (person.connectionId === undefined) return { type: 'obsolete', reason: 'not_connected' }
      const connection = (await readConnections(tx, [person.connectionId])).get(person.connectionId)
      const access = reachCalendar(world, tx.tenantId, connection)
      if (access.type === 'out_of_reach' || !connection) {
        return deadOutOfReach(access.type === 'out_of_reach' ? access : { code: 'grant_revoked' })
      }
      const { calendar, address } = access
      return go<Plan>({
        connection,
        calendar,
        address,
        window: withBuffers(windowOf(meeting.intent), [person]),
      })
    },

    perform: async ({ calendar, address, window }, attempt): Promise<Outcome<Learned>> => {
      const answer = await calendar.readFreeBusy(
        { addresses: [address], window },
        callContext(world, attempt),
      )
      if (answer.type !== 'read') return outcomeOfFailedRead(answer)
      const busy = answer.busyByAddress.get(address)
      if (!busy) return { type: 'retry', code: 'answer_without_calendar' }
      if (busy.type === 'unknown' && passes(busy)) {
        return { type: 'retry', code: `calendar_${busy.reason}` }
      }
      return done({ ...busy, retrievedAt: attempt.now })
    },

    settle: async (tx, { payload }, outcome, plan) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'gathering' || meeting.round !== payload.round) return []
      // A read that ended for good is evidence too: that this person's time is not known.
      const learned: Learned =
        outcome.type === 'done'
          ? outcome.facts
          : { type: 'unknown', reason: 'other', code: outcome.code, retrievedAt: tx.now }
      // Noted for every other meeting, and undone when the calendar is connected again.
      if (outcome.type === 'dead' && outcome.code === 'grant_revoked' && plan) {
        await markRevoked(tx, plan.connection)
      }
      const participants = await readParticipants(tx, meeting.id)
      const person = participants.find(({ id }) => id === payload.participantId)
      if (!person) return []
      const source = plan?.calendar.provider ?? (await providerOf(tx, person))
      await insertEvidence(tx, meeting.id, {
        id: EvidenceId.parse(randomUUID()),
        participantId: payload.participantId,
        round: payload.round,
        source,
        retrievedAt: learned.retrievedAt,
        expiresAt: evidenceExpiresAt(source, learned.retrievedAt),
        ...(learned.type === 'known'
          ? { type: 'known', busy: learned.busy }
          : { type: 'unknown', code: learned.code }),
      })
      const asks = learned.type === 'unknown' ? await askInstead(tx, meeting, person) : []
      const change = await afterEvidence(tx, meeting)
      await saveMeeting(tx, change.meeting)
      return [...asks, ...change.actions]
    },
  })

/** A required person whose calendar does not tell is asked in words, once, if the meeting has the authority to. */
const askInstead = async (tx: Tx, meeting: Meeting, person: Participant) => {
  if (person.role !== 'required') return []
  const sent = messagesTo(meeting, await readContacts(tx, meeting.id))(person)
  const asks = askAgain(meeting, person, sent, tx.now)
  if (asks.length > 0 && !isBeingAsked(meeting, person)) await markAsked(tx, [person.id], meeting.round)
  return asks
}

const providerOf = async (tx: Tx, { connectionId: id }: Participant): Promise<Evidence['source']> => {
  const connection = id && (await readConnections(tx, [id])).get(id)
  if (!connection) throw new Error('a read was enqueued for somebody without a calendar')
  return connection.provider
}
