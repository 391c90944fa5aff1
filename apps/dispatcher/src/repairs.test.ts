/** What a person may do about what went wrong, and that each way on leads somewhere. */
import { randomUUID } from 'node:crypto'
import { useDatabase } from '@aftercommit/testing'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import {
  openStory,
  operationsOf,
  providers,
  proposeStory,
  type Provider,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const MINUTE_MS = 60_000
const patience = { ms: 5 * MINUTE_MS, max: 8 }

const live = async (story: Story) => (await story.events()).filter(({ status }) => status !== 'cancelled')
const guestsOf = async (story: Story) =>
  (await live(story)).flatMap(({ attendees }) => attendees.map(({ address }) => address))

/** A meeting whose third person the organizer's provider refuses to invite. */
const refused = async (organizer: Provider, more: Parameters<typeof openStory>[2] = {}): Promise<Story> => {
  const story = await proposeStory(world, database, { organizer, chen: { invitable: false }, ...more })
  await story.approve()
  await story.drainUntil('in_repair', patience)
  return story
}

describe.each(providers)('an address that %s refuses to invite', (organizer) => {
  test('is a repair; with the address corrected, approved again, exactly the approved people are invited', async () => {
    const story = await refused(organizer)
    const { chen } = story.cast
    const { repairs } = await story.view()
    expect(repairs).toMatchObject([{ code: 'invalid_attendee', owner: 'organizer' }])
    expect(repairs[0]?.choices).toEqual(expect.arrayContaining(['correct_address', 'substitute_person']))
    const better = await story.client.connectPerson({
      address: `right-${chen.address}`,
      provider: chen.provider,
      timeZone: 'Europe/Berlin',
    })
    const resolved = await story.resolve({
      type: 'correct_address',
      participantId: await story.participantId(chen),
      address: better.address,
      calendarConnectionId: better.connectionId,
    })
    expect(resolved.status).toBe(200)
    const proposed = await story.drainUntil('awaiting_approval', patience)
    expect(proposed.revision).toBe(2)
    await story.approve()
    await story.drainUntil('confirmed', patience)
    expect(await live(story)).toHaveLength(1)
    const guests = await guestsOf(story)
    expect(guests).toContain(better.address)
    expect(guests).not.toContain(chen.address)
  })

  test('gives way to the substitute that the meeting named', async () => {
    const story = await refused(organizer)
    const { chen } = story.cast
    const participantId = await story.participantId(chen)
    // Nobody was named in advance, so one has to be told.
    const none = await story.resolve({ type: 'substitute_person', participantId })
    expect(none.status).toBe(400)
    expect(none.body).toMatchObject({ errors: [{ pointer: '/choice/substitute' }] })
    expect((await story.view()).state.type).toBe('in_repair')
  })
})

describe('a choice', () => {
  test('that is none of this repair is refused by name, and nothing is written', async () => {
    const story = await refused('google')
    const answer = await story.resolve({ type: 'keep_one' })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/choice/type' }] })
    expect(await story.view()).toMatchObject({ revision: 1, state: { type: 'in_repair' } })
  })

  test('is nobody’s but the organizer’s and the approver’s', async () => {
    const story = await refused('google')
    expect((await story.resolve({ type: 'cancel_meeting' }, story.cast.ben.address)).status).toBe(403)
  })

  test('is made once: of two at once, the second finds it made', async () => {
    const story = await refused('google')
    const [repair] = (await story.view()).repairs
    const choose = () =>
      story.client.post(`/v1/repairs/${repair?.id ?? ''}/resolve`, {
        by: { address: story.cast.ada.address },
        choice: { type: 'cancel_meeting' },
      })
    const answers = await Promise.all([choose(), choose()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('is listed until then, with what may be chosen, and says afterwards what was', async () => {
    const story = await refused('google')
    const Listed = z.object({ repairs: z.array(z.looseObject({ id: z.string(), state: z.string() })) })
    const list = async () => Listed.parse((await story.client.get('/v1/repairs').expect(200)).body).repairs
    const [open] = await list()
    expect(open).toMatchObject({ code: 'invalid_attendee', meetingId: story.meetingId, state: 'open' })
    expect((await story.resolve({ type: 'cancel_meeting' })).status).toBe(200)
    expect(await list()).toEqual([])
    const after = await story.client.get(`/v1/repairs/${open?.id ?? ''}`).expect(200)
    expect(after.body).toMatchObject({ state: 'resolved', choice: 'cancel_meeting', authority: 'organizer' })
  })
})

describe.each(providers)('two events of one meeting at %s', (organizer) => {
  test('become a repair, which keeps one of them and cancels the other', async () => {
    const story = await proposeStory(world, database, { organizer })
    await world.control.addFault({
      id: `lost ${story.meetingId}`,
      provider: organizer,
      operation: operationsOf[organizer].insert,
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    // The provider does not tell what became of the write until there are two.
    await world.control.addFault({
      id: `silent ${story.meetingId}`,
      provider: organizer,
      operation: operationsOf[organizer].list,
      address: story.cast.ada.address,
      times: 3,
      act: { type: 'answer', status: 503, body: {} },
    })
    await story.approve()
    await story.drainUntil('write_uncertain')
    const [event] = await live(story)
    const calendar = world.calendarOf(story.cast.ada)
    const copied = await calendar.insertEvent(
      {
        operationId: event?.operationId ?? '',
        epoch: 1,
        calendarAddress: story.cast.ada.address,
        title: event?.title ?? '',
        start: new Date(event?.start ?? ''),
        end: new Date(event?.end ?? ''),
        timeZone: 'Europe/Berlin',
        attendees: [],
        location: undefined,
        conference: false,
      },
      { signal: new AbortController().signal, timeoutMs: 20_000, record: () => undefined },
    )
    expect(copied.type).toBe('written')
    const repaired = await story.drainUntil('in_repair', patience)
    expect(repaired.repairs).toMatchObject([{ code: 'several_events' }])
    expect((await story.resolve({ type: 'keep_one' })).status).toBe(200)
    await story.drainUntil('confirmed', patience).catch(() => story.drainUntil('in_repair'))
    expect(await live(story)).toHaveLength(1)
  })
})

test('an event that does not agree is put right, read back, and only then confirmed', async () => {
  const story = await proposeStory(world, database)
  await world.control.addFault({
    id: `held ${story.meetingId}`,
    provider: 'google',
    operation: 'events.get',
    address: story.cast.ada.address,
    act: { type: 'answer', status: 503, body: {} },
  })
  await story.approve()
  await story.dispatcher.drain()
  const [event] = await live(story)
  await world.control.actOnEvent(event?.id ?? '', {
    type: 'add_attendee',
    address: `${randomUUID()}@example.com`,
  })
  const repaired = await story.drainUntil('in_repair', patience)
  expect(repaired.repairs).toMatchObject([{ code: 'event_differs', facts: { fields: ['nobody_else'] } }])
  expect((await story.resolve({ type: 'restore_event' })).status).toBe(200)
  await story.drainUntil('confirmed', patience)
  expect(new Set(await guestsOf(story))).toEqual(
    new Set(
      [story.cast.ada, story.cast.ben, story.cast.chen]
        .map(({ address }) => address)
        .filter((address) => address !== story.cast.ada.address),
    ),
  )
})

test('a substitute whom the meeting names takes the place of a person who cannot be invited', async () => {
  const story = await openStory(world, database, { chen: { invitable: false } })
  const { ada, ben, chen } = story.cast
  const dana = await story.client.connectPerson({
    address: `dana-${chen.address}`,
    provider: chen.provider,
    timeZone: 'Europe/Berlin',
  })
  const person = ({ address, connectionId }: typeof dana, displayName: string) => ({
    displayName,
    address,
    calendarConnectionId: connectionId,
  })
  const named = await openStory(world, database, {
    chen: { invitable: false },
    client: story.client,
    intent: {
      organizer: { address: ada.address, calendarConnectionId: ada.connectionId },
      approval: { type: 'automatic' },
      participants: [
        { ...person(ada, 'Ada'), role: 'required' },
        { ...person(ben, 'Ben'), role: 'required' },
        { ...person(chen, 'Chen'), role: 'required', substitutes: [person(dana, 'Dana')] },
      ],
    },
  })
  const { repairs } = await named.drainUntil('in_repair', patience)
  const [participantId] = z.array(z.string()).parse(repairs[0]?.facts.participantIds).slice(-1)
  expect((await named.resolve({ type: 'substitute_person', participantId }, ada.address)).status).toBe(200)
  await named.drainUntil('confirmed', patience)
  const events = (await world.control.readEvents(ada.address)).filter(({ status }) => status !== 'cancelled')
  expect(events.map(({ attendees }) => attendees.map(({ address }) => address).sort())).toEqual([
    [ben.address, dana.address].sort(),
  ])
})

test('a time can be asked about: who is in the way, and how that is known', async () => {
  const story = await proposeStory(world, database, {
    ben: { busy: [{ start: '2027-03-29T13:00:00Z', end: '2027-03-29T14:00:00Z' }] },
  })
  const answer = await story.client
    .get(`/v1/meetings/${story.meetingId}/explain?start=2027-03-29T13:00:00Z`)
    .expect(200)
  const benId = await story.participantId(story.cast.ben)
  expect(answer.body).toMatchObject({
    type: 'rejected',
    reasons: [{ type: 'required_missing', participantId: benId, because: 'busy' }],
  })
})

test('a calendar that is connected later is read, and the person is written to no more', async () => {
  const story = await openStory(world, database, { outreach: { messagesMax: 3 } })
  const { chen } = story.cast
  const participantId = await story.participantId(chen)
  await story.client
    .post(`/v1/meetings/${story.meetingId}/participants/${participantId}/calendar`, {
      by: { address: story.cast.ada.address },
      calendarConnectionId: chen.connectionId,
    })
    .expect(200)
  await story.drainUntil('awaiting_approval')
  await database.advanceClock(24 * 60 * MINUTE_MS)
  await story.dispatcher.drain()
  expect((await world.control.readMailbox(chen.address)).received).toEqual([])
})
