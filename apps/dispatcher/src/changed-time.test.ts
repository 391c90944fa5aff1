import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld, type ConnectedPerson } from './scheduling-world.testing.ts'
import { firstSlot, openStory, proposeStory, secondSlot, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const everything = { start: '2027-03-28T00:00:00Z', end: '2027-04-03T00:00:00Z' }
const fill = ({ connectionId: _, ...person }: ConnectedPerson, busy: { start: string; end: string }) =>
  world.control.putPeople([{ ...person, busy: [busy] }])
/** One of these tests lets the usual deadline pass, for the whole database. */
const later = { bookBy: '2027-03-28T12:00:00Z' }
const rounds = async (story: Story) => {
  const { rows } = await database.owner.query<{ round: number; start_at: Date }>(
    'select round, start_at from proposal where meeting_id = $1 order by round',
    [story.meetingId],
  )
  return rows.map(({ round, start_at }) => [round, start_at.toISOString()])
}

describe('a slot that somebody took between proposal and write', () => {
  test('is not written; everybody is read anew and another time is proposed', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    await fill(story.cast.ben, firstSlot)
    const view = await story.drainUntil('awaiting_approval')
    expect(view.proposal).toMatchObject(secondSlot)
    expect(await rounds(story)).toEqual([
      [1, firstSlot.start],
      [2, secondSlot.start],
    ])
    expect(await story.rows('scheduling.read_availability')).toHaveLength(6)
    expect(await story.rows('scheduling.write_event')).toMatchObject([{ state: 'succeeded' }])
    expect(await story.created()).toBe(0)
    expect(await story.told()).toEqual(['proposal.awaiting_approval', 'proposal.awaiting_approval'])

    await story.approve()
    await story.drainUntil('confirmed')
    expect(await story.created()).toBe(1)
    expect(await story.events()).toMatchObject([secondSlot])
  })

  test('is replaced without a person where the approval is automatic', async () => {
    const story = await openStory(world, database, { approval: 'automatic' })
    // The reads and the search, but not yet the write.
    await story.dispatcher.tick()
    await story.dispatcher.tick()
    expect((await story.view()).state.type).toBe('booking')
    await fill(story.cast.chen, firstSlot)
    await story.drainUntil('confirmed')
    expect(await story.events()).toMatchObject([secondSlot])
    expect(await story.created()).toBe(1)
  })

  test('may have been the last one: that is an outcome, and the client is told', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    await fill(story.cast.ben, everything)
    await story.drainUntil('no_overlap')
    expect(await story.created()).toBe(0)
    expect(await story.told()).toEqual(['proposal.awaiting_approval', 'meeting.no_overlap'])
  })

  test('puts the deadline back: who is asked again and does not answer lets the meeting lapse', async () => {
    const story = await proposeStory(world, database)
    const deadlines = () => story.rows('scheduling.reach_deadline')
    await story.approve()
    expect(await deadlines()).toMatchObject([{ state: 'superseded', code: 'approved' }])
    await fill(story.cast.ben, firstSlot)
    await story.drainUntil('awaiting_approval')
    const [, again] = await deadlines()
    expect(again).toMatchObject({ state: 'scheduled' })

    await database.advanceClock((again?.waits_ms ?? 0) + 1_000)
    const lapsed = await story.drainUntil('lapsed')
    expect(lapsed.proposal).toBeUndefined()
    expect(await story.told()).toContain('meeting.lapsed')
  })
})

test('a meeting for which there is no common time says so, once, and proposes nothing', async () => {
  const story = await openStory(world, database, { ben: { busy: [everything] }, intent: later })
  const view = await story.drainUntil('no_overlap')
  expect(view.proposal).toBeUndefined()
  expect(view.repairs).toEqual([])
  expect(await story.told()).toEqual(['meeting.no_overlap'])
  expect(await rounds(story)).toEqual([])
})

test('a search that cannot be made is a repair and leaves no meeting waiting for it', async () => {
  const story = await openStory(world, database, { intent: later })
  await story.dispatcher.tick()
  expect((await story.view()).state.type).toBe('choosing')
  // A row that nobody can read any more, whatever did that to it.
  await database.owner.query(`update evidence set busy = '"nothing"' where meeting_id = $1`, [
    story.meetingId,
  ])
  const { repairs } = await story.drainUntil('in_repair', { ms: 61_000, max: 6 })
  expect(repairs).toMatchObject([{ code: 'prepare_failed', owner: 'operations' }])
  expect(await story.told()).toEqual(['repair.opened'])
})

describe('a dispatcher that was away', () => {
  test('between the reads and the search reads everybody anew instead of trusting old answers', async () => {
    const story = await openStory(world, database, { intent: later })
    await story.dispatcher.tick()
    expect((await story.view()).state.type).toBe('choosing')
    await database.advanceClock(20 * 60_000)
    // What was free an hour ago is busy by now.
    await fill(story.cast.ben, firstSlot)
    const view = await story.drainUntil('awaiting_approval')
    expect(view.proposal).toMatchObject(secondSlot)
    expect(view.repairs).toEqual([])
    expect(await rounds(story)).toEqual([[2, secondSlot.start]])
  })

  test('past the booking deadline writes nothing that was approved before it', async () => {
    const story = await proposeStory(world, database, { intent: later })
    await story.approve()
    await database.owner.query(
      `update meeting set intent = jsonb_set(intent, '{bookBy}', to_jsonb(app_now() - interval '1 second'))
         where meeting_id = $1`,
      [story.meetingId],
    )
    const { repairs } = await story.drainUntil('in_repair')
    expect(repairs).toMatchObject([{ code: 'booking_deadline_passed', owner: 'organizer' }])
    expect(await story.created()).toBe(0)
  })
})
