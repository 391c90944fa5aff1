import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const patient = { ms: 30_000, max: 6 }
afterEach(() => world.control.clearFaults())

type Act = Parameters<typeof world.control.addFault>[0]['act']
const troubleReceiver = (story: Story, act: Act, times = 1) =>
  world.control.addFault({
    id: randomUUID(),
    provider: 'webhook',
    operation: 'webhook.deliver',
    address: story.client.webhookName,
    times,
    act,
  })
const inboxOf = async (story: Story) => (await world.control.readWebhooks(story.client.webhookName)).received

const drainMessages = async (story: Story): Promise<void> => {
  for (let step = 0; step < patient.max; step++) {
    await story.dispatcher.drain()
    await database.advanceClock(patient.ms)
  }
}

describe('a receiver', () => {
  test.each([
    ['is down', { type: 'drop', when: 'before_effect' }],
    ['answers 503', { type: 'answer', status: 503, body: 'down' }],
    ['is being repaired and answers 404', { type: 'answer', status: 404, body: 'not yet' }],
    ['asks for patience', { type: 'answer', status: 429, body: '', headers: { 'retry-after': '20' } }],
  ] as const)('that %s is tried again and takes the message once', async (_name, act) => {
    const story = await openStory(world, database)
    await troubleReceiver(story, act, 2)
    await story.drainUntil('awaiting_approval')
    expect(await inboxOf(story)).toEqual([])
    await drainMessages(story)
    expect(await inboxOf(story)).toMatchObject([{ duplicates: 0 }])
    expect(await story.rows('scheduling.notify_client')).toMatchObject([{ state: 'succeeded' }])
  })

  test('whose answer was lost gets the same message again, under the same id', async () => {
    const story = await openStory(world, database)
    await troubleReceiver(story, { type: 'drop', when: 'after_effect' })
    await story.drainUntil('awaiting_approval')
    await drainMessages(story)
    expect(await inboxOf(story)).toMatchObject([{ duplicates: 1 }])
  })

  test('that is gone for good is left alone, and the meeting goes on', async () => {
    const story = await openStory(world, database)
    await troubleReceiver(story, { type: 'answer', status: 410, body: '' })
    await story.drainUntil('awaiting_approval')
    expect(await story.rows('scheduling.notify_client')).toMatchObject([
      { state: 'suppressed', code: 'endpoint_gone' },
    ])
    await story.approve()
    await story.drainUntil('confirmed')
  })

  test('that is slow delays no meeting', async () => {
    const story = await openStory(world, database)
    await troubleReceiver(story, { type: 'answer', status: 503, body: 'down' }, 50)
    await story.drainUntil('awaiting_approval')
    await story.approve()
    await story.drainUntil('confirmed')
    expect(await inboxOf(story)).toEqual([])
    expect((await story.rows('scheduling.notify_client')).every(({ state }) => state === 'scheduled')).toBe(
      true,
    )
  })
})

test('a meeting that lacks something asks for it, and says when it has waited too long', async () => {
  const story = await openStory(world, database, { intent: { approval: undefined, timeZone: undefined } })
  expect((await story.view()).exceptions.map(({ code }) => code).sort()).toEqual([
    'authority_missing',
    'zone_missing',
  ])
  await story.drainUntil('incomplete')
  expect(await story.told()).toEqual(['exception.opened', 'exception.opened'])

  const [deadline] = await story.rows('scheduling.reach_deadline')
  await database.advanceClock((deadline?.waits_ms ?? 0) + 1_000)
  await story.drainUntil('lapsed')
  expect(await story.told()).toEqual(['exception.opened', 'exception.opened', 'meeting.lapsed'])
  expect((await story.view()).exceptions).toEqual([])
})
