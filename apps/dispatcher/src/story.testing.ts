/** The hard meeting as a fixture: three required people on two providers, driven step by step through HTTP and rows. */
import { randomUUID } from 'node:crypto'
import type { Engine } from '@aftercommit/outbox/engine'
import type { Spans } from '@aftercommit/platform/spans'
import type { EventView } from '@aftercommit/simulator'
import type { TestDatabase } from '@aftercommit/testing'
import type { Response, Test } from 'supertest'
import { z } from 'zod'
import type { Client, ConnectedPerson, SchedulingWorld, SimulatedPerson } from './scheduling-world.testing.ts'

export type Provider = 'google' | 'microsoft'
export const providers: readonly Provider[] = ['google', 'microsoft']

/** What each provider calls the operations that faults are scripted for. */
export const operationsOf = {
  google: { insert: 'events.insert', list: 'events.list', get: 'events.get', freeBusy: 'freebusy.query' },
  microsoft: {
    insert: 'events.create',
    list: 'events.list',
    get: 'events.get',
    freeBusy: 'calendar.getSchedule',
  },
} as const satisfies Record<Provider, Record<string, string>>

/** What each provider's body says with a 429. */
export const slowDown = {
  google: {
    error: {
      errors: [{ domain: 'usageLimits', reason: 'rateLimitExceeded', message: 'Rate Limit Exceeded' }],
      code: 429,
      message: 'Rate Limit Exceeded',
    },
  },
  microsoft: {
    error: {
      code: 'ApplicationThrottled',
      message: 'Application is over its MailboxConcurrency limit.',
    },
  },
} as const satisfies Record<Provider, unknown>

/** The fault by which a person's provider answers "not now, in so many seconds" to an operation on their calendar. */
export const throttled = (
  { provider, address }: ConnectedPerson,
  operation: 'insert' | 'freeBusy',
  retryAfterSeconds: number,
) => ({
  id: randomUUID(),
  provider,
  operation: operationsOf[provider][operation],
  address,
  act: {
    type: 'answer' as const,
    status: 429,
    body: slowDown[provider],
    headers: { 'retry-after': String(retryAfterSeconds) },
  },
})

const View = z.object({
  revision: z.int(),
  state: z.object({ type: z.string(), proposalId: z.string().optional(), code: z.string().optional() }),
  participants: z.array(z.object({ id: z.string(), address: z.string() })),
  proposal: z
    .object({ id: z.string(), start: z.string(), end: z.string(), optionalAttending: z.array(z.string()) })
    .optional(),
  event: z
    .object({
      status: z.string(),
      cancelledAt: z.string().optional(),
      provider: z.string(),
      calendarAddress: z.string(),
      eventId: z.string(),
    })
    .optional(),
  completion: z.object({ checks: z.array(z.string()) }).optional(),
  exceptions: z.array(z.object({ id: z.string(), code: z.string() })),
  repairs: z.array(
    z.object({
      id: z.string(),
      choices: z.array(z.string()),
      code: z.string(),
      owner: z.string(),
      facts: z.record(z.string(), z.unknown()),
    }),
  ),
})
export type View = z.output<typeof View>

const Trace = z.object({
  entries: z.array(z.looseObject({ type: z.string(), at: z.string() })),
  pending: z.array(z.object({ action: z.string(), state: z.string() })),
})

/** One outbox row, wherever it lies by now. */
export interface Row {
  readonly id: string
  readonly action: string
  /** Its live state, its outcome, or `dead`. */
  readonly state: string
  readonly code: string | null
  readonly attempts: number
  readonly waits_ms: number | null
}

export interface Cast {
  readonly ada: ConnectedPerson
  readonly ben: ConnectedPerson
  readonly chen: ConnectedPerson
}

export interface Story {
  readonly client: Client
  readonly cast: Cast
  readonly meetingId: string
  readonly dispatcher: Engine
  view(): Promise<View>
  trace(): Promise<z.output<typeof Trace>>
  /** Chooses a way out of the repair that is open, as Ada. */
  resolve(choice: Record<string, unknown>, address?: string): Promise<Response>
  cancel(address?: string): Test
  reschedule(change: Record<string, unknown>, address?: string): Test
  /** The one link to the reply page in the newest mail to this address. */
  replyLink(address: string): Promise<string>
  /** Approves the proposal that stands, as Ada. */
  approve(): Promise<void>
  postApproval(proposalId: string, address?: string): Test
  rows(action?: string): Promise<readonly Row[]>
  /** Live and cancelled events in Ada's calendar. */
  events(): Promise<readonly EventView[]>
  /** How often an API client has created an event in Ada's calendar, by the simulator's ledger. */
  created(): Promise<number>
  /** What the client's receiver took in, by type of message. */
  told(): Promise<readonly string[]>
  /** Drains, and moves the clock on by `stepMs` when that leaves another state; gives up after `stepsMax` times. */
  drainUntil(state: string, step?: { readonly ms: number; readonly max: number }): Promise<View>
  /** Drains, and moves the clock on by `ms`, until that many mails have reached the address; gives up after `max` times. */
  untilMailed(
    address: string,
    count: number,
    step?: { readonly ms: number; readonly max: number },
  ): Promise<void>
  participantId(person: ConnectedPerson): Promise<string>
}

