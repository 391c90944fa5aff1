import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createApi } from '@aftercommit/api'
import type { Engine, EngineEvent } from '@aftercommit/outbox/engine'
import { createLog } from '@aftercommit/platform/log'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import {
  simulatorControl,
  startSimulator,
  type Simulator,
  type SimulatorControl,
} from '@aftercommit/simulator'
import type { TestDatabase } from '@aftercommit/testing'
import { afterAll, beforeAll } from '@jest/globals'
import supertest from 'supertest'
import { createDispatcher } from './dispatcher.ts'

/** The whole product around one test database: the API, a dispatcher driven by hand, and the world outside. */
export interface SchedulingWorld {
  readonly control: SimulatorControl
  /** A client of its own: a tenant, an API key, connected calendars and a webhook inbox. */
  createClient(): Promise<Client>
  /** Another dispatcher on the same database. */
  createDispatcher(report?: (event: EngineEvent) => void): Engine
}

export interface Client {
  readonly tenantId: string
  readonly webhookName: string
  post(path: string, body: unknown): supertest.Test
  get(path: string): supertest.Test
  /** Puts a person into the simulated world and connects their calendar. */
  connect(person: SimulatedPerson): Promise<string>
}

export interface SimulatedPerson {
  readonly address: string
  readonly provider: 'google' | 'microsoft'
  readonly timeZone: string
  readonly busy?: readonly { readonly start: string; readonly end: string }[]
  readonly readable?: 'yes' | 'no_access' | 'unknown_person'
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

  return {
    get control() {
      return simulatorControl(url())
    },
    createDispatcher: (report) =>
      createDispatcher({
        db: database.dispatcher,
        unseal,
        leaseMs: 60_000,
        pollMs: 50,
        ...(report && { report }),
        providers: {
          google: {
            clientId: 'test',
            clientSecret: randomUUID(),
            rootUrl: `${url()}/google/`,
            tokenUrl: `${url()}/google/token`,
          },
          microsoft: {
            clientId: randomUUID(),
            clientSecret: randomUUID(),
            tenant: 'common',
            baseUrl: `${url()}/graph/`,
            loginUrl: `${url()}/login`,
          },
          webhookAllowLoopback: [url()],
          callTimeoutMs: 5_000,
        },
      }),
    createClient: async () => {
      const tenantId = await database.createTenant()
      const apiKey = randomBytes(24).toString('base64url')
      await database.owner.query('insert into api_key (key_hash, tenant_id, label) values ($1, $2, $3)', [
        createHash('sha256').update(apiKey).digest(),
        tenantId,
        'test',
      ])
      const app = createApi({ db: database.api, seal, log: createLog('api', 'silent') })
      return createClient(app, { tenantId, apiKey, control: simulatorControl(url()), url: url() })
    },
  }
}

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
    post: (path, body) =>
      supertest(app)
        .post(path)
        .set('authorization', `Bearer ${apiKey}`)
        .send(body as object),
    get: (path) => supertest(app).get(path).set('authorization', `Bearer ${apiKey}`),
    connect: async ({ busy = [], readable = 'yes', ...person }) => {
      const refreshToken = randomBytes(24).toString('base64url')
      await control.putPeople([{ ...person, busy: [...busy], readable, refreshToken }])
      const { provider, address } = person
      const answer = await client
        .post('/v1/calendar-connections', { provider, address, refreshToken })
        .expect(201)
      return (answer.body as { id: string }).id
    },
  }
  await control.putWebhookSettings(webhookName, { secret })
  await client.post('/v1/webhook-endpoints', { url: `${url}/webhooks/${webhookName}`, secret }).expect(201)
  return client
}
