import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import {
  firstSlot,
  operationsOf,
  proposeStory,
  providers,
  type Provider,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
/** The provider may hide an event for this long; see the grace of scheduling.write_event. */
const pastGrace = { ms: 31_000, max: 3 }

afterEach(async () => {
  await world.control.clearFaults()
  for (const provider of providers) await world.control.setConsistency({ provider, readsMissFor: 0 })
})

type Act = Parameters<typeof world.control.addFault>[0]['act']

const failInsert = async (story: Story, provider: Provider, act: Act): Promise<string> => {
  const id = randomUUID()
  const { address } = story.cast.ada
  await world.control.addFault({ id, provider, operation: operationsOf[provider].insert, address, act })
  return id
}

/** Runs the write, and nothing after it. */
const loseAnswer = async (story: Story, provider: Provider): Promise<void> => {
  await failInsert(story, provider, { type: 'drop', when: 'after_effect' })
  await story.approve()
  await story.dispatcher.tick()
  expect((await story.view()).state.type).toBe('write_uncertain')
}

const onlyEvent = async (story: Story) => {
  const [event, ...more] = await story.events()
  if (!event || more.length > 0) throw new Error(`${more.length + (event ? 1 : 0)} events`)
  return event
}

const writesOf = (story: Story) => story.rows('scheduling.write_event')

const makeUninvitable = async (story: Story): Promise<void> => {
  const { connectionId: _, ...chen } = story.cast.chen
  await world.control.putPeople([{ ...chen, invitable: false }])
}

/** What a provider says of an event, as it would answer the call that made it. */
const saidOf = (provider: Provider, eventId: string) =>
  provider === 'google'
    ? {
        id: eventId,
        status: 'confirmed',
        etag: '"1"',
        iCalUID: eventId,
        start: { dateTime: firstSlot.start },
        end: { dateTime: firstSlot.end },
      }
    : {
        id: eventId,
        '@odata.etag': 'W/"1"',
        iCalUId: eventId,
        start: { dateTime: firstSlot.start, timeZone: 'UTC' },
        end: { dateTime: firstSlot.end, timeZone: 'UTC' },
        attendees: [],
      }

test.each(providers)(
  'an event of another meeting that %s gives in answer to a write outlives the cancellation of this one',
  async (provider) => {
    const other = await proposeStory(world, database, { organizer: provider })
    await other.approve()
    await other.drainUntil('confirmed')
    const theirs = await onlyEvent(other)
    const { client, cast } = other
    const { address, connectionId: calendarConnectionId } = cast.ada
    const approval = { type: 'named_approver', address }
    const organizer = { address, calendarConnectionId }
    const story = await proposeStory(world, database, {
      organizer: provider,
      client,
      intent: { organizer, approval },
    })
    await world.control.addFault({
      id: randomUUID(),
      provider,
      operation: operationsOf[provider].insert,
      address,
      act: { type: 'answer', status: 200, body: saidOf(provider, theirs.id) },
    })
    const { proposal } = await story.view()
    await story.postApproval(proposal?.id ?? 'none', address).expect(200)
    await story.dispatcher.drain()
    await story.cancel(address)
    await story.drainUntil('cancelled', { ms: 61_000, max: 5 })
    expect((await world.control.readEvents(address)).find(({ id }) => id === theirs.id)).toEqual(theirs)
  },
)

/** The draft that was approved, as the adapters take it. */
const approvedDraft = async (story: Story) => {
  const { rows } = await database.owner.query<{
    draft: Parameters<ReturnType<typeof world.calendarOf>['insertEvent']>[0]
  }>('select draft from approval where meeting_id = $1', [story.meetingId])
  const [row] = rows
  if (!row) throw new Error('nothing was approved')
  const { draft } = row
  return { ...draft, start: new Date(draft.start), end: new Date(draft.end), location: undefined }
}

describe.each(providers)('a write to %s', (provider) => {
  test('whose answer was lost before it arrived is proved absent, and then written once', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await failInsert(story, provider, { type: 'drop', when: 'before_effect' })
    await story.approve()
    await story.drainUntil('write_uncertain')
    // Within the grace absence proves nothing.
    expect(await story.events()).toEqual([])
    expect(await story.created()).toBe(0)

    await story.drainUntil('confirmed', pastGrace)
    expect(await story.created()).toBe(1)
    expect(await story.events()).toMatchObject([{ ...firstSlot, status: 'confirmed' }])
    expect(await writesOf(story)).toMatchObject([{ state: 'succeeded', attempts: 2 }])
  })

  test.each([{ type: 'html' }, { type: 'truncate' }] as const)(
    'that is answered with $type is looked for and found, not made again',
    async (act) => {
      const story = await proposeStory(world, database, { organizer: provider })
      const fault = await failInsert(story, provider, act)
      await story.approve()
      await story.drainUntil('confirmed')
      expect((await world.control.waitForFault(fault)).fired).toHaveLength(1)
      expect(await story.created()).toBe(1)
    },
  )

  test('that is answered with 503 is looked for before it is made again', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await failInsert(story, provider, { type: 'answer', status: 503, body: 'try again' })
    await story.approve()
    await story.drainUntil('write_uncertain')
    await story.drainUntil('confirmed', pastGrace)
    expect(await story.created()).toBe(1)
  })

  test('that the provider hides longer than the grace leads to no second event', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    // Hidden from the two lists that ask about it, but busy time at once: for ourselves the slot looks taken.
    await world.control.setConsistency({ provider, readsMissFor: 2 })
    await loseAnswer(story, provider)
    const { proposal } = await story.drainUntil('confirmed', pastGrace)
    expect(proposal).toMatchObject(firstSlot)
    expect(await story.created()).toBe(1)
  })

  test('that somebody moved before it was found is a repair', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await loseAnswer(story, provider)
    const { id } = await onlyEvent(story)
    await world.control.actOnEvent(id, {
      type: 'move',
      start: '2027-03-30T13:00:00Z',
      end: '2027-03-30T14:00:00Z',
    })
    const { repairs } = await story.drainUntil('in_repair')
    expect(repairs).toMatchObject([{ code: 'event_altered', owner: 'organizer' }])
    expect(await story.created()).toBe(1)
  })

  test('that is there more than once is a repair', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await loseAnswer(story, provider)
    const context = { signal: new AbortController().signal, timeoutMs: 5_000, record: () => undefined }
    const second = { ...(await approvedDraft(story)), epoch: 1 }
    const copy = await world.calendarOf(story.cast.ada).insertEvent(second, context)
    expect(copy.type).toBe('written')

    const { repairs } = await story.drainUntil('in_repair')
    expect(repairs).toMatchObject([{ code: 'several_events', owner: 'organizer' }])
    const dead = (await story.rows()).filter(({ state }) => state === 'dead')
    expect(dead).toMatchObject([{ action: 'scheduling.write_event', code: 'several_events' }])
  })

  test('to an address that the provider refuses ends in a repair and does not spin', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await makeUninvitable(story)
    await story.approve()
    const { repairs } = await story.drainUntil('in_repair')
    expect(repairs).toMatchObject([{ code: 'invalid_attendee', owner: 'organizer' }])
    // Google writes nothing. Exchange does, although it says no.
    expect(await story.created()).toBe(provider === 'google' ? 0 : 1)
    expect(await writesOf(story)).toMatchObject([{ state: 'dead', code: 'invalid_attendee', attempts: 1 }])
    expect(await story.told()).toContain('repair.opened')
  })
})

