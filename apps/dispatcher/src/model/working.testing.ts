/** What makes time pass and work happen: the clock, dispatchers that work, work at once, die, or are slow. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { mortalDb } from '../mortal-db.testing.ts'
import { cast } from './cast.testing.ts'
import { cancel } from './deciding.testing.ts'
import type { Play } from './play.testing.ts'
import { anyIndex, stepOf } from './step.testing.ts'

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

/** Somebody acts while an event's write is on its way: the provider takes it in after that, or before. */
export const actWhileWriting = stepOf({
  name: 'while writing',
  draw: fc.record({
    index: anyIndex,
    when: fc.constantFrom('before_effect' as const, 'after_effect' as const),
    act: fc.constantFrom('cancel' as const, 'cancel' as const, 'work' as const, 'late' as const),
  }),
  act: async (play, { index, when, act }) => {
    const rows = play.seen.live.filter(
      ({ action, state }) => /\.(write|change)_event$/.test(action) && state !== 'leased',
    )
    const row = rows[index % Math.max(rows.length, 1)]
    const meeting = row && play.known.meetings.find(({ id }) => id === row.meetingId)
    if (!meeting) return undefined
    const fault = randomUUID()
    const { provider, address } = cast[meeting.organizer]
    const insert = provider === 'google' ? 'events.insert' : 'events.create'
    const operation = row.action.endsWith('write_event') ? insert : 'events.patch'
    await play.control.addFault({ id: fault, provider, operation, address, act: { type: 'hold', when } })
    const slow = play.world.createDispatcher()
    const draining = slow.drain()
    const fired = await Promise.race([
      play.control.waitForFault(fault).then(() => true),
      draining.then(() => false),
    ])
    const told = fired ? await meanwhile(play, meeting, act) : 'nothing was written'
    await play.control.releaseFault(fault)
    await draining
    return told
  },
})

const meanwhile = async (
  play: Play,
  meeting: Play['known']['meetings'][number],
  act: 'cancel' | 'work' | 'late',
): Promise<string> => {
  if (act === 'cancel') {
    const told = await cancel(play, meeting, cast[meeting.organizer].address)
    await play.dispatcher.drain()
    return `cancelled meanwhile: ${told}`
  }
  // The lease of the one that writes runs out, and another asks what became of it.
  if (act === 'late') await play.advance(61_000)
  await play.dispatcher.drain()
  return act === 'late' ? 'its lease ran out' : 'others worked'
}
