/** What a reader of the trace, who saw nothing else, is told of decisions, holds, rounds, waits and whose turn it is. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import {
  firstSlot,
  intentFor,
  openStory,
  proposeStory,
  secondSlot,
  window,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const HOUR_MS = 60 * 60_000
const outreach = { messagesMax: 2, spacingHours: 24 }

const textOf = async (story: Story): Promise<string> =>
  (await story.client.get(`/v1/meetings/${story.meetingId}/trace`).set('accept', 'text/plain').expect(200))
    .text
const entriesOf = async (story: Story, type: string) =>
  (await story.trace()).entries.filter((entry) => entry.type === type)
const nextOf = async (story: Story) =>
  z
    .object({ next: z.array(z.looseObject({ type: z.string(), code: z.string().optional() })) })
    .parse((await story.client.get(`/v1/meetings/${story.meetingId}/trace`).expect(200)).body).next

const now = async (): Promise<number> => {
  const { rows } = await database.owner.query<{ now: Date }>('select app_now() as now')
  return rows[0]?.now.getTime() ?? NaN
}

const confirmedStory = async (): Promise<Story> => {
  const story = await proposeStory(world, database)
  await story.approve()
  await story.drainUntil('confirmed')
  return story
}
const bookBy = '2027-03-28T12:00:00Z'

describe('decisions', () => {
  test('while another time is sought the view shows when the event stands', async () => {
    const story = await proposeStory(world, database, { intent: { bookBy } })
    await story.approve()
    await story.drainUntil('confirmed')
    await story
      .reschedule({ window: { from: '2027-03-30T00:00', to: '2027-04-02T00:00' }, bookBy })
      .expect(200)
    const event = async () =>
      z
        .object({ event: z.looseObject({}) })
        .parse((await story.client.get(`/v1/meetings/${story.meetingId}`).expect(200)).body).event
    expect(await event()).toMatchObject(firstSlot)
    const sought = await story.drainUntil('awaiting_approval')
    expect(sought.proposal?.start).not.toBe(firstSlot.start)
    expect(await event()).toMatchObject(firstSlot)
    await story.approve()
    await story.drainUntil('confirmed')
    expect(await event()).toMatchObject({ start: sought.proposal?.start })
  })

  test('a cancellation says by whose right, and what was held until then', async () => {
    const story = await proposeStory(world, database, { intent: { bookBy } })
    await story.approve()
    await story.drainUntil('confirmed')
    await story.cancel().expect(200)
    await story.drainUntil('cancelled')
    expect(await entriesOf(story, 'decision')).toMatchObject([{ decision: 'cancelled', by: 'organizer' }])
    const placed = await entriesOf(story, 'hold_placed')
    expect(placed).toMatchObject([{ people: 3 }])
    expect(await entriesOf(story, 'hold_released')).toMatchObject([
      { people: 3, placedAt: placed[0]?.at, state: 'cancelled' },
    ])
    const text = await textOf(story)
    expect(text).toContain('the organizer cancelled the meeting')
    expect(text).toMatch(
      /the time of 3 people, held for proposal 1 since .*, is given back: the meeting is cancelled/,
    )
  })

  test('a time that somebody took is a round with a reason, and the time between is not anybody’s', async () => {
    const story = await proposeStory(world, database, { intent: { bookBy } })
    await story.approve()
    const { connectionId: _, ...ben } = story.cast.ben
    await world.control.putPeople([{ ...ben, busy: [firstSlot] }])
    expect((await story.drainUntil('awaiting_approval')).proposal).toMatchObject(secondSlot)
    const who = await story.participantId(story.cast.ben)
    expect(await entriesOf(story, 'decision')).toMatchObject([
      { decision: 'looked_again', by: 'rule', because: 'slot_taken', participantIds: [who], round: 2 },
    ])
    const text = await textOf(story)
    expect(text).toMatch(/^ +round 2 began at .*: somebody’s time was taken before the event was written$/m)
    expect(text).toMatch(/^ +round 1: availability .*, approval .*, write .* \(broken off\)$/m)
    expect(text).toMatch(/is given back: another time is looked for/)
  })

  test('a time promised to another meeting is a reason too', async () => {
    const story = await proposeStory(world, database, { intent: { bookBy } })
    const intent = { ...intentFor(story.cast, 'named_approver'), bookBy }
    const answer = await story.client.post('/v1/meetings', intent).expect(201)
    const { id } = z.object({ id: z.string() }).parse(answer.body)
    await story.dispatcher.drain()
    const other = z
      .object({ proposal: z.object({ id: z.string() }) })
      .parse((await story.client.get(`/v1/meetings/${id}`).expect(200)).body)
    await story.client
      .post(`/v1/meetings/${id}/approve`, {
        proposalId: other.proposal.id,
        approver: { address: story.cast.ada.address },
      })
      .expect(200)
    await story.postApproval((await story.view()).proposal?.id ?? '').expect(409)
    expect(await textOf(story)).toContain(
      'a time is looked for again: somebody was promised to another meeting meanwhile',
    )
  })

  test('a calendar that is connected later is told, also when it had been connected before', async () => {
    const story = await openStory(world, database, { outreach, intent: { bookBy } })
    const { chen, ben } = story.cast
    const id = await story.participantId(chen)
    await story.client
      .post(`/v1/meetings/${story.meetingId}/participants/${id}/calendar`, {
        by: { address: story.cast.ada.address },
        calendarConnectionId: chen.connectionId,
      })
      .expect(200)
    await story.client
      .post('/v1/calendar-connections', {
        provider: 'google',
        address: ben.address,
        refreshToken: randomUUID(),
      })
      .expect(200)
    expect(await entriesOf(story, 'decision')).toMatchObject([
      { decision: 'calendar_connected', by: 'organizer', participantIds: [id] },
      {
        decision: 'calendar_reconnected',
        by: 'calendar_owner',
        participantIds: [await story.participantId(ben)],
      },
    ])
  })

  test('nobody can change or take back what was decided', async () => {
    const story = await openStory(world, database, { intent: { bookBy } })
    await story.cancel().expect(200)
    for (const login of [database.api, database.dispatcher]) {
      for (const change of ['update meeting_decision set because = null', 'delete from meeting_decision']) {
        const { tenantId } = story.client
        await expect(login.transact(tenantId, (tx) => tx.sql.query(change))).rejects.toThrow(
          'permission denied',
        )
      }
    }
  })
})

describe('whose turn it is', () => {
  test('nobody must answer a mail that the mail server has not taken; quiet hours say until when', async () => {
    const quietHours = { startsAt: '00:00', endsAt: '23:45' }
    const story = await openStory(world, database, {
      outreach: { ...outreach, quietHours },
      intent: { bookBy },
    })
    await story.dispatcher.drain()
    expect((await nextOf(story)).filter(({ type }) => type === 'person')).toEqual([])
    expect(await textOf(story)).toMatch(
      /^ +ask by mail \[p3\]: due .*; quiet hours on their clock until 23:45/m,
    )
    const due = (await nextOf(story)).find(({ action }) => action === 'scheduling.ask_participant')
    await database.advanceClock(Date.parse(String(due?.dueAt)) - (await now()) + 1_000)
    await story.dispatcher.drain()
    expect(await entriesOf(story, 'message_sent')).toMatchObject([{ outcome: 'accepted' }])
    expect(await nextOf(story)).toContainEqual(expect.objectContaining({ type: 'person', code: 'reply' }))
  })
})

// The last one: it moves the database's clock behind the usual deadline.
test('a change that was asked for and not approved in time is told as both', async () => {
  const story = await confirmedStory()
  await story.reschedule({ window, bookBy: new Date((await now()) + 48 * HOUR_MS).toISOString() }).expect(200)
  expect(await textOf(story)).toContain(
    'the organizer asked for another time; the booking stands until one is approved; asked for: read availability',
  )
  await story.drainUntil('awaiting_approval')
  await story.drainUntil('confirmed', { ms: 24 * HOUR_MS, max: 10 })
  expect(await entriesOf(story, 'decision')).toMatchObject([
    { decision: 'rescheduled', by: 'organizer', round: 2, revision: 2 },
    { decision: 'change_lapsed', by: 'rule' },
  ])
  expect(await textOf(story)).toContain('the booking stays as it was')
})