test('an event that somebody deleted before it was found at Google is a repair, and is not written again', async () => {
  const story = await proposeStory(world, database)
  await loseAnswer(story, 'google')
  await world.control.actOnEvent((await onlyEvent(story)).id, { type: 'delete' })
  const { repairs } = await story.drainUntil('in_repair')
  expect(repairs).toMatchObject([{ code: 'event_cancelled', owner: 'organizer' }])
  expect(await story.created()).toBe(1)
})

test('an event that somebody deleted before it was found at Microsoft leaves no trace, and is written again', async () => {
  const story = await proposeStory(world, database, { organizer: 'microsoft' })
  await loseAnswer(story, 'microsoft')
  await world.control.actOnEvent((await onlyEvent(story)).id, { type: 'delete' })
  await story.drainUntil('confirmed', pastGrace)
  const live = (await story.events()).filter(({ status }) => status === 'confirmed')
  expect(live).toMatchObject([firstSlot])
})

test('a refusal of an attendee that Exchange meant dies as soon as its truth is proved', async () => {
  const story = await proposeStory(world, database, { organizer: 'microsoft' })
  const message = "At least one recipient isn't valid."
  await failInsert(story, 'microsoft', {
    type: 'answer',
    status: 400,
    body: { error: { code: 'ErrorInvalidRecipients', message } },
  })
  await story.approve()
  await story.drainUntil('write_uncertain')
  const { repairs } = await story.drainUntil('in_repair', pastGrace)
  expect(repairs).toMatchObject([{ code: 'invalid_attendee', owner: 'organizer' }])
  expect(await story.created()).toBe(0)
  expect(await writesOf(story)).toMatchObject([{ state: 'dead', code: 'invalid_attendee', attempts: 1 }])
})

test('the late look for what a write may have left ends when there is nothing', async () => {
  const story = await proposeStory(world, database)
  await failInsert(story, 'google', { type: 'drop', when: 'before_effect' })
  await story.approve()
  await story.dispatcher.tick()
  await world.control.addBusy(story.cast.ben.address, firstSlot)
  await story.drainUntil('awaiting_approval', pastGrace)
  const sweeps = () => story.rows('scheduling.sweep_event')
  for (let hour = 0; hour < 24 && (await sweeps()).some(({ state }) => state === 'scheduled'); hour++) {
    await database.advanceClock(60 * 60_000)
    await story.dispatcher.drain()
  }
  expect(await sweeps()).toMatchObject([{ state: 'succeeded', attempts: 1 }])
})
