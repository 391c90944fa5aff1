/** What other systems of this kind got wrong in public, each as the whole kind, through the whole product. */
import { randomBytes, randomUUID } from 'node:crypto'
import { useDatabase } from '@aftercommit/testing'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useSchedulingWorld, type ConnectedPerson, type SimulatedPerson } from './scheduling-world.testing.ts'
import {
  firstSlot,
  openStory,
  operationsOf,
  proposeStory,
  providers,
  secondSlot,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const soon = { ms: 10_000, max: 3 }
const HOUR_MS = 60 * 60_000
const days = ['2027-03-29', '2027-03-30', '2027-03-31', '2027-04-01']

const explain = async (story: Story, start: string): Promise<unknown> =>
  (await story.client.get(`/v1/meetings/${story.meetingId}/explain?start=${start}`).expect(200)).body

describe('a series in a calendar (calcom/cal.diy#28847, #4215, #6217)', () => {
  // Every day at 15:00 in Berlin, or at 9:00 in New York. Either clock is set forward before the window begins, where both
  // are 13:00 in UTC.
  const series = {
    start: '2027-03-01T14:00:00Z',
    end: '2027-03-01T15:00:00Z',
    repeats: { every: 'day', until: '2027-04-30' },
  } as const

  test.each([
    ['google', 'ben'],
    ['microsoft', 'chen'],
  ] as const)('blocks each of its occurrences like a single event: %s', async (_provider, who) => {
    const story = await proposeStory(world, database, {
      [who]: { busy: [series] },
    })
    expect((await story.view()).proposal).toMatchObject(secondSlot)
    const participantId = await story.participantId(story.cast[who])
    for (const day of days) {
      expect(await explain(story, `${day}T13:00:00Z`)).toMatchObject({
        type: 'rejected',
        reasons: [
          {
            participantId,
            because: 'busy',
            stretches: [{ start: `${day}T13:00:00.000Z`, end: `${day}T14:00:00.000Z` }],
          },
        ],
      })
      expect(await explain(story, `${day}T14:00:00Z`)).toMatchObject({ type: 'acceptable' })
    }
  })

  test.each(providers)(
    'that is put into a calendar at %s after the proposal stops the write',
    async (organizer) => {
      const story = await proposeStory(world, database, { organizer })
      await story.approve()
      await world.control.addBusy(story.cast.ada.address, series)
      expect((await story.drainUntil('awaiting_approval')).proposal).toMatchObject(secondSlot)
      expect(await story.created()).toBe(0)
    },
  )
})

describe('a calendar that is dead (calcom/cal.diy#23506)', () => {
  const change = (
    { connectionId: _, ...person }: ConnectedPerson,
    more: Partial<SimulatedPerson & { refreshToken: string | null }>,
  ) => world.control.putPeople([{ ...person, ...more }])

  const dead = [
    ['the account was deleted', { refreshToken: null, readable: 'unknown_person' }],
    ['the mailbox was taken away', { readable: 'no_mailbox' }],
    ['the directory does not know the person', { readable: 'unknown_person' }],
    ['nobody may look any more', { readable: 'no_access' }],
  ] as const

  test.each(
    dead.flatMap(([what, changes]) => (['ben', 'chen'] as const).map((who) => [what, who, changes] as const)),
  )(
    'because %s is neither busy for ever nor free, but unknown, and somebody’s: %s',
    async (_what, who, changes) => {
      const story = await openStory(world, database)
      const person = story.cast[who]
      await change(person, changes)
      const { repairs, proposal } = await story.drainUntil('in_repair', soon)
      const participantId = await story.participantId(person)
      expect(repairs).toMatchObject([
        { code: 'availability_unknown', owner: 'calendar_owner', facts: { participantIds: [participantId] } },
      ])
      expect(proposal).toBeUndefined()
      for (const day of days) {
        expect(await explain(story, `${day}T13:00:00Z`)).toMatchObject({
          reasons: [{ participantId, because: 'unknown' }],
        })
      }
      expect(await story.told()).toEqual(['repair.opened'])

      // The person has a calendar again, and connects it; nothing of the dead one is held against them.
      const refreshToken = randomBytes(24).toString('base64url')
      await change(person, { readable: 'yes', refreshToken })
      const { provider, address } = person
      await story.client.post('/v1/calendar-connections', { provider, address, refreshToken }).expect(200)
      expect((await story.resolve({ type: 'search_again' })).status).toBe(200)
      expect((await story.drainUntil('awaiting_approval', soon)).proposal).toMatchObject(firstSlot)
    },
  )

  test.each(providers)('can be passed by: its owner is asked in words, at %s', async (provider) => {
    const who = provider === 'google' ? 'ben' : 'chen'
    const story = await openStory(world, database, {
      [who]: { readable: 'no_mailbox' },
      intent: { outreach: { messagesMax: 1 } },
    })
    const { address } = story.cast[who]
    await story.drainUntil('gathering')
    for (let step = 0; step < 8 && (await world.control.readMailbox(address)).received.length === 0; step++) {
      await database.advanceClock(3 * HOUR_MS)
      await story.dispatcher.drain()
    }
    await story.client.sendForm(await story.replyLink(address), {
      answer: 'times',
      do: 'send',
      zone: 'UTC',
      'date-0': '2027-03-30',
      'from-0': '14:00',
      'to-0': '15:00',
    })
    expect((await story.drainUntil('awaiting_approval', { ms: 6 * HOUR_MS, max: 8 })).proposal?.start).toBe(
      '2027-03-30T14:00:00.000Z',
    )
  })
})

describe('a day that is stated far from the organizer (lukevella/rallly#22, #90, #2467)', () => {
  test.each([
    ['Pacific/Pago_Pago', '2027-03-30T11:00:00.000Z', '2027-03-31T11:00:00.000Z'],
    ['Pacific/Honolulu', '2027-03-30T10:00:00.000Z', '2027-03-31T10:00:00.000Z'],
    ['America/Los_Angeles', '2027-03-30T07:00:00.000Z', '2027-03-31T07:00:00.000Z'],
    ['Pacific/Auckland', '2027-03-29T11:00:00.000Z', '2027-03-30T11:00:00.000Z'],
    ['Pacific/Kiritimati', '2027-03-29T10:00:00.000Z', '2027-03-30T10:00:00.000Z'],
  ])('stays that day, on the clock of the person who stated it: %s', async (zone, start, end) => {
    const story = await openStory(world, database, {
      outreach: { messagesMax: 1 },
      chen: { timeZone: zone },
    })
    const { address } = story.cast.chen
    for (
      let step = 0;
      step < 10 && (await world.control.readMailbox(address)).received.length === 0;
      step++
    ) {
      await story.dispatcher.drain()
      await database.advanceClock(3 * HOUR_MS)
    }
    const link = await story.replyLink(address)
    expect((await story.client.page(link).expect(200)).text).toContain('value="2027-03-30"')
    const day = { answer: 'times', do: 'send', zone, 'date-0': '2027-03-30', 'any-0': 'on' }
    const answer = await story.client.sendForm(link, day).expect(200)
    expect(answer.text).toContain('Tuesday 30 March 2027, 00:00')
    const { rows } = await database.owner.query<{ free: unknown }>(
      'select free from evidence where participant_id = $1',
      [await story.participantId(story.cast.chen)],
    )
    expect(rows).toEqual([{ free: [{ start, end }] }])
    expect((await story.client.page(link).expect(200)).text).toMatch(/value="2027-03-30" selected/)
  })
})

describe('an event under the id that its provider gave it (Tymeslot/tymeslot#63)', () => {
  test.each(providers)(
    'is moved and cancelled, also when the answer with the id was lost: %s',
    async (organizer) => {
      const story = await proposeStory(world, database, { organizer })
      await world.control.addFault({
        id: randomUUID(),
        provider: organizer,
        operation: operationsOf[organizer].insert,
        address: story.cast.ada.address,
        act: { type: 'drop', when: 'after_effect' },
      })
      await story.approve()
      const patience = { ms: 60_000, max: 20 }
      const later = {
        window: { from: '2027-03-31T00:00', to: '2027-04-02T00:00' },
        bookBy: '2027-03-30T12:00:00Z',
      }
      const { event } = await story.drainUntil('confirmed', patience)
      const [held] = await story.events()
      expect(event?.eventId).toBe(held?.id)

      await story.reschedule(later).expect(200)
      await story.drainUntil('awaiting_approval', soon)
      await story.approve()
      await story.drainUntil('confirmed', patience)
      await story.cancel().expect(200)
      await story.drainUntil('cancelled', patience)
      const effects = (await world.control.readLedger())
        .filter(({ calendarAddress }) => calendarAddress === story.cast.ada.address)
        .map(({ effect, eventId }) => [effect, eventId])
      expect(effects).toEqual([
        ['event_created', held?.id],
        ['event_patched', held?.id],
        ['event_cancelled', held?.id],
      ])
    },
  )
})
