/** What makes time pass and work happen: the clock, dispatchers that work, work at once, die, or are slow. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { mortalDb } from '../mortal-db.testing.ts'
import { cast } from './cast.testing.ts'
import { approveAll, cancel } from './deciding.testing.ts'
import type { Play } from './play.testing.ts'
import { hands, layHands } from './providing.testing.ts'
import { liveEventsOf, look, readRows, type Rows } from './seen.testing.ts'
import { anyIndex, pick, seenMeeting, stepOf } from './step.testing.ts'

const MINUTE_MS = 60_000
const LEASE_MS = 2_000

export const work = stepOf({
  name: 'work',
  draw: fc.constant(null),
  act: async ({ dispatcher }) => `${(await dispatcher.drain()).claimed} rows`,
})

/** One round only, so that others come in between. */
export const workALittle = stepOf({
  name: 'work a little',
  draw: fc.constant(null),
  act: async ({ dispatcher }) => `${(await dispatcher.tick()).claimed} rows`,
})

const onTheWay = [
  'gathering',
  'choosing',
  'booking',
  'verifying',
  'write_uncertain',
  'clearing',
  'cancelling',
] as const
const ROUNDS_MAX = 8

/** Works round by round, and no further than until it is seen. */
const workUntilSeen = async (play: Play, isSeen: (rows: Rows) => boolean): Promise<Rows | undefined> => {
  for (let rounds = 0; rounds <= ROUNDS_MAX; rounds += 1) {
    const rows = await readRows(play.database)
    if (isSeen(rows)) return rows
    const { claimed, rescued } = await play.dispatcher.tick()
    if (claimed + rescued === 0) return undefined
  }
  return undefined
}

const isAny =
  (type: string) =>
  ({ meetings }: Rows): boolean =>
    meetings.some(({ state }) => state.type === type)

/** Until a meeting is just there, so that somebody can come in between what mostly follows at once. */
export const workUntil = stepOf({
  name: 'work until',
  draw: fc.constantFrom(...onTheWay),
  act: async (play, type) => ((await workUntilSeen(play, isAny(type))) ? 'there' : 'never'),
})

/** Somebody's hands on an event that is written and not yet read back. */
export const actBeforeProof = stepOf({
  name: 'hand before proof',
  draw: fc.record({ hand: hands }),
  act: async (play, { hand }) => {
    await approveAll(play)
    const rows = await workUntilSeen(play, isAny('verifying'))
    const meeting = rows?.meetings.find(({ state }) => state.type === 'verifying')
    const [event] = meeting ? liveEventsOf(await look(play.database, play.control), meeting.id) : []
    const done = event && (await layHands(play, event, hand, play.turn))
    return done ?? 'nothing to prove'
  },
})

/** Somebody's hands on a booked event, and the first look at it after that. */
export const handNoticed = stepOf({
  name: 'hand noticed',
  draw: fc.record({ index: anyIndex, hand: hands }),
  act: async (play, { index, hand }) => {
    const meeting = pick(
      play.known.meetings,
      index,
      (each) => seenMeeting(play, each).state.type === 'confirmed',
    )
    const [event] = meeting ? liveEventsOf(play.seen, meeting.id) : []
    const done = event && (await layHands(play, event, hand, play.turn))
    if (!done) return undefined
    await play.advance(16 * MINUTE_MS)
    return `#${meeting?.number ?? 0} ${done}, ${(await play.dispatcher.drain()).claimed} rows`
  },
})

export const workTogether = stepOf({
  name: 'work together',
  draw: fc.constant(null),
  act: async ({ dispatcher, world }) => {
    const both = [dispatcher, world.createDispatcher()]
    await Promise.all(both.map((each) => each.drain()))
    // One that finds nothing ready ends although the other still works.
    return `${(await dispatcher.drain()).claimed} rows after both`
  },
})

export const passTime = stepOf({
  name: 'time',
  draw: fc.constantFrom(1, 3, 16, 16, 60, 4 * 60, 12 * 60, 24 * 60),
  act: async (play, minutes) => {
    await play.advance(minutes * MINUTE_MS)
    return `${(await play.dispatcher.drain()).claimed} rows`
  },
})

const mortals = [
  'read_availability',
  'find_time',
  'write_event',
  'write_event',
  'write_event#reconcile',
  'change_event',
  'read_back_event',
  'cancel_event',
  'ask_participant',
  'send_notice',
  'notify_client',
] as const

