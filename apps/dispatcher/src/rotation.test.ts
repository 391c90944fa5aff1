/** Microsoft gives a new refresh token with every access token, and the old one's end does not move. */
import { randomBytes, randomUUID } from 'node:crypto'
import { useDatabase } from '@aftercommit/testing'
import { afterEach, expect, test } from '@jest/globals'
import { z } from 'zod'
import { useSchedulingWorld, type ConnectedPerson } from './scheduling-world.testing.ts'
import { openStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const Credential = z.object({ refreshToken: z.string() })

const keptFor = async ({ client: { tenantId } }: Story, { connectionId }: ConnectedPerson) => {
  const { rows } = await database.owner.query<{ sealed_credential: Uint8Array; state: string }>(
    'select sealed_credential, state from calendar_connection where connection_id = $1',
    [connectionId],
  )
  const [row] = rows
  if (!row) throw new Error('the connection is not there')
  const text = world.unseal(row.sealed_credential, `${tenantId}/${connectionId}`)
  return { state: row.state, ...Credential.parse(JSON.parse(text)) }
}

const tokensAsked = async ({ address }: ConnectedPerson): Promise<number> => {
  const requests = await world.control.readRequests()
  return requests.filter((each) => each.operation === 'token' && each.address === address).length
}

/** The next refresh for this person is answered, and its answer waits on its way. */
const holdRefresh = async ({ address }: ConnectedPerson): Promise<string> => {
  const id = randomUUID()
  await world.control.addFault({
    id,
    provider: 'microsoft',
    operation: 'token',
    address,
    act: { type: 'hold', when: 'after_effect' },
  })
  return id
}

/** Another meeting of the same people, whose calendars a dispatcher has read by the end of it. */
const readOnceMore = async (earlier: Story, dispatcher: Story['dispatcher']): Promise<void> => {
  const { client, cast } = earlier
  const { address, connectionId: calendarConnectionId } = cast.chen
  await client
    .post('/v1/meetings', {
      purpose: 'Another one',
      durationMinutes: 30,
      timeZone: 'Europe/Berlin',
      window: { from: '2027-03-29T00:00', to: '2027-04-02T00:00' },
      bookBy: '2027-03-24T12:00:00Z',
      organizer: { address, calendarConnectionId },
      participants: [{ displayName: 'Chen Wenyuan', address, role: 'required', calendarConnectionId }],
      approval: { type: 'organizer' },
    })
    .expect(201)
  await dispatcher.drain()
}

test('the refresh token that replaces another is kept, and another dispatcher goes on with it', async () => {
  const story = await openStory(world, database)
  const { chen } = story.cast
  await story.drainUntil('awaiting_approval')
  const first = await keptFor(story, chen)
  expect(first.state).toBe('active')
  expect(first.refreshToken).not.toBe(chen.refreshToken)

  await readOnceMore(story, world.createDispatcher())
  const second = await keptFor(story, chen)
  expect([chen.refreshToken, first.refreshToken]).not.toContain(second.refreshToken)
  expect(await tokensAsked(chen)).toBe(2)
})

test('dispatchers that share a grant do not make each other ask for access tokens', async () => {
  const story = await openStory(world, database)
  await story.drainUntil('awaiting_approval')
  const other = world.createDispatcher()
  for (const dispatcher of [other, story.dispatcher, other, story.dispatcher, other]) {
    await readOnceMore(story, dispatcher)
  }
  expect(await tokensAsked(story.cast.chen)).toBe(2)
})

test('a replacement that comes late does not take the place of a newer one', async () => {
  const story = await openStory(world, database)
  const { chen } = story.cast
  const held = await holdRefresh(chen)
  const late = story.dispatcher.drain()
  await world.control.waitForFault(held)
  await readOnceMore(story, world.createDispatcher())
  const newer = await keptFor(story, chen)
  expect(newer.refreshToken).not.toBe(chen.refreshToken)

  await world.control.releaseFault(held)
  await late
  expect(await keptFor(story, chen)).toEqual(newer)
  expect((await story.view()).state.type).toBe('awaiting_approval')
})

test('what a person grants anew stays, whatever was under way with the old grant', async () => {
  const story = await openStory(world, database)
  const { chen } = story.cast
  const held = await holdRefresh(chen)
  const late = story.dispatcher.drain()
  await world.control.waitForFault(held)
  const refreshToken = randomBytes(24).toString('base64url')
  const { connectionId: _, ...person } = chen
  await world.control.putPeople([{ ...person, refreshToken }])
  const { provider, address } = person
  await story.client.post('/v1/calendar-connections', { provider, address, refreshToken }).expect(200)

  await world.control.releaseFault(held)
  await late
  expect(await keptFor(story, chen)).toEqual({ state: 'active', refreshToken })
})