export interface StoryOptions {
  /** Where the organizer's calendar is. */
  readonly organizer?: Provider
  readonly approval?: 'named_approver' | 'automatic'
  readonly ada?: Partial<SimulatedPerson>
  readonly ben?: Partial<SimulatedPerson>
  readonly chen?: Partial<SimulatedPerson>
  /** Chen has no calendar connected and is asked by mail, by this authority. */
  readonly outreach?: Record<string, unknown>
  /** Fields of the intent to replace. */
  readonly intent?: Record<string, unknown>
  readonly dispatcher?: Engine
  /** Whose meeting it is; a client of its own when left out. */
  readonly client?: Client
  /** Where the API's requests leave spans. */
  readonly spans?: Spans
}

const hours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }
export const window = { from: '2027-03-29T00:00', to: '2027-04-02T00:00' }
/** The first hour that the working days in Berlin and New York share. */
export const firstSlot = { start: '2027-03-29T13:00:00.000Z', end: '2027-03-29T14:00:00.000Z' }
export const secondSlot = { start: '2027-03-29T14:00:00.000Z', end: '2027-03-29T15:00:00.000Z' }

const connectCast = async (client: Client, options: StoryOptions): Promise<Cast> => {
  const { organizer = 'google' } = options
  const other = organizer === 'google' ? 'microsoft' : 'google'
  const n = randomUUID().slice(0, 8)
  const berlin = 'Europe/Berlin'
  return {
    ada: await client.connectPerson({
      address: `ada-${n}@${organizer}.example`,
      provider: organizer,
      timeZone: berlin,
      ...options.ada,
    }),
    ben: await client.connectPerson({
      address: `ben-${n}@google.example`,
      provider: 'google',
      timeZone: 'America/New_York',
      ...options.ben,
    }),
    chen: await client.connectPerson({
      address: `chen-${n}@${other}.example`,
      provider: other,
      timeZone: berlin,
      ...options.chen,
    }),
  }
}

export const intentFor = ({ ada, ben, chen }: Cast, approval: string): Record<string, unknown> => ({
  purpose: 'Contract review',
  durationMinutes: 60,
  timeZone: 'Europe/Berlin',
  window,
  bookBy: '2027-03-24T12:00:00Z',
  organizer: { address: ada.address, calendarConnectionId: ada.connectionId },
  participants: [
    { displayName: 'Ada Lovelace', ...invited(ada), timeZone: ada.timeZone, workingHours: hours },
    { displayName: 'Ben Bitdiddle', ...invited(ben), timeZone: ben.timeZone, workingHours: hours },
    { displayName: 'Chen Wenyuan', ...invited(chen) },
  ],
  approval:
    approval === 'automatic' ? { type: 'automatic' } : { type: 'named_approver', address: ada.address },
})

/** The same meeting, with Chen known by address alone. */
const asking = ({ ada, ben, chen }: Cast, outreach: Record<string, unknown>): Record<string, unknown> => ({
  outreach,
  participants: [
    { displayName: 'Ada Lovelace', ...invited(ada), timeZone: ada.timeZone, workingHours: hours },
    { displayName: 'Ben Bitdiddle', ...invited(ben), timeZone: ben.timeZone, workingHours: hours },
    { displayName: 'Chen Wenyuan', address: chen.address, role: 'required', timeZone: chen.timeZone },
  ],
})

const invited = ({ address, connectionId }: ConnectedPerson) => ({
  address,
  role: 'required',
  calendarConnectionId: connectionId,
})

/** Opens the meeting and leaves it there: nothing has been drained. */
export const openStory = async (
  world: SchedulingWorld,
  database: TestDatabase,
  options: StoryOptions = {},
): Promise<Story> => {
  const client = options.client ?? (await world.createClient(options.spans))
  // The database's clock is moved on by these tests, and a receiver that checks signatures checks their time as well.
  await world.control.putWebhookSettings(client.webhookName, { secret: null })
  const cast = await connectCast(client, options)
  const asked = options.outreach && asking(cast, options.outreach)
  const intent = { ...intentFor(cast, options.approval ?? 'named_approver'), ...asked, ...options.intent }
  const answer = await client.post('/v1/meetings', intent).expect(201)
  const { id } = z.object({ id: z.string() }).parse(answer.body)
  return storyOf({
    world,
    database,
    client,
    cast,
    id,
    dispatcher: options.dispatcher ?? world.createDispatcher(),
  })
}

