import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { useSchedulingWorld, type Client } from './scheduling-world.testing.ts'
import { window } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const DAY_MS = 86_400_000

const ExceptionView = z.object({
  id: z.string(),
  code: z.string(),
  path: z.array(z.union([z.string(), z.int()])),
  answeredBy: z.array(z.string()),
})
const View = z.object({
  id: z.string(),
  revision: z.int(),
  state: z.object({ type: z.string() }),
  exceptions: z.array(ExceptionView),
})
const Opened = z.object({ id: z.string(), state: z.object({ type: z.string() }) })
const Problem = z.object({
  status: z.int(),
  errors: z.array(z.object({ pointer: z.string(), rule: z.string() })).optional(),
})

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

const draftOf = (address: string, calendarConnectionId: string) => ({
  purpose: 'Contract review',
  durationMinutes: 60,
  window,
  bookBy: inDays(2),
  timeZone: 'Europe/Berlin',
  organizer: { address, calendarConnectionId },
  participants: [{ displayName: 'Ada', role: 'required', address, calendarConnectionId }],
  approval: { type: 'automatic' },
})

const begin = async () => {
  const client = await world.createClient()
  const { address, connectionId } = await client.connectPerson({
    address: `ada-${crypto.randomUUID().slice(0, 8)}@google.example`,
    provider: 'google',
    timeZone: 'Europe/Berlin',
  })
  return { client, address, connectionId, draft: draftOf(address, connectionId) }
}

const open = async (client: Client, draft: unknown) =>
  Opened.parse((await client.post('/v1/meetings', draft).expect(201)).body)
const view = async (client: Client, id: string) =>
  View.parse((await client.get(`/v1/meetings/${id}`).expect(200)).body)
const resolve = (client: Client, id: string, answer: unknown) =>
  client.post(`/v1/exceptions/${id}/resolve`, answer)

