import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createApi } from '@aftercommit/api'
import type { Engine, EngineEvent } from '@aftercommit/outbox/engine'
import type { Db } from '@aftercommit/platform/db'
import { createLog } from '@aftercommit/platform/log'
import { linkSigner } from '@aftercommit/platform/links'
import { newSealingKey, sealingOf, type Unseal } from '@aftercommit/platform/sealing'
import { noSpans, type Spans } from '@aftercommit/platform/spans'
import type { Calendar } from '@aftercommit/providers/calendar'
import {
  simulatorControl,
  startSimulator,
  type Simulator,
  type SimulatorControl,
} from '@aftercommit/simulator'
import type { TestDatabase } from '@aftercommit/testing'
import { afterAll, beforeAll } from '@jest/globals'
import supertest from 'supertest'
import { createDispatcher, type ProviderSettings } from './dispatcher.ts'
import { calendarFor } from './providers.ts'

/** The whole product around one test database: the API, a dispatcher driven by hand, and the world outside. */
export interface SchedulingWorld {
  readonly control: SimulatorControl
  /** Takes any POST, and does nothing with it. */
  readonly sink: string
  /** What the API seals under, and the dispatchers open with. */
  readonly unseal: Unseal
  /** A client of its own: a tenant, an API key, connected calendars and a webhook inbox. */
  createClient(spans?: Spans): Promise<Client>
  /** Another dispatcher on the same database. */
  createDispatcher(options?: DispatcherOptions): Engine
  /** A person's calendar over the product's own adapter, with a fresh token source: for what others do to it. */
  calendarOf(person: ConnectedPerson): Calendar
}

export interface DispatcherOptions {
  readonly report?: (event: EngineEvent) => void
  /** In the place of the test database's own connection, to be cut off at a chosen moment. */
  readonly db?: Db
  readonly leaseMs?: number
  readonly pollMs?: number
  readonly spans?: Spans
  /** In the place of the key ring under which the API sealed. */
  readonly unseal?: Unseal
}

export interface Client {
  readonly tenantId: string
  readonly webhookName: string
  readonly webhookSecret: string
  post(path: string, body: unknown): supertest.Test
  get(path: string): supertest.Test
  /** Forwards a mail that came in, as its server received it. */
  postMail(raw: string): supertest.Test
  /** A page for people without an account, by the link in a mail. */
  page(link: string): supertest.Test
  /** Sends a page's form. */
  sendForm(link: string, fields: Readonly<Record<string, string | readonly string[]>>): supertest.Test
  /** Puts a person into the simulated world and connects their calendar. */
  connect(person: SimulatedPerson): Promise<string>
  /** The same, with what is needed to change the person afterwards. */
  connectPerson(person: SimulatedPerson): Promise<ConnectedPerson>
}

export type SimulatedPerson = Omit<Parameters<SimulatorControl['putPeople']>[0][number], 'refreshToken'>
export type ConnectedPerson = SimulatedPerson & {
  readonly connectionId: string
  readonly refreshToken: string
}

export const useSchedulingWorld = (database: TestDatabase): SchedulingWorld => {
  let simulator: Simulator | undefined
  const ring = newSealingKey('test')
  const { seal, unseal } = sealingOf(ring)
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator?.stop())
  const url = (): string => simulator?.url ?? ''
  const providers = (): ProviderSettings => ({
    ...providersAt(url()),
    mail: {
      smtpUrl: simulator?.smtpUrl ?? '',
      requireTls: false,
      from: { address: 'meetings@aftercommit.example', displayName: 'Meetings' },
      publicUrl: PUBLIC_URL,
      links: linkSigner(ring),
    },
  })

  return {
    get sink() {
      return `${url()}/webhooks/sink`
    },
    get control() {
      return simulatorControl(url())
    },
    unseal,
    createDispatcher: (options = {}) =>
      createDispatcher({
        db: database.dispatcher,
        seal,
        unseal,
        leaseMs: 60_000,
        pollMs: 50,
        providers: providers(),
        ...options,
      }),
    calendarOf: (person) => calendarFor(providers(), person.provider, person.refreshToken),
    createClient: async (spans = noSpans) => {
      const tenantId = await database.createTenant()
      const apiKey = randomBytes(24).toString('base64url')
      await database.owner.query('insert into api_key (key_hash, tenant_id, label) values ($1, $2, $3)', [
        createHash('sha256').update(apiKey).digest(),
        tenantId,
        'test',
      ])
      const links = linkSigner(ring)
      const { webhookAllowLoopback } = providers()
      const log = createLog('api', 'silent')
      const app = createApi({ db: database.api, seal, links, log, spans, webhookAllowLoopback })
      return createClient(app, { tenantId, apiKey, control: simulatorControl(url()), url: url() })
    },
  }
}

/** Nothing listens there: the paths of links are followed through the application itself. */
export const PUBLIC_URL = 'https://meetings.aftercommit.example'

const providersAt = (url: string): ProviderSettings => ({
  google: {
    clientId: 'test',
    clientSecret: randomUUID(),
    rootUrl: `${url}/google/`,
    tokenUrl: `${url}/google/token`,
  },
  microsoft: {
    clientId: randomUUID(),
    clientSecret: randomUUID(),
    tenant: 'common',
    baseUrl: `${url}/graph/`,
    loginUrl: `${url}/login`,
  },
  webhookAllowLoopback: [url],
  // A machine that is busy with other tests is no silent provider.
  callTimeoutMs: 20_000,
})

const createClient = async (
  app: ReturnType<typeof createApi>,
  {
    tenantId,
    apiKey,
    control,
    url,
  }: { tenantId: string; apiKey: string; control: SimulatorControl; url: string },
): Promise<Client> => {
  const webhookName = randomUUID()
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const client: Client = {
    tenantId,
    webhookName,
    webhookSecret: secret,
    post: (path, body) =>
      supertest(app)
        .post(path)
        .set('authorization', `Bearer ${apiKey}`)
        .send(body as object),
    get: (path) => supertest(app).get(path).set('authorization', `Bearer ${apiKey}`),
    postMail: (raw) =>
      supertest(app)
        .post('/v1/inbound-mail')
        .set('authorization', `Bearer ${apiKey}`)
        .type('message/rfc822')
        .send(raw),
    page: (link) => supertest(app).get(pathOf(link)),
    sendForm: (link, fields) => supertest(app).post(pathOf(link)).type('form').send(fields),
    connect: async (person) => (await client.connectPerson(person)).connectionId,
    connectPerson: async (person) => {
      const refreshToken = randomBytes(24).toString('base64url')
      await control.putPeople([{ ...person, refreshToken }])
      const { provider, address } = person
      const answer = await client
        .post('/v1/calendar-connections', { provider, address, refreshToken })
        .expect(201)
      const { id: connectionId } = answer.body as { id: string }
      return { ...person, connectionId, refreshToken }
    },
  }
  await control.putWebhookSettings(webhookName, { secret })
  await client.post('/v1/webhook-endpoints', { url: `${url}/webhooks/${webhookName}`, secret }).expect(201)
  return client
}

const pathOf = (link: string): string => new URL(link).pathname
