/** A meeting does not look for a time for ever: what is lost again and again is a person's to look at. */
import { useDatabase } from '@aftercommit/testing'
import { expect, test } from '@jest/globals'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, proposeStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const LOOKS_MAX = 10
const HALF_HOUR_MS = 30 * 60_000

const looksOf = async ({ meetingId }: Story): Promise<number> => {
  const { rows } = await database.owner.query<{ count: number }>(
    `select count(*)::int as count from meeting_decision where meeting_id = $1 and type = 'looked_again'`,
    [meetingId],
  )
  return rows[0]?.count ?? 0
}

/** What was read is too old by the time a time is looked for, once more. */
const growOld = async (story: Story): Promise<string> => {
  const { dispatcher } = story
  for (let ticks = 0; ticks < 5; ticks += 1) {
    const { type } = (await story.view()).state
    if (type !== 'gathering') break
    await dispatcher.tick()
  }
  await database.advanceClock(HALF_HOUR_MS)
  await dispatcher.tick()
  return (await story.view()).state.type
}

test('evidence that is too old every time is a repair in the end, and a person’s word begins anew', async () => {
  const story = await openStory(world, database)
  for (let look = 0; look < LOOKS_MAX; look += 1) expect(await growOld(story)).toBe('gathering')
  expect(await growOld(story)).toBe('in_repair')
  const { repairs } = await story.view()
  expect(repairs).toMatchObject([
    {
      code: 'no_progress',
      owner: 'organizer',
      facts: { because: 'search_outdated', looks: LOOKS_MAX },
      choices: ['search_again', 'correct_address', 'substitute_person', 'cancel_meeting'],
    },
  ])
  await story.dispatcher.drain()
  expect(await story.told()).toEqual(['repair.opened'])
  expect(await looksOf(story)).toBe(LOOKS_MAX)

  expect((await story.resolve({ type: 'search_again' })).status).toBe(200)
  expect(await growOld(story)).toBe('gathering')
  await story.drainUntil('awaiting_approval')
})

test('a time that is taken at every write is a repair in the end, and nothing was written', async () => {
  const story = await proposeStory(world, database)
  const { connectionId: _, ...ben } = story.cast.ben
  for (let look = 0; look <= LOOKS_MAX; look += 1) {
    const { proposal } = await story.view()
    await story.approve()
    await world.control.putPeople([
      { ...ben, busy: [{ start: proposal?.start ?? '', end: proposal?.end ?? '' }] },
    ])
    await story.drainUntil(look < LOOKS_MAX ? 'awaiting_approval' : 'in_repair')
  }
  const participantIds = [await story.participantId(story.cast.ben)]
  expect((await story.view()).repairs).toMatchObject([
    { code: 'no_progress', facts: { because: 'slot_taken', participantIds } },
  ])
  expect(await story.created()).toBe(0)

  // Nobody chose anything by the deadline, which is the meeting's end as ever.
  const deadline = (await story.rows('scheduling.reach_deadline')).find(({ state }) => state === 'scheduled')
  await database.advanceClock((deadline?.waits_ms ?? 0) + 1_000)
  await story.drainUntil('lapsed')
})