export const die = stepOf({
  name: 'die',
  draw: fc.record({
    at: fc.constantFrom(...mortals),
    moment: fc.constantFrom('claimed' as const, 'performed' as const),
    returns: fc.boolean(),
  }),
  act: async (play, { at, moment, returns }) => {
    const mortal = mortalDb(play.database.dispatcher, `scheduling.${at}`, moment)
    const doomed = play.world.createDispatcher({ db: mortal.db, leaseMs: LEASE_MS })
    await doomed.drain().catch((error: unknown) => {
      if (!mortal.died()) throw error
    })
    if (!mortal.died()) return 'lived'
    if (returns) await play.advance(LEASE_MS + 500)
    return 'died'
  },
})

const writesOf = ({ live }: Rows): Rows['live'] =>
  live.filter(({ action, state }) => /\.(write|change)_event$/.test(action) && state !== 'leased')

/** What is to be written next, once everybody has approved, and the call that will do it. */
const nextWrite = async (play: Play, index: number) => {
  await approveAll(play)
  const pending = await workUntilSeen(play, (seen) => writesOf(seen).length > 0)
  const rows = pending ? writesOf(pending) : []
  const row = rows[index % Math.max(rows.length, 1)]
  const meeting = row && play.known.meetings.find(({ id }) => id === row.meetingId)
  if (!meeting) return undefined
  const { provider, address } = cast[meeting.organizer]
  const insert = provider === 'google' ? 'events.insert' : 'events.create'
  const operation = row.action.endsWith('write_event') ? insert : 'events.patch'
  return { meeting, provider, address, operation }
}

/** The provider takes an event, and nobody hears of it until it is asked. */
export const loseAnswer = stepOf({
  name: 'lose answer',
  draw: fc.record({
    index: anyIndex,
    act: fc.constantFrom(
      { type: 'drop' as const, when: 'after_effect' as const },
      { type: 'html' as const },
      { type: 'truncate' as const },
    ),
  }),
  act: async (play, { index, act }) => {
    const write = await nextWrite(play, index)
    if (!write) return 'nothing to write'
    const { meeting, ...call } = write
    await play.control.addFault({ id: randomUUID(), ...call, act })
    await play.dispatcher.drain()
    await passTheWait(play)
    return `#${meeting.number} asked about`
  },
})

/** Somebody acts while an event's write is on its way: the provider takes it in after that, or before. */
export const actWhileWriting = stepOf({
  name: 'while writing',
  draw: fc.record({
    index: anyIndex,
    when: fc.constantFrom('before_effect' as const, 'after_effect' as const),
    act: fc.constantFrom(
      'cancel' as const,
      'cancel for good' as const,
      'work' as const,
      'late' as const,
      'hand' as const,
    ),
    hand: hands,
  }),
  act: async (play, { index, when, act, hand }) => {
    const write = await nextWrite(play, index)
    if (!write) return 'nothing to write'
    const { meeting, ...call } = write
    const fault = randomUUID()
    await play.control.addFault({ id: fault, ...call, act: { type: 'hold', when } })
    const slow = play.world.createDispatcher()
    const draining = slow.drain()
    const fired = await Promise.race([
      play.control.waitForFault(fault).then(() => true),
      draining.then(() => false),
    ])
    meeting.mayComeLate ||= when === 'before_effect'
    const told = fired ? await meanwhile(play, meeting, act, hand) : 'nothing was written'
    await play.control.releaseFault(fault)
    await draining
    return told
  },
})

/** Longer than a lease, and than a late effect is waited for. */
const passTheWait = async (play: Play): Promise<void> => {
  for (const minutes of [2, 3]) {
    await play.advance(minutes * MINUTE_MS)
    await play.dispatcher.drain()
  }
}

const meanwhile = async (
  play: Play,
  meeting: Play['known']['meetings'][number],
  act: 'cancel' | 'cancel for good' | 'work' | 'late' | 'hand',
  hand: Parameters<typeof layHands>[2],
): Promise<string> => {
  if (act === 'hand') {
    const seen = await look(play.database, play.control)
    const [event] = liveEventsOf(seen, meeting.id)
    // What is proved in this very step is proved after it.
    const done = event && (await layHands(play, event, hand, play.turn - 1))
    return done ? `${done} meanwhile` : 'nothing stands yet'
  }
  if (act === 'cancel' || act === 'cancel for good') {
    const told = await cancel(play, meeting, cast[meeting.organizer].address)
    await play.dispatcher.drain()
    if (act === 'cancel for good') await passTheWait(play)
    return `cancelled meanwhile: ${told}`
  }
  // The lease of the one that writes runs out, and another asks what became of it.
  if (act === 'late') await play.advance(61_000)
  await play.dispatcher.drain()
  return act === 'late' ? 'its lease ran out' : 'others worked'
}
