/** What the outside world does to us: faults, second copies, late reads, mailboxes that refuse, and hands on events. */
import { randomUUID } from 'node:crypto'
import type { EventAct, FaultAct, FaultSpec } from '@aftercommit/simulator'
import fc from 'fast-check'
import { asked, cast, organizers, type Name } from './cast.testing.ts'
import type { Play } from './play.testing.ts'
import { seenMeeting } from './step.testing.ts'
import { anyIndex, pick, stepOf } from './step.testing.ts'
import { liveEventsOf } from './seen.testing.ts'

const operations = {
  google: [
    'events.insert',
    'events.insert',
    'events.get',
    'events.list',
    'events.patch',
    'events.delete',
    'freebusy.query',
    'token',
  ],
  microsoft: [
    'events.create',
    'events.create',
    'events.get',
    'events.list',
    'events.patch',
    'events.cancel',
    'calendar.getSchedule',
    'token',
  ],
  webhook: ['webhook.deliver'],
  mail: ['smtp.connect', 'smtp.rcpt', 'smtp.send'],
} as const

const peer = fc.constantFrom(
  'google' as const,
  'google' as const,
  'microsoft' as const,
  'mail' as const,
  'webhook' as const,
)

const httpAct: fc.Arbitrary<FaultAct> = fc.constantFrom<FaultAct[]>(
  { type: 'drop', when: 'after_effect' },
  { type: 'drop', when: 'after_effect' },
  { type: 'drop', when: 'before_effect' },
  { type: 'html' },
  { type: 'truncate' },
  { type: 'answer', status: 503, body: 'busy' },
  { type: 'answer', status: 500, body: { error: { code: 500, message: 'Backend Error' } } },
  { type: 'answer', status: 429, body: {}, headers: { 'retry-after': '120' } },
)
const mailAct: fc.Arbitrary<FaultAct> = fc.constantFrom<FaultAct[]>(
  { type: 'drop', when: 'after_effect' },
  { type: 'drop', when: 'before_effect' },
  { type: 'answer', status: 451, body: '4.3.0 try again later' },
)

const fault = peer.chain((provider) =>
  fc.record({
    provider: fc.constant(provider),
    operation: fc.constantFrom<string[]>(...operations[provider]),
    act: provider === 'mail' ? mailAct : httpAct,
    times: fc.integer({ min: 1, max: 2 }),
  }),
)

export const addFault = stepOf({
  name: 'fault',
  draw: fault,
  act: async (play, spec) => {
    // Only our own webhooks: mail that comes in is handed on over HTTP as well, by no part of ours.
    const address = spec.provider === 'webhook' ? { address: play.client.webhookName } : {}
    await play.control.addFault({ id: randomUUID(), ...spec, ...address } satisfies Partial<FaultSpec>)
    return 'set'
  },
})

export const clearFaults = stepOf({
  name: 'faults over',
  draw: fc.constant(null),
  act: async ({ control }) => {
    await control.clearFaults()
    return 'done'
  },
})

export const setConsistency = stepOf({
  name: 'late reads',
  draw: fc.record({
    provider: fc.constantFrom('google' as const, 'microsoft' as const),
    readsMissFor: fc.integer({ min: 0, max: 3 }),
  }),
  act: async ({ control }, setting) => {
    await control.setConsistency(setting)
    return 'set'
  },
})

export const setMailbox = stepOf({
  name: 'mailbox',
  draw: fc.record({
    who: fc.constantFrom(...asked),
    accepts: fc.constantFrom(
      'yes' as const,
      'unknown_user' as const,
      'rejects_content' as const,
      'defers' as const,
    ),
  }),
  act: async ({ control }, { who, accepts }) => {
    await control.putMailboxSettings(cast[who].address, { accepts })
    return 'set'
  },
})

export const refuseInvitation = stepOf({
  name: 'uninvitable',
  draw: fc.record({
    who: fc.constantFrom('ben' as const, 'chen' as const, 'dora' as const),
    invitable: fc.boolean(),
  }),
  act: async (play, { who, invitable }: { who: Name; invitable: boolean }) => {
    await play.putPerson(who, { invitable })
    return 'set'
  },
})

