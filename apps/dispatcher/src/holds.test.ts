/** Two meetings that want the same person at the same time. */
import { useDatabase } from '@aftercommit/testing'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { firstSlot, intentFor, proposeStory, secondSlot, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const Head = z.object({ id: z.string() })
const View = z.object({
  state: z.object({ type: z.string() }),
  proposal: z.object({ id: z.string(), start: z.string() }).optional(),
})

/** Another meeting of the same people, waiting for its approval. */
const another = async (
  story: Story,
): Promise<{ readonly id: string; view(): Promise<z.output<typeof View>> }> => {
  const intent = intentFor(story.cast, 'named_approver')
  const { id } = Head.parse((await story.client.post('/v1/meetings', intent).expect(201)).body)
  await story.dispatcher.drain()
  return {
    id,
    view: async () => View.parse((await story.client.get(`/v1/meetings/${id}`).expect(200)).body),
  }
}

const approve = async (story: Story, id: string, proposalId: string | undefined) =>
  story.client.post(`/v1/meetings/${id}/approve`, {
    proposalId,
    approver: { address: story.cast.ada.address },
  })

test('of two meetings approved at once for the same time, one is told and looks for another time', async () => {
  const story = await proposeStory(world, database)
  const other = await another(story)
  const [first, second] = [await story.view(), await other.view()]
  expect(first.proposal?.start).toBe(second.proposal?.start)
  const answers = await Promise.all([
    approve(story, story.meetingId, first.proposal?.id),
    approve(story, other.id, second.proposal?.id),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const refused = answers.find(({ status }) => status === 409)
  expect(refused?.body).toMatchObject({ type: expect.stringContaining('slot-held') })
  await story.dispatcher.drain()
  const views = [await story.view(), await other.view()]
  const again = views.find(({ state }) => state.type === 'awaiting_approval')
  expect(views.map(({ state }) => state.type).sort()).toEqual(['awaiting_approval', 'confirmed'])
  // The next hour that is nobody's: the first one is promised, or in the calendars by now.
  expect(again?.proposal?.start).toBe(secondSlot.start)
})

test('a time that is promised is not proposed to another meeting, also before it is in any calendar', async () => {
  const story = await proposeStory(world, database)
  await story.approve()
  const intent = intentFor(story.cast, 'named_approver')
  const { id } = Head.parse((await story.client.post('/v1/meetings', intent).expect(201)).body)
  const { rows } = await database.owner.query('select 1 from hold where meeting_id = $1', [story.meetingId])
  expect(rows).toHaveLength(3)
  await story.dispatcher.drain()
  const view = View.parse((await story.client.get(`/v1/meetings/${id}`).expect(200)).body)
  expect(view.proposal?.start).toBe(secondSlot.start)
  expect(firstSlot.start < secondSlot.start).toBe(true)
})

test('a cancelled meeting holds nobody', async () => {
  const story = await proposeStory(world, database)
  await story.approve()
  await story.drainUntil('confirmed')
  await story.cancel().expect(200)
  await story.drainUntil('cancelled')
  const { rows } = await database.owner.query('select 1 from hold where meeting_id = $1', [story.meetingId])
  expect(rows).toEqual([])
})

test('meetings of two clients do not know of each other', async () => {
  const story = await proposeStory(world, database)
  const stranger = await proposeStory(world, database)
  await story.approve()
  await stranger.approve()
})
