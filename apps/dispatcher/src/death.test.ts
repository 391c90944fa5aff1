import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { mortalDb, type Moment } from './mortal-db.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, operationsOf, providers, type Provider, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const LEASE_MS = 2_000
const moments: readonly Moment[] = ['claimed', 'performed']

/** Works as far as the fatal row, and leaves everything it holds to the end of its lease. */
const dieAt = async (action: string, moment: Moment): Promise<void> => {
  const mortal = mortalDb(database.dispatcher, action, moment)
  const doomed = world.createDispatcher({ db: mortal.db, leaseMs: LEASE_MS })
  await expect(doomed.drain()).rejects.toThrow('dead')
  expect(mortal.died()).toBe(true)
  await database.advanceClock(LEASE_MS + 500)
}

const isDoneOnce = async (story: Story): Promise<void> => {
  expect(await story.created()).toBe(1)
  expect(await story.events()).toHaveLength(1)
  const confirmed = (await story.told()).filter((type) => type === 'meeting.confirmed')
  expect(confirmed).toHaveLength(1)
  const { pending } = await story.trace()
  // A booked event is looked at again for as long as it has not begun.
  expect(pending.filter(({ action }) => action !== 'scheduling.watch_event')).toEqual([])
}

const fatalOf = (organizer: Provider) =>
  ['read_availability', 'find_time', 'write_event', 'read_back_event', 'notify_client']
    // Those that call no calendar know no difference between the two.
    .filter((action) => organizer === 'google' || /read|write/.test(action))
    .flatMap((action) => moments.map((moment) => [action, moment] as const))

describe.each(providers)('with the calendar at %s, a dispatcher that dies', (organizer) => {
  test.each(fatalOf(organizer))(
    'at %s when it has %s it loses nothing and doubles nothing',
    async (action, moment) => {
      const story = await openStory(world, database, { organizer, approval: 'automatic' })
      await dieAt(`scheduling.${action}`, moment)
      await story.drainUntil('confirmed', { ms: 31_000, max: 3 })
      await story.dispatcher.drain()
      await isDoneOnce(story)
      const lost = await database.owner.query(
        `select 1 from outbox_attempt a where code = 'lease_lost' and exists (
         select from outbox_history h where h.id = a.outbox_id and h.aggregate_id = $1 and h.action = $2)`,
        [story.meetingId, `scheduling.${action}`],
      )
      expect(lost.rowCount).toBeGreaterThan(0)
    },
  )

  test.each(moments)('while it asks what became of a write, and has %s the question', async (moment) => {
    const story = await openStory(world, database, { organizer, approval: 'automatic' })
    await world.control.addFault({
      id: randomUUID(),
      provider: organizer,
      operation: operationsOf[organizer].insert,
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await dieAt('scheduling.write_event#reconcile', moment)
    await story.drainUntil('confirmed', { ms: 31_000, max: 3 })
    await isDoneOnce(story)
  })
})

// Each lets its own deadline pass, for the whole database.
test.each([
  ['claimed', '2027-03-24T12:00:00Z'],
  ['performed', '2027-03-25T12:00:00Z'],
] as const)(
  'a dispatcher that dies at a deadline when it has %s it ends the meeting once',
  async (moment, bookBy) => {
    const story = await openStory(world, database, { intent: { bookBy } })
    await story.drainUntil('awaiting_approval')
    const [deadline] = await story.rows('scheduling.reach_deadline')
    await database.advanceClock((deadline?.waits_ms ?? 0) + 1_000)
    await dieAt('scheduling.reach_deadline', moment)
    await story.drainUntil('lapsed')
    expect((await story.told()).filter((type) => type === 'meeting.lapsed')).toHaveLength(1)
  },
)

test('a dispatcher that wakes after its lease has run out settles nothing, and its event is the only one', async () => {
  // Long after the deadline of the tests above.
  const intent = { bookBy: '2027-03-28T12:00:00Z' }
  const story = await openStory(world, database, { approval: 'automatic', intent })
  const fault = randomUUID()
  await world.control.addFault({
    id: fault,
    provider: 'google',
    operation: 'events.insert',
    address: story.cast.ada.address,
    act: { type: 'hold', when: 'after_effect' },
  })
  const events: string[] = []
  const sleeper = world.createDispatcher({ report: ({ type }) => events.push(type) })
  const sleeping = sleeper.drain()
  await world.control.waitForFault(fault)
  await database.advanceClock(61_000)
  await story.drainUntil('confirmed')
  await world.control.releaseFault(fault)
  await sleeping
  expect(events).toContain('stale')
  await isDoneOnce(story)
})

test('several dispatchers at once do every action once', async () => {
  const intent = { bookBy: '2027-03-28T12:00:00Z' }
  const open = (organizer: Provider) =>
    openStory(world, database, { organizer, approval: 'automatic', intent })
  const stories = [await open('google'), await open('microsoft'), await open('google')]
  const dispatchers = [1, 2, 3].map(() => world.createDispatcher())
  // A dispatcher that finds nothing ready ends its drain although another still works.
  for (let round = 0; round < 5; round++) {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()))
  }
  for (const story of stories) {
    expect((await story.view()).state.type).toBe('confirmed')
    await isDoneOnce(story)
    const rows = await story.rows()
    expect(rows.every(({ attempts }) => attempts <= 1)).toBe(true)
    const distinct = new Set(rows.map(({ id }) => id))
    expect(distinct.size).toBe(rows.length)
  }
})