/** The same, drained until it waits for an approval. */
export const proposeStory = async (
  world: SchedulingWorld,
  database: TestDatabase,
  options: StoryOptions = {},
): Promise<Story> => {
  const story = await openStory(world, database, options)
  await story.drainUntil('awaiting_approval')
  return story
}

/** Past any night, and any spacing of two days. */
const THREE_HOURLY = { ms: 3 * 60 * 60_000, max: 20 }

interface StoryParts {
  readonly world: SchedulingWorld
  readonly database: TestDatabase
  readonly client: Client
  readonly cast: Cast
  readonly id: string
  readonly dispatcher: Engine
}

const storyOf = ({ world, database, client, cast, id, dispatcher }: StoryParts): Story => {
  const { control } = world
  const view = async () => View.parse((await client.get(`/v1/meetings/${id}`).expect(200)).body)
  const postApproval = (proposalId: string, address = cast.ada.address) =>
    client.post(`/v1/meetings/${id}/approve`, { proposalId, approver: { address } })
  return {
    client,
    cast,
    meetingId: id,
    dispatcher,
    view,
    trace: async () => Trace.parse((await client.get(`/v1/meetings/${id}/trace`).expect(200)).body),
    postApproval,
    resolve: async (choice, address = cast.ada.address) => {
      const [repair] = (await view()).repairs
      return client.post(`/v1/repairs/${repair?.id ?? 'none'}/resolve`, { by: { address }, choice })
    },
    cancel: (address = cast.ada.address) => client.post(`/v1/meetings/${id}/cancel`, { by: { address } }),
    reschedule: (change, address = cast.ada.address) =>
      client.post(`/v1/meetings/${id}/reschedule`, { by: { address }, ...change }),
    replyLink: async (address) => {
      const links = (await control.readMailLinks(address)).map(({ url }) => url)
      const link = links.filter((url) => url.includes('/reply/')).at(-1)
      if (link === undefined) throw new Error('no mail to this address has a link')
      return link
    },
    approve: async () => {
      const { proposal } = await view()
      await postApproval(proposal?.id ?? 'none').expect(200)
    },
    rows: (action) => readRows(database, id, action),
    events: () => control.readEvents(cast.ada.address),
    created: async () =>
      (await control.readLedger()).filter(
        ({ effect, calendarAddress }) =>
          effect === 'event_created' && calendarAddress === cast.ada.address.toLowerCase(),
      ).length,
    told: async () =>
      (await control.readWebhooks(client.webhookName)).received.map(
        ({ body }) => z.object({ type: z.string() }).parse(JSON.parse(body)).type,
      ),
    drainUntil: async (state, { ms, max } = { ms: 0, max: 0 }) => {
      for (let step = 0; ; step++) {
        await dispatcher.drain()
        const now = await view()
        if (now.state.type === state) return now
        if (step >= max) {
          const rows = (await readRows(database, id)).map(({ action, state, code }) => [action, state, code])
          throw new Error(`the meeting is ${now.state.type} and not ${state}: ${JSON.stringify(rows)}`)
        }
        await database.advanceClock(ms)
      }
    },
    untilMailed: async (address, count, { ms, max } = THREE_HOURLY) => {
      for (let step = 0; step < max; step++) {
        await dispatcher.drain()
        if ((await control.readMailbox(address)).received.length >= count) return
        await database.advanceClock(ms)
      }
      throw new Error(`${address} has not been written to ${count} times`)
    },
    participantId: async ({ address }) => {
      const found = (await view()).participants.find((person) => person.address === address)
      if (!found) throw new Error('nobody of that address takes part')
      return found.id
    },
  }
}

const readRows = async (database: TestDatabase, meetingId: string, action = '%'): Promise<readonly Row[]> => {
  const { rows } = await database.owner.query<Row>(
    `select id, action, state::text, last_code as code, attempts,
        round(extract(epoch from available_at - app_now()) * 1000)::float8 as waits_ms
       from outbox where aggregate_id = $1 and action like $2
     union all
     select id, action, outcome, reason, attempts, null from outbox_history
       where aggregate_id = $1 and action like $2
     union all
     select id, action, 'dead', code, attempts, null from outbox_dead where aggregate_id = $1 and action like $2
     order by id`,
    [meetingId, action],
  )
  return rows
}
