import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import {
  firstSlot,
  intentFor,
  openStory,
  operationsOf,
  proposeStory,
  providers,
  slowDown,
  throttled,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const throttle = (...by: Parameters<typeof throttled>) => world.control.addFault(throttled(...by))

const restingAccounts = async (): Promise<readonly string[]> => {
  const { rows } = await database.owner.query<{ account: string }>(
    'select account from outbox_account_pause where until > app_now()',
  )
  return rows.map(({ account }) => account)
}

describe.each(providers)('%s saying "not now"', (provider) => {
  test('to a write is obeyed to the second, costs no attempt, and leads to one event', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    const { ada } = story.cast
    await throttle(ada, 'insert', 90)
    await story.approve()
    await story.drainUntil('booking')
    expect(await story.rows('scheduling.write_event')).toMatchObject([{ state: 'paused', attempts: 0 }])
    expect(await restingAccounts()).toContain(ada.connectionId)

    await database.advanceClock(85_000)
    await story.drainUntil('booking')
    expect(await story.created()).toBe(0)

    await database.advanceClock(6_000)
    await story.drainUntil('confirmed')
    expect(await story.created()).toBe(1)
  })

  test('to a write that it has made all the same leads to one event at the time that was approved', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    const { address } = story.cast.ada
    const operation = operationsOf[provider].insert
    const act = { type: 'answer', when: 'after_effect', status: 429, body: slowDown[provider] } as const
    await world.control.addFault({ id: randomUUID(), provider, operation, address, act })
    await story.approve()
    await story.drainUntil('confirmed', { ms: 61_000, max: 3 })
    expect(await story.created()).toBe(1)
    expect((await story.events()).map(({ start }) => start)).toEqual([firstSlot.start])
  })

  test('to a read rests that account for every meeting, and no other', async () => {
    const story = await openStory(world, database, { organizer: provider })
    const { ada, chen } = story.cast
    await throttle(ada, 'freeBusy', 120)
    await story.drainUntil('gathering')
    expect(await restingAccounts()).toContain(ada.connectionId)
    expect(await restingAccounts()).not.toContain(chen.connectionId)

    // Another meeting of the same people: two are read at once, the third waits without having been asked.
    const asked = (await world.control.readRequests()).length
    await story.client.post('/v1/meetings', intentFor(story.cast, 'automatic')).expect(201)
    await story.dispatcher.drain()
    const requests = (await world.control.readRequests()).slice(asked)
    const freeBusy = requests.filter(({ operation }) => operation !== 'token')
    expect(freeBusy.map(({ address }) => address).sort()).toEqual(
      [story.cast.ben.address, chen.address].sort(),
    )

    await database.advanceClock(121_000)
    await story.drainUntil('awaiting_approval')
  })
})

test('a read that is put off past the freshness of the others reads everybody anew, and asks nobody to repair', async () => {
  const story = await openStory(world, database)
  await throttle(story.cast.ben, 'freeBusy', 20 * 60)
  await story.drainUntil('gathering')
  await database.advanceClock(20 * 60_000 + 1_000)
  const { repairs } = await story.drainUntil('awaiting_approval')
  expect(repairs).toEqual([])
  expect(await story.rows('scheduling.read_availability')).toHaveLength(6)
})

test('the fresh look before a write may be put off as well', async () => {
  const story = await proposeStory(world, database)
  await throttle(story.cast.chen, 'freeBusy', 30)
  await story.approve()
  await story.drainUntil('booking')
  expect(await story.created()).toBe(0)
  await database.advanceClock(31_000)
  await story.drainUntil('confirmed')
  expect(await story.created()).toBe(1)
})

test('a guest’s calendar that throttles the check before the write rests by itself, and the organizer’s does not', async () => {
  const story = await proposeStory(world, database)
  await throttle(story.cast.ben, 'freeBusy', 90)
  await story.approve()
  await story.dispatcher.drain()
  const { rows } = await database.owner.query<{ account: string }>(
    'select account from outbox_account_pause where account = any($1)',
    [[story.cast.ada.connectionId, story.cast.ben.connectionId]],
  )
  expect(rows).toEqual([{ account: story.cast.ben.connectionId }])
  await story.drainUntil('confirmed', { ms: 95_000, max: 2 })
  expect(await story.created()).toBe(1)
})
