import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { firstSlot, proposeStory, providers, type Story, type StoryOptions } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

afterEach(async () => {
  await world.control.clearFaults()
  for (const provider of providers) await world.control.setConsistency({ provider, readsMissFor: 0 })
})

/** Up to the moment in which the event is at the provider and has not been read back. */
const written = async (options: StoryOptions): Promise<Story & { readonly eventId: string }> => {
  const story = await proposeStory(world, database, options)
  await story.approve()
  await story.dispatcher.tick()
  expect((await story.view()).state.type).toBe('verifying')
  const [event] = await story.events()
  return { ...story, eventId: event?.id ?? '' }
}

const differs = async (story: Story): Promise<unknown> => {
  const view = await story.drainUntil('in_repair')
  expect(view.repairs).toMatchObject([{ code: 'event_differs', owner: 'organizer' }])
  expect(view.completion).toBeUndefined()
  expect(await story.told()).toContain('repair.opened')
  expect(await story.told()).not.toContain('meeting.confirmed')
  expect(await story.created()).toBe(1)
  return view.repairs[0]?.facts.fields
}

describe.each(providers)('an event in a %s calendar', (organizer) => {
  test('that its provider does not show yet is confirmed when it does', async () => {
    const story = await proposeStory(world, database, { organizer })
    await world.control.setConsistency({ provider: organizer, readsMissFor: 2 })
    await story.approve()
    await story.drainUntil('verifying')
    expect((await story.view()).completion).toBeUndefined()
    const { completion } = await story.drainUntil('confirmed', { ms: 5_000, max: 6 })
    expect(completion?.checks).toEqual(
      expect.arrayContaining(['identity', 'required_attendees', 'nobody_else']),
    )
    expect(await story.rows('scheduling.read_back_event')).toMatchObject([
      { state: 'succeeded', attempts: 3 },
    ])
    expect(await story.created()).toBe(1)
    expect((await story.told()).filter((type) => type === 'meeting.confirmed')).toHaveLength(1)
  })

  test('that its owner moved before it was read back is not what was approved', async () => {
    const story = await written({ organizer })
    await world.control.actOnEvent(story.eventId, {
      type: 'move',
      start: '2027-03-30T13:00:00Z',
      end: '2027-03-30T14:00:00Z',
    })
    expect(await differs(story)).toEqual(['start', 'end'])
  })

  test.each([false, true])(
    'that somebody was added to is not what was approved (optional: %s)',
    async (optional) => {
      const story = await written({ organizer })
      await world.control.actOnEvent(story.eventId, {
        type: 'add_attendee',
        address: 'dora@google.example',
        optional,
      })
      expect(await differs(story)).toEqual(['nobody_else'])
    },
  )

  test('that guests have answered meanwhile is what was approved', async () => {
    const story = await written({ organizer })
    const { ben, chen } = story.cast
    await world.control.actOnEvent(story.eventId, {
      type: 'respond',
      address: ben.address,
      response: 'accepted',
    })
    await world.control.actOnEvent(story.eventId, {
      type: 'respond',
      address: chen.address,
      response: 'tentative',
    })
    await story.drainUntil('confirmed')
  })

  test('for which a conference was asked and none was made is not what was approved', async () => {
    const story = await written({ organizer, ada: { onlineMeetings: false }, intent: { conference: true } })
    expect(await differs(story)).toEqual(['conference'])
  })

  test('with its conference and its place is confirmed in these points as well', async () => {
    const story = await written({ organizer, intent: { conference: true, location: 'Room 4' } })
    const { completion } = await story.drainUntil('confirmed', { ms: 5_000, max: 3 })
    expect(completion?.checks).toEqual(expect.arrayContaining(['conference', 'location']))
    const { ben, chen } = story.cast
    const guests = [ben, chen].map(({ address }) => expect.objectContaining({ address, optional: false }))
    expect(await story.events()).toMatchObject([
      {
        ...firstSlot,
        title: 'Contract review',
        location: 'Room 4',
        attendees: expect.arrayContaining(guests),
      },
    ])
  })
})

test('an event that its owner deleted at Google before it was read back is not what was approved', async () => {
  const story = await written({ organizer: 'google' })
  await world.control.actOnEvent(story.eventId, { type: 'delete' })
  expect(await differs(story)).toContain('status')
})

test('an event that its owner deleted at Microsoft is looked for a while, and then a repair', async () => {
  const story = await written({ organizer: 'microsoft' })
  await world.control.actOnEvent(story.eventId, { type: 'delete' })
  await story.drainUntil('verifying')
  const { repairs } = await story.drainUntil('in_repair', { ms: 5 * 60_000, max: 30 })
  expect(repairs).toMatchObject([{ code: 'event_not_visible', owner: 'organizer' }])
  expect(await story.created()).toBe(1)
})
