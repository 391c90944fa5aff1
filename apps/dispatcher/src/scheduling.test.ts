import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld, type Client } from './scheduling-world.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

/** The clocks of New York and Berlin are five hours apart in this window's first days, and six afterwards. */
const window = { from: '2027-03-25T00:00', to: '2027-04-02T00:00' }
const hours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }

interface Cast {
  readonly ada: string
  readonly ben: string
  readonly chen: string
}

let counter = 0
const connectCast = async (
  client: Client,
  organizer: 'google' | 'microsoft',
): Promise<Cast & { ids: Cast }> => {
  const n = ++counter
  const cast = {
    ada: `ada${n}@google.example`,
    ben: `ben${n}@google.example`,
    chen: `chen${n}@microsoft.example`,
  }
  const other = organizer === 'google' ? 'microsoft' : 'google'
  const ids = {
    ada: await client.connect({ address: cast.ada, provider: organizer, timeZone: 'Europe/Berlin' }),
    ben: await client.connect({
      address: cast.ben,
      provider: 'google',
      timeZone: 'America/New_York',
      // All of the first days, in which the two working days overlap less.
      busy: [{ start: '2027-03-25T00:00:00Z', end: '2027-03-27T00:00:00Z' }],
    }),
    chen: await client.connect({ address: cast.chen, provider: other, timeZone: 'Europe/Berlin' }),
  }
  return { ...cast, ids }
}

const intentOf = ({ ada, ben, chen, ids }: Cast & { ids: Cast }, approval: unknown) => ({
  purpose: 'Contract review',
  durationMinutes: 60,
  timeZone: 'Europe/Berlin',
  window,
  bookBy: '2027-03-24T12:00:00Z',
  organizer: { address: ada, calendarConnectionId: ids.ada },
  participants: [
    {
      displayName: 'Ada',
      address: ada,
      role: 'required',
      calendarConnectionId: ids.ada,
      timeZone: 'Europe/Berlin',
      workingHours: hours,
    },
    {
      displayName: 'Ben',
      address: ben,
      role: 'required',
      calendarConnectionId: ids.ben,
      timeZone: 'America/New_York',
      workingHours: hours,
    },
    { displayName: 'Chen', address: chen, role: 'required', calendarConnectionId: ids.chen },
  ],
  approval,
})

interface View {
  readonly id: string
  readonly state: { readonly type: string; readonly proposalId: string }
  readonly proposal: { readonly id: string; readonly start: string; readonly end: string }
  readonly completion: { readonly checks: readonly string[] }
}
const view = async (client: Client, id: string): Promise<View> =>
  (await client.get(`/v1/meetings/${id}`).expect(200)).body as View

const open = async (client: Client, intent: unknown): Promise<string> =>
  ((await client.post('/v1/meetings', intent).expect(201)).body as { id: string }).id

describe.each(['google', 'microsoft'] as const)('a meeting in a %s calendar', (organizer) => {
  const insert = organizer === 'google' ? 'events.insert' : 'events.create'

  test('goes from typed intent to a confirmed event, although the answer to the write is lost', async () => {
    const client = await world.createClient()
    const cast = await connectCast(client, organizer)
    const dispatcher = world.createDispatcher()
    const fault = `lost answer ${organizer}`
    await world.control.addFault({
      id: fault,
      provider: organizer,
      operation: insert,
      address: cast.ada,
      act: { type: 'drop', when: 'after_effect' },
    })
    const id = await open(client, intentOf(cast, { type: 'named_approver', address: cast.ada }))
    expect((await view(client, id)).state.type).toBe('gathering')

    await dispatcher.drain()
    const proposed = await view(client, id)
    expect(proposed.state.type).toBe('awaiting_approval')
    // The first hour that both working days share after Ben is back, with Berlin already in summer time.
    expect(proposed.proposal.start).toBe('2027-03-29T13:00:00.000Z')

    await client
      .post(`/v1/meetings/${id}/approve`, {
        proposalId: proposed.proposal.id,
        approver: { address: cast.ada },
      })
      .expect(200)
    await dispatcher.drain()

    const confirmed = await view(client, id)
    expect(confirmed.state.type).toBe('confirmed')
    expect(confirmed.completion.checks).toContain('nobody_else')
    const faults = await world.control.readFaults()
    expect(faults.find((one) => one.id === fault)?.fired).toHaveLength(1)
    const events = await world.control.readEvents(cast.ada)
    expect(events).toHaveLength(1)
    expect(events[0]?.attendees.map(({ address }) => address)).toEqual(
      expect.arrayContaining([cast.ben, cast.chen]),
    )
    const inbox = await world.control.readWebhooks(client.webhookName)
    expect(JSON.stringify(inbox)).toContain('meeting.confirmed')
  })
})

test('an automatic approval books without waiting for a person', async () => {
  const client = await world.createClient()
  const cast = await connectCast(client, 'google')
  const id = await open(client, intentOf(cast, { type: 'automatic' }))
  await world.createDispatcher().drain()
  expect((await view(client, id)).state.type).toBe('confirmed')
})
