import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { firstSlot, intentFor, openStory, proposeStory, secondSlot } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

/** Somebody's calendar fills up behind our back. */
const takeSlot = (person: Parameters<typeof world.control.putPeople>[0][number]) =>
  world.control.putPeople([{ ...person, busy: [{ start: firstSlot.start, end: firstSlot.end }] }])

test('of two approvals at once one wins, and one event is written', async () => {
  const story = await proposeStory(world, database)
  const { proposal } = await story.view()
  const answers = await Promise.all([1, 2].map(() => story.postApproval(proposal?.id ?? '')))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(await story.rows('scheduling.write_event')).toHaveLength(1)

  await story.drainUntil('confirmed')
  expect(await story.created()).toBe(1)
  expect(await story.events()).toHaveLength(1)
  const approvals = await database.owner.query('select 1 from approval where meeting_id = $1', [
    story.meetingId,
  ])
  expect(approvals.rowCount).toBe(1)
})

test('an approval that comes after the event was confirmed changes nothing', async () => {
  const story = await proposeStory(world, database)
  const { proposal } = await story.view()
  await story.approve()
  await story.drainUntil('confirmed')
  const late = await story.postApproval(proposal?.id ?? '').expect(409)
  expect(JSON.stringify(late.body)).toContain('confirmed')
  await story.dispatcher.drain()
  expect(await story.created()).toBe(1)
})

test('nobody but the person named may approve', async () => {
  const story = await proposeStory(world, database)
  const { proposal } = await story.view()
  await story.postApproval(proposal?.id ?? '', story.cast.ben.address).expect(403)
  expect((await story.view()).state.type).toBe('awaiting_approval')
  expect(await story.rows('scheduling.write_event')).toEqual([])
})

test('a proposal that another has replaced can be approved no more', async () => {
  const story = await proposeStory(world, database)
  const first = (await story.view()).proposal
  await story.approve()
  await takeSlot(story.cast.ben)
  const again = await story.drainUntil('awaiting_approval')
  expect(again.proposal).toMatchObject(secondSlot)

  const outdated = await story.postApproval(first?.id ?? '').expect(409)
  expect(JSON.stringify(outdated.body)).toContain(again.proposal?.id)
  await story.dispatcher.drain()
  expect(await story.created()).toBe(0)

  await story.approve()
  await story.drainUntil('confirmed')
  expect(await story.events()).toMatchObject([secondSlot])
})

test("another meeting's proposal is nobody's here", async () => {
  const [story, other] = [await proposeStory(world, database), await proposeStory(world, database)]
  const { proposal } = await other.view()
  await story.postApproval(proposal?.id ?? '').expect(422)
  await story.postApproval(randomUUID()).expect(422)
})

test('an approval after the deadline is too late, even before the deadline row has run', async () => {
  const story = await proposeStory(world, database)
  const { proposal } = await story.view()
  // In the place of waiting for months: the deadline comes to the meeting.
  await database.owner.query(
    `update meeting set intent = jsonb_set(intent, '{bookBy}', to_jsonb(app_now() - interval '1 second'))
       where meeting_id = $1`,
    [story.meetingId],
  )
  await story.postApproval(proposal?.id ?? '').expect(409)
  expect(await story.rows('scheduling.write_event')).toEqual([])
})

describe("another tenant's key", () => {
  test('finds no meeting, no trace and nothing to approve', async () => {
    const story = await proposeStory(world, database)
    const stranger = await world.createClient()
    const { proposal } = await story.view()
    await stranger.get(`/v1/meetings/${story.meetingId}`).expect(404)
    await stranger.get(`/v1/meetings/${story.meetingId}/trace`).expect(404)
    await stranger
      .post(`/v1/meetings/${story.meetingId}/approve`, {
        proposalId: proposal?.id,
        approver: { address: story.cast.ada.address },
      })
      .expect(404)
    expect((await story.view()).state.type).toBe('awaiting_approval')
  })

  test("cannot use the other's calendar connections", async () => {
    const story = await openStory(world, database)
    const stranger = await world.createClient()
    const refused = await stranger.post('/v1/meetings', intentFor(story.cast, 'automatic')).expect(400)
    const pointers = JSON.stringify(refused.body)
    expect(pointers).toContain('/organizer/calendarConnectionId')
    expect(pointers).toContain('/participants/2/calendarConnectionId')
    const meetings = await database.owner.query('select 1 from meeting where tenant_id = $1', [
      stranger.tenantId,
    ])
    expect(meetings.rowCount).toBe(0)
  })

  test("hears nothing of the other's meetings", async () => {
    const stranger = await world.createClient()
    const story = await proposeStory(world, database, { approval: 'named_approver' })
    expect(await story.told()).toEqual(['proposal.awaiting_approval'])
    expect((await world.control.readWebhooks(stranger.webhookName)).received).toEqual([])
  })
})

test("a connection cannot be used for somebody else's address", async () => {
  const story = await openStory(world, database)
  const { ada, ben, chen } = story.cast
  const swapped = { ada, ben: { ...ben, connectionId: chen.connectionId }, chen }
  const refused = await story.client.post('/v1/meetings', intentFor(swapped, 'automatic')).expect(400)
  expect(JSON.stringify(refused.body)).toContain('/participants/1/calendarConnectionId')
})
