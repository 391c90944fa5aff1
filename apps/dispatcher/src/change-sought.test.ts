/** A booked meeting whose change is sought, was not found, or is given up: the booking stands all the while. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld, type ConnectedPerson } from './scheduling-world.testing.ts'
import {
  firstSlot,
  openStory,
  proposeStory,
  secondSlot,
  window,
  type Story,
  type StoryOptions,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const later = { window: { from: '2027-04-05T00:00', to: '2027-04-09T00:00' }, bookBy: '2027-04-04T12:00:00Z' }
const laterSlot = '2027-04-05T13:00:00.000Z'
/** Ben is busy for all of that week. */
const busyWeek = { from: '2027-04-12T00:00', to: '2027-04-16T00:00' }
const ben = { busy: [{ start: '2027-04-11T00:00:00Z', end: '2027-04-18T00:00:00Z' }] }
const hopeless = { window: busyWeek, bookBy: '2027-04-04T12:00:00Z' }

const bookStory = async (more: StoryOptions = {}): Promise<Story> => {
  const story = await proposeStory(world, database, { ben, ...more })
  await story.approve()
  await story.drainUntil('confirmed')
  return story
}

/** A booking whose change found no time. */
const blockedStory = async (): Promise<Story> => {
  const story = await bookStory()
  await story.reschedule(hopeless).expect(200)
  await story.drainUntil('no_overlap')
  return story
}

const soon = { ms: 10_000, max: 3 }
const withdraw = (story: Story, address = story.cast.ada.address) =>
  story.client.post(`/v1/meetings/${story.meetingId}/withdraw-change`, { by: { address } })

/** The person signs in elsewhere, and with that takes back what was granted to us. */
const revoke = ({ connectionId: _, ...person }: ConnectedPerson) =>
  world.control.putPeople([{ ...person, refreshToken: randomBytes(24).toString('base64url') }])

const live = async (story: Story) => (await story.events()).filter(({ status }) => status !== 'cancelled')
const looksOf = async (story: Story) =>
  (await story.rows('scheduling.watch_event')).filter(({ waits_ms }) => waits_ms !== null)

const look = async (story: Story): Promise<void> => {
  await database.advanceClock(16 * MINUTE_MS)
  await story.dispatcher.drain()
}

const inDays = async (days: number): Promise<string> => {
  const { rows } = await database.owner.query<{ at: Date }>(
    `select app_now() + $1 * interval '1 day' as at`,
    [days],
  )
  return rows[0]?.at.toISOString() ?? ''
}

describe('a change is replaced by another one', () => {
  test('when it found no time: the booking is moved to a time of the other window', async () => {
    const story = await blockedStory()
    expect(await live(story)).toMatchObject([firstSlot])
    await story.reschedule(later).expect(200)
    const proposed = await story.drainUntil('awaiting_approval')
    expect(proposed.proposal?.start).toBe(laterSlot)
    await story.approve()
    await story.drainUntil('confirmed')
    expect(await live(story)).toHaveLength(1)
    expect(await story.created()).toBe(1)
    expect(await story.told()).toContain('meeting.rescheduled')
  })

  test('while it waits for approval: its proposal can be approved no more, and only one deadline is left', async () => {
    const story = await bookStory()
    await story.reschedule({ ...later, durationMinutes: 30 }).expect(200)
    const { proposal } = await story.drainUntil('awaiting_approval')
    await story.reschedule(later).expect(200)
    await story.postApproval(proposal?.id ?? '').expect(409)
    const next = await story.drainUntil('awaiting_approval')
    expect(next.proposal).toMatchObject({ start: laterSlot, end: '2027-04-05T14:00:00.000Z' })
    expect(await story.rows('scheduling.reach_deadline')).toMatchObject([
      { state: 'superseded' },
      { state: 'superseded', code: 'rescheduled' },
      { state: 'scheduled' },
    ])
  })

  test('when it needs a repair that is about no event', async () => {
    const story = await bookStory()
    await revoke(story.cast.ben)
    await story.reschedule(later).expect(200)
    await story.drainUntil('in_repair', soon)
    await story.reschedule({ ...later, durationMinutes: 30 }).expect(200)
    expect(await story.view()).toMatchObject({ state: { type: 'gathering' }, repairs: [] })
    await story.drainUntil('in_repair', soon)
    await withdraw(story).expect(200)
    expect(await story.view()).toMatchObject({ state: { type: 'confirmed' }, repairs: [] })
  })
})

