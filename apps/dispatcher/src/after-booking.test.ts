/** What becomes of a meeting that was booked: cancelled, moved, declined, or changed behind our back. */
import { useDatabase } from '@aftercommit/testing'
import { describe, expect, test } from '@jest/globals'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import type { openStory } from './story.testing.ts'
import {
  firstSlot,
  operationsOf,
  providers,
  proposeStory,
  secondSlot,
  type Provider,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const MINUTE_MS = 60_000
const patience = { ms: 5 * MINUTE_MS, max: 6 }
const later = { window: { from: '2027-04-05T00:00', to: '2027-04-09T00:00' }, bookBy: '2027-04-04T12:00:00Z' }
const laterSlot = '2027-04-05T13:00:00.000Z'
const update = { google: 'events.patch', microsoft: 'events.patch' } as const
const remove = { google: 'events.delete', microsoft: 'events.cancel' } as const

const bookStory = async (organizer: Provider, more: Parameters<typeof openStory>[2] = {}): Promise<Story> => {
  const story = await proposeStory(world, database, { organizer, ...more })
  await story.approve()
  await story.drainUntil('confirmed')
  return story
}

const live = async (story: Story) => (await story.events()).filter(({ status }) => status !== 'cancelled')

/** By the database's clock, which tests move on. */
const inDays = async (days: number): Promise<string> => {
  const { rows } = await database.owner.query<{ at: Date }>(
    `select app_now() + $1 * interval '1 day' as at`,
    [days],
  )
  const [row] = rows
  if (!row) throw new Error('no time')
  return row.at.toISOString()
}

/** Lets the next look at the booked event happen. */
const look = async (story: Story): Promise<void> => {
  await database.advanceClock(16 * MINUTE_MS)
  await story.dispatcher.drain()
}

describe.each(providers)('a meeting booked at %s', (organizer) => {
  test('is cancelled: its event first, then the meeting, and the client is told once', async () => {
    const story = await bookStory(organizer)
    const { event: booked } = await story.view()
    await story.cancel().expect(200)
    const { state, event } = await story.view()
    expect(state.type).toBe('cancelling')
    expect(event).toEqual({ ...booked, status: 'standing' })
    const cancelled = await story.drainUntil('cancelled')
    // Whoever keeps the event's id learns that this one is gone.
    expect(cancelled.event).toEqual({ ...booked, status: 'cancelled', cancelledAt: expect.any(String) })
    expect(cancelled.proposal).toBeUndefined()
    expect(await live(story)).toEqual([])
    expect((await story.told()).filter((type) => type === 'meeting.cancelled')).toHaveLength(1)
    await story.cancel().expect(409)
    expect((await story.trace()).pending).toEqual([])
  })

  test('is cancelled although the answer to that is lost', async () => {
    const story = await bookStory(organizer)
    await world.control.addFault({
      id: `lost cancel ${story.meetingId}`,
      provider: organizer,
      operation: remove[organizer],
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await story.cancel().expect(200)
    await story.drainUntil('cancelled', patience)
    expect(await live(story)).toEqual([])
  })

  test('is cancelled by nobody but its organizer or approver', async () => {
    const story = await bookStory(organizer)
    await story.cancel(story.cast.ben.address).expect(403)
    expect((await story.view()).state.type).toBe('confirmed')
  })

  test('keeps its event until the new time is approved, and then the same event stands at that time', async () => {
    const story = await bookStory(organizer)
    const [before] = await live(story)
    await story.reschedule(later).expect(200)
    const proposed = await story.drainUntil('awaiting_approval')
    expect(await live(story)).toMatchObject([{ id: before?.id, start: before?.start }])
    expect(proposed).toMatchObject({ revision: 2, proposal: { start: laterSlot } })
    await story.approve()
    await story.drainUntil('confirmed')
    const after = await live(story)
    expect(after).toHaveLength(1)
    expect(after[0]?.id).toBe(before?.id)
    expect(new Date(after[0]?.start ?? '').toISOString()).toBe(laterSlot)
    expect(await story.created()).toBe(1)
    expect(await story.told()).toContain('meeting.rescheduled')
  })

  test('is moved once although the answer to the move is lost', async () => {
    const story = await bookStory(organizer)
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    await world.control.addFault({
      id: `lost move ${story.meetingId}`,
      provider: organizer,
      operation: update[organizer],
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await story.approve()
    await story.drainUntil('confirmed', patience)
    const patches = (await world.control.readLedger()).filter(
      ({ effect, by, calendarAddress }) =>
        effect === 'event_patched' && by === 'api' && calendarAddress === story.cast.ada.address,
    )
    expect(patches).toHaveLength(1)
    expect(await live(story)).toHaveLength(1)
  })

  test('stays as it was when no new time is approved before the new deadline', async () => {
    const story = await bookStory(organizer)
    await story.reschedule({ ...later, bookBy: await inDays(3) }).expect(200)
    await story.drainUntil('awaiting_approval')
    await database.advanceClock(4 * 86_400_000)
    await story.dispatcher.drain()
    expect((await story.view()).state.type).toBe('confirmed')
    expect(await live(story)).toMatchObject([{ start: expect.stringContaining('2027-03-29T1') }])
    expect(await story.told()).toContain('meeting.reschedule_lapsed')
  })

  test('that its organizer deletes is noticed, named, and booked again on a word', async () => {
    const story = await bookStory(organizer)
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'delete' })
    await look(story)
    expect((await story.view()).repairs).toMatchObject([{ code: 'event_gone', owner: 'organizer' }])
    expect((await story.resolve({ type: 'search_again' })).status).toBe(200)
    await story.drainUntil('awaiting_approval', patience)
    await story.approve()
    await story.drainUntil('confirmed', patience)
    expect(await live(story)).toHaveLength(1)
  })

  test('that its organizer moves is noticed, and the new time is accepted on a word', async () => {
    const story = await bookStory(organizer)
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot })
    await look(story)
    expect((await story.view()).repairs).toMatchObject([{ code: 'event_moved' }])
    expect((await story.resolve({ type: 'accept_change' })).status).toBe(200)
    const confirmed = await story.drainUntil('confirmed', patience)
    expect(confirmed.proposal?.start).toBe(secondSlot.start)
    expect(await story.created()).toBe(1)
  })

  test('that its organizer moves is put back on a word', async () => {
    const story = await bookStory(organizer)
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot })
    await look(story)
    expect((await story.resolve({ type: 'restore_event' })).status).toBe(200)
    await story.drainUntil('confirmed', patience)
    const [after] = await live(story)
    expect(new Date(after?.start ?? '').toISOString()).toBe(firstSlot.start)
  })

  test('that a required person declines afterwards is noticed and named', async () => {
    const story = await bookStory(organizer)
    const [event] = await live(story)
    const { ben } = story.cast
    await world.control.actOnEvent(event?.id ?? '', {
      type: 'respond',
      address: ben.address,
      response: 'declined',
    })
    await look(story)
    const benId = await story.participantId(ben)
    expect((await story.view()).repairs).toMatchObject([
      { code: 'participant_declined', facts: { participantIds: [benId] } },
    ])
    expect((await story.resolve({ type: 'cancel_meeting' })).status).toBe(200)
    await story.drainUntil('cancelled', patience)
    expect(await live(story)).toEqual([])
  })

  test('is not overwritten when somebody moved its event before our change of it', async () => {
    const story = await bookStory(organizer)
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    const [event] = await live(story)
    await world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot })
    await story.approve()
    await story.drainUntil('in_repair', patience)
    expect((await story.view()).repairs).toMatchObject([{ code: 'event_changed' }])
    const [after] = await live(story)
    expect(new Date(after?.start ?? '').toISOString()).toBe(secondSlot.start)
  })
})

describe('an order that comes before the event is there', () => {
  test('a cancellation while the write is queued leaves nothing behind', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    await story.cancel().expect(200)
    expect((await story.view()).state.type).toBe('cancelled')
    await story.dispatcher.drain()
    expect(await story.created()).toBe(0)
  })

  test('a cancellation while the write is in doubt takes away the event that comes to light', async () => {
    const story = await proposeStory(world, database)
    await world.control.addFault({
      id: `lost write ${story.meetingId}`,
      provider: 'google',
      operation: operationsOf.google.insert,
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await story.approve()
    await story.drainUntil('write_uncertain').catch(() => undefined)
    await story.cancel().expect(200)
    await story.drainUntil('cancelled', patience)
    expect(await live(story)).toEqual([])
    expect(await story.created()).toBe(1)
  })

  test('of two changes at once one replaces the other, and one new time is proposed', async () => {
    const story = await bookStory('google')
    const answers = await Promise.all([story.reschedule(later), story.reschedule(later)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await story.drainUntil('awaiting_approval')).toMatchObject({ revision: 3 })
    expect((await story.told()).filter((type) => type === 'proposal.awaiting_approval')).toHaveLength(2)
  })
})