/** Meetings get their conferences, get none, or wait for them for ever. */
export const setConferences = stepOf({
  name: 'conferences',
  draw: fc.constantFrom(true, false, 'pending' as const),
  act: async (play, onlineMeetings) => {
    await Promise.all(organizers.map((who) => play.putPerson(who, { onlineMeetings })))
    return 'set'
  },
})

const eventActs = [
  'delete',
  'move',
  'move_onto',
  'rename',
  'place',
  'add_attendee',
  'remove_attendee',
  'decline',
  'accept',
] as const
type HandDrawn = (typeof eventActs)[number]
export const hands = fc.constantFrom(...eventActs)

const HOUR_MS = 3_600_000

/** Somebody's hands on an event of ours, behind our back. */
export const touchEvent = stepOf({
  name: 'hand',
  draw: fc.record({ index: anyIndex, act: hands }),
  act: async (play, { index, act }) => {
    const meeting = pick(play.known.meetings, index, (each) => liveEventsOf(play.seen, each.id).length > 0)
    const [event] = meeting ? liveEventsOf(play.seen, meeting.id) : []
    if (!meeting || !event) return undefined
    const done = await layHands(play, event, act, play.turn)
    return done && `#${meeting.number} ${done}`
  },
})

/** What came of it, or nothing where it cannot be done. `turn` is the last one of which a proof can be older. */
export const layHands = async (
  play: Play,
  event: Held,
  act: HandDrawn,
  turn: number,
): Promise<string | undefined> => {
  const done = actOf(play, event, act)
  if (!done) return undefined
  await play.control.actOnEvent(event.id, done)
  play.known.touched.set(event.id, { turn, at: play.seen.now })
  return done.type
}

type Held = ReturnType<typeof liveEventsOf>[number]

const actOf = (play: Play, event: Held, act: HandDrawn): EventAct | undefined => {
  const [guest] = event.attendees
  switch (act) {
    case 'delete':
      return { type: 'delete' }
    case 'move':
      return moved(new Date(event.start).getTime() + 2 * HOUR_MS)
    case 'move_onto': {
      // Onto another meeting's time, of all times.
      const other = play.seen.held.find(({ id, status }) => id !== event.id && status !== 'cancelled')
      return other && moved(new Date(other.start).getTime())
    }
    case 'rename':
      return { type: 'rename', title: 'Something else' }
    case 'place':
      return { type: 'set_location', location: 'Somewhere else' }
    case 'add_attendee':
      return { type: 'add_attendee', address: cast.gus.address, optional: false }
    case 'remove_attendee':
      return guest && { type: 'remove_attendee', address: guest.address }
    case 'decline':
    case 'accept':
      return (
        guest && {
          type: 'respond',
          address: guest.address,
          response: act === 'decline' ? 'declined' : 'accepted',
        }
      )
  }
}

const moved = (start: number): EventAct => ({
  type: 'move',
  start: new Date(start).toISOString(),
  end: new Date(start + HOUR_MS).toISOString(),
})

/**
 * A second event under our identity, as one that came late from a write whose answer was lost. It is there to be found:
 * what comes, or is shown, only after the last look is in nobody's power.
 */
export const plantDuplicate = stepOf({
  name: 'duplicate',
  draw: fc.record({ index: anyIndex }),
  act: async (play, { index }) => {
    const open = play.known.meetings.filter((each) =>
      ['booking', 'write_uncertain', 'in_repair', 'confirmed'].includes(seenMeeting(play, each).state.type),
    )
    const meeting = pick(open, index, () => true)
    const approval = play.seen.approvals.find(({ meetingId }) => meetingId === meeting?.id)
    const owner = meeting && play.people.get(meeting.organizer)
    if (!approval || !owner) return undefined
    const { draft } = approval
    // A second one: where nothing was written yet, nothing can come late.
    if (!play.seen.ledger.some(({ operationId }) => operationId === draft.operationId)) return undefined
    await play.control.setConsistency({ provider: owner.provider, readsMissFor: 0 })
    const context = { signal: new AbortController().signal, timeoutMs: 5_000, record: () => undefined }
    const answer = await play.world
      .calendarOf(owner)
      .insertEvent({ ...draft, epoch: 50 + play.turn, location: undefined }, context)
    if (answer.type === 'written') meeting.planted += 1
    return `#${meeting.number} ${answer.type}`
  },
})