describe('a change is given up', () => {
  test.each(['gathering', 'awaiting_approval', 'no_overlap'])('when it is %s', async (state) => {
    const story = await bookStory()
    const before = await story.view()
    await story.reschedule(state === 'no_overlap' ? hopeless : later).expect(200)
    if (state !== 'gathering') await story.drainUntil(state)
    await withdraw(story).expect(200)
    const after = await story.view()
    expect(after).toMatchObject({ state: before.state, proposal: before.proposal, revision: 3 })
    const { intent } = (await story.client.get(`/v1/meetings/${story.meetingId}`)).body as {
      intent: { window: unknown }
    }
    expect(intent.window).toEqual(window)
    await story.dispatcher.drain()
    expect(await story.view()).toMatchObject({ state: { type: 'confirmed' } })
    expect(await live(story)).toMatchObject([firstSlot])
    expect((await story.told()).filter((type) => type === 'meeting.reschedule_lapsed')).toHaveLength(1)
    const left = (await story.rows()).filter(({ waits_ms }) => waits_ms !== null)
    expect(new Set(left.map(({ action }) => action))).toEqual(new Set(['scheduling.watch_event']))
    expect(left).toHaveLength(3)
  })

  test('with the messages to people who were asked about it', async () => {
    const story = await openStory(world, database, { ben, outreach: { messagesMax: 2, spacingHours: 24 } })
    const { address } = story.cast.chen
    const mails = async () => (await world.control.readMailbox(address)).received.length
    const mailedOnce = async (count: number): Promise<void> => {
      await story.untilMailed(address, count)
      expect(await mails()).toBe(count)
    }
    await mailedOnce(1)
    const times = { zone: 'Europe/Berlin', 'date-0': '2027-03-30', 'from-0': '16:00', 'to-0': '17:00' }
    const reply = { answer: 'times', do: 'send', ...times }
    await story.client.sendForm(await story.replyLink(address), reply).expect(200)
    await story.drainUntil('awaiting_approval')
    await story.approve()
    await story.drainUntil('confirmed')
    await story.reschedule(later).expect(200)
    await mailedOnce(2)
    await withdraw(story).expect(200)
    await database.advanceClock(2 * DAY_MS)
    await story.dispatcher.drain()
    expect(await mails()).toBe(2)
    expect((await story.view()).state.type).toBe('confirmed')
  })

  test('by nobody but the organizer or approver, and only once', async () => {
    const story = await blockedStory()
    const refused = await withdraw(story, story.cast.ben.address).expect(403)
    expect(refused.body).toMatchObject({ type: '/problems/not-authorised' })
    await withdraw(story).expect(200)
    const again = await withdraw(story).expect(409)
    expect(again.body).toMatchObject({ type: '/problems/no-change', detail: 'It is confirmed.' })
  })
})

describe('the booking of which a change is sought', () => {
  test('is looked at as before: that its event is gone ends the change, and a person is told', async () => {
    const story = await blockedStory()
    expect(await looksOf(story)).toHaveLength(3)
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'delete' })
    await look(story)
    expect(await story.view()).toMatchObject({
      state: { type: 'in_repair' },
      repairs: [{ code: 'event_gone' }],
    })
    // Nothing of the change is left that could call the meeting confirmed.
    expect((await story.rows('scheduling.reach_deadline')).every(({ waits_ms }) => waits_ms === null)).toBe(
      true,
    )
  })

  test('is put right while a change waits for approval, when somebody moved its event', async () => {
    const story = await bookStory()
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot })
    await look(story)
    expect((await story.view()).repairs).toMatchObject([{ code: 'event_moved' }])
    expect((await story.resolve({ type: 'accept_change' })).status).toBe(200)
    expect((await story.drainUntil('confirmed')).proposal).toMatchObject(secondSlot)
  })

  test('goes on being changed when somebody declines the time that is to be left, who is heard if it stays', async () => {
    const story = await bookStory()
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    const [event] = await live(story)
    const { address } = story.cast.ben
    await world.control.actOnEvent(event?.id ?? '', { type: 'respond', address, response: 'declined' })
    await look(story)
    expect((await story.view()).state.type).toBe('awaiting_approval')
    await withdraw(story).expect(200)
    await look(story)
    expect((await story.view()).repairs).toMatchObject([{ code: 'participant_declined' }])
  })

  test.each(['gathering', 'awaiting_approval', 'no_overlap', 'in_repair'])(
    'is confirmed again when the deadline of a change comes that is %s',
    async (state) => {
      const story = await bookStory()
      const bookBy = await inDays(2)
      if (state === 'in_repair') await revoke(story.cast.ben)
      await story.reschedule({ ...(state === 'no_overlap' ? hopeless : later), bookBy }).expect(200)
      if (state !== 'gathering') await story.drainUntil(state, soon)
      await database.advanceClock(3 * DAY_MS)
      await story.dispatcher.drain()
      const view = await story.drainUntil('confirmed')
      expect(view).toMatchObject({ proposal: firstSlot, repairs: [] })
      expect(await live(story)).toMatchObject([firstSlot])
      expect(await story.told()).toContain('meeting.reschedule_lapsed')
    },
  )
})

describe('what cannot be moved is told with its state and what may be done', () => {
  test('a meeting that waits for its first approval', async () => {
    const story = await proposeStory(world, database)
    const answer = await story.reschedule(later).expect(409)
    expect(answer.body).toMatchObject({
      type: '/problems/not-booked',
      title: 'No event of this meeting stands, so there is nothing to move.',
      detail:
        'It is awaiting_approval: approve its proposal, and it is booked for the first time; or cancel it.',
    })
    expect((await withdraw(story).expect(409)).body).toMatchObject({ type: '/problems/not-booked' })
  })

  test('a meeting whose event is being written', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    const answer = await story.reschedule(later).expect(409)
    expect(answer.body).toMatchObject({
      type: '/problems/being-written',
      detail: 'It is booking: wait until it is confirmed or in repair, or cancel it.',
    })
  })

  test('a meeting whose change is being written', async () => {
    const story = await bookStory()
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    await story.approve()
    await story.reschedule(later).expect(409)
    expect((await withdraw(story).expect(409)).body).toMatchObject({ type: '/problems/being-written' })
  })

  test('a meeting whose event is not what was approved', async () => {
    const story = await bookStory()
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot })
    await look(story)
    const [repair] = (await story.view()).repairs
    const answer = await story.reschedule(later).expect(409)
    expect(answer.body).toMatchObject({
      type: '/problems/needs-repair',
      detail: `It is in_repair: resolve repair ${repair?.id ?? ''}, or cancel it.`,
    })
  })

  test('a meeting that was cancelled', async () => {
    const story = await proposeStory(world, database)
    await story.cancel().expect(200)
    expect((await story.reschedule(later).expect(409)).body).toMatchObject({
      type: '/problems/meeting-ended',
      detail: 'It is cancelled: ask for a new meeting.',
    })
  })
})