describe('what was not told', () => {
  test('is asked for piece by piece, and the last answer starts the work', async () => {
    const { client, address, connectionId, draft } = await begin()
    const { timeZone: _, organizer: __, approval: ___, ...rest } = draft
    const bare = { ...rest, participants: [{ displayName: 'Ada', role: 'required' }] }
    const { id, state } = await open(client, bare)
    expect(state.type).toBe('incomplete')
    const { exceptions } = await view(client, id)
    expect(exceptions.map(({ code }) => code).sort()).toEqual([
      'authority_missing',
      'identity_missing',
      'organizer_calendar_missing',
      'zone_missing',
    ])
    const dispatcher = world.createDispatcher()
    await dispatcher.drain()
    expect((await view(client, id)).state.type).toBe('incomplete')

    const identity = { address, calendarConnectionId: connectionId }
    const answers: Record<string, unknown> = {
      zone_missing: { timeZone: 'Europe/Berlin' },
      authority_missing: { approval: { type: 'automatic' } },
      identity_missing: identity,
      organizer_calendar_missing: identity,
    }
    for (const exception of exceptions)
      await resolve(client, exception.id, answers[exception.code]).expect(200)
    expect((await view(client, id)).revision).toBe(5)
    await dispatcher.drain()
    expect((await view(client, id)).state.type).toBe('confirmed')
    expect(await world.control.readEvents(address)).toHaveLength(1)
  })

  test('is listed in the order in which it was asked, with the fields that answer it, and an answer moves no other', async () => {
    const { client, draft } = await begin()
    const { timeZone: _, approval: __, ...rest } = draft
    const people = Array.from({ length: 6 }, (_each, at) => ({ displayName: `P${at}`, role: 'required' }))
    const { id } = await open(client, { ...rest, participants: people })
    const asked = async () => (await view(client, id)).exceptions
    const before = await asked()
    expect(before.map(({ path }) => path.join('.'))).toEqual([
      'timeZone',
      ...people.map((_each, at) => `participants.${at}`),
      'approval',
    ])
    expect(before.map(({ answeredBy }) => answeredBy)).toEqual([
      ['timeZone'],
      ...people.map(() => ['address', 'calendarConnectionId']),
      ['approval'],
    ])
    const [first, , third = { id: '' }] = before
    // Whoever has no calendar connected is to be asked by mail, which opens a question of its own.
    await resolve(client, third.id, { address: 'p1@example.com' }).expect(200)
    const after = await asked()
    expect(after[0]).toEqual(first)
    expect(after.slice(0, -1)).toEqual(before.filter((each) => each.id !== third.id))
    expect(after.at(-1)).toMatchObject({
      code: 'outreach_missing',
      answeredBy: ['outreach', 'calendarConnectionId'],
    })
    const List = z.object({
      exceptions: z.array(z.object({ id: z.string() })),
      nextCursor: z.string().optional(),
    })
    const page = async (query: string) =>
      List.parse((await client.get(`/v1/exceptions?${query}`).expect(200)).body)
    const one = await page('limit=3')
    const two = await page(`limit=20&cursor=${one.nextCursor ?? ''}`)
    const ids = [...one.exceptions, ...two.exceptions].map((each) => each.id)
    expect(ids).toEqual(after.map((each) => each.id))
    const single = await client.get(`/v1/exceptions/${first?.id ?? ''}`).expect(200)
    expect(single.body).toMatchObject({ answeredBy: ['timeZone'] })
  })

  test('lapses with its meeting at the deadline, and the client is told both times', async () => {
    const { client, draft } = await begin()
    const { approval: _, ...absent } = draft
    const { id } = await open(client, absent)
    const [exception] = (await view(client, id)).exceptions
    const dispatcher = world.createDispatcher()
    await dispatcher.drain()
    await database.advanceClock(2 * DAY_MS + 60_000)
    await dispatcher.drain()
    expect((await view(client, id)).state.type).toBe('lapsed')
    const late = await resolve(client, exception?.id ?? '', { approval: { type: 'automatic' } }).expect(409)
    expect(Problem.parse(late.body).status).toBe(409)
    const { rows } = await database.owner.query<{ event: string }>(
      `select payload->>'event' as event from (select payload, aggregate_id from outbox_history
         union all select payload, aggregate_id from outbox) o where aggregate_id = $1 and payload ? 'event'`,
      [id],
    )
    expect(rows.map(({ event }) => event).sort()).toEqual(['exception.opened', 'meeting.lapsed'])
    await database.advanceClock(-(2 * DAY_MS + 60_000))
  })

  test('is refused with field and rule when the answer is not one, and stays open', async () => {
    const { client, draft } = await begin()
    const { timeZone: _, ...absent } = draft
    const { id } = await open(client, { ...absent, window: { from: '2027-03-28T02:30', to: window.to } })
    const [exception] = (await view(client, id)).exceptions
    const bad = async (answer: unknown) =>
      Problem.parse((await resolve(client, exception?.id ?? '', answer).expect(400)).body).errors
    expect(await bad({ timeZone: 'EST' })).toMatchObject([{ pointer: '/timeZone' }])
    expect(await bad({ approval: { type: 'automatic' } })).not.toEqual([])
    // The time that the window begins at does not exist in Berlin on that day.
    // The answer is what was sent, so the answer is named, and the meeting's field in words.
    expect(await bad({ timeZone: 'Europe/Berlin' })).toMatchObject([
      { pointer: '/timeZone', rule: expect.stringContaining('window.from') },
    ])
    expect(await view(client, id)).toMatchObject({ revision: 1, state: { type: 'incomplete' } })
    await resolve(client, exception?.id ?? '', { timeZone: 'Europe/Moscow' }).expect(200)
  })

  test('is answered once: of two answers at once, the second finds it ended', async () => {
    const { client, draft } = await begin()
    const { approval: _, ...absent } = draft
    const { id } = await open(client, absent)
    const [exception] = (await view(client, id)).exceptions
    const answer = { approval: { type: 'automatic' } }
    const answers = await Promise.all([1, 2].map(() => resolve(client, exception?.id ?? '', answer)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('is nobody else’s to see or to answer', async () => {
    const { client, draft } = await begin()
    const { approval: _, ...absent } = draft
    const { id } = await open(client, absent)
    const [exception] = (await view(client, id)).exceptions
    const stranger = await world.createClient()
    await stranger.get(`/v1/exceptions/${exception?.id ?? ''}`).expect(404)
    await resolve(stranger, exception?.id ?? '', { approval: { type: 'automatic' } }).expect(404)
    const list = z.object({ exceptions: z.array(z.unknown()) })
    expect(list.parse((await stranger.get('/v1/exceptions').expect(200)).body).exceptions).toEqual([])
    expect(list.parse((await client.get('/v1/exceptions').expect(200)).body).exceptions).toHaveLength(1)
  })
})

test('a meeting that nobody approves by its deadline lapses', async () => {
  const { client, address, draft } = await begin()
  const { id } = await open(client, { ...draft, approval: { type: 'named_approver', address } })
  const dispatcher = world.createDispatcher()
  await dispatcher.drain()
  expect((await view(client, id)).state.type).toBe('awaiting_approval')
  await database.advanceClock(2 * DAY_MS + 60_000)
  await dispatcher.drain()
  expect((await view(client, id)).state.type).toBe('lapsed')
  await database.advanceClock(-(2 * DAY_MS + 60_000))
})

test.each(['NUL \u0000', 'half a pair \ud800'])(
  'text that cannot be stored is refused by name: %j',
  async (purpose) => {
    const { client, draft } = await begin()
    const answer = await client.post('/v1/meetings', { ...draft, purpose }).expect(400)
    expect(Problem.parse(answer.body).errors).toMatchObject([{ pointer: '/purpose' }])
  },
)
