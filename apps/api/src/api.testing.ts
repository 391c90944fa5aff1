/** The API around one test database, as its clients and its operators see it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import type { Db } from '@aftercommit/platform/db'
import { createLog } from '@aftercommit/platform/log'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import type { TestDatabase } from '@aftercommit/testing'
import supertest, { type Response, type Test } from 'supertest'
import { z } from 'zod'
import { createApi, routesOf, type ApiOptions } from './app.ts'
import { mustMatchDeclaration } from './declared.testing.ts'
import type { Scope } from './keys.ts'
import { meetingExample } from './routes/scheduling-bodies.ts'

export interface Api {
  /** A key of a new tenant. */
  readonly createClient: (scopes?: readonly Scope[]) => Promise<ApiClient>
  /** A request without a key. Every answer is held against its declaration. */
  readonly send: (method: Method, path: string) => Test
  /** Lines that the log has got so far, parsed. */
  readonly logLines: readonly Readonly<Record<string, unknown>>[]
}

type Method = 'get' | 'post' | 'put' | 'delete' | 'head' | 'options'

export interface ApiClient {
  readonly tenantId: string
  readonly apiKey: string
  send(method: Method, path: string): Test
  get(path: string): Test
  post(path: string, body?: string | object): Test
  /** Connects a calendar and answers the id of the connection. */
  connect(address: string): Promise<string>
  /** Opens a complete meeting and answers its id. */
  openMeeting(more?: Record<string, unknown>): Promise<string>
}

export const createTestApi = (
  database: TestDatabase,
  options: { readonly db?: Db } & Pick<
    ApiOptions,
    'rateLimit' | 'metrics' | 'links' | 'webhookAllowLoopback'
  > = {},
): Api => {
  const written: string[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk))
      done()
    },
  })
  const { seal } = sealingOf(newSealingKey('test'))
  const app = createApi({ db: database.api, seal, log: createLog('api', 'info', stream), ...options })
  const routes = routesOf({ seal, ...options })
  const send = (method: Method, path: string): Test =>
    supertest(app)
      [method](path)
      .expect((answer: Response) => mustMatchDeclaration(routes, { method, path, answer }))
  return {
    send,
    get logLines() {
      return written.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
    },
    createClient: async (scopes = ['read', 'write']) => {
      const tenantId = await database.createTenant()
      const apiKey = randomBytes(24).toString('base64url')
      await database.owner.query(
        'insert into api_key (key_hash, tenant_id, label, scopes) values ($1, $2, $3, $4)',
        [createHash('sha256').update(apiKey).digest(), tenantId, 'test', scopes],
      )
      return clientOf(tenantId, apiKey, send)
    },
  }
}

const clientOf = (tenantId: string, apiKey: string, send: Api['send']): ApiClient => {
  const client: ApiClient = {
    tenantId,
    apiKey,
    send: (method, path) => send(method, path).set('authorization', `Bearer ${apiKey}`),
    get: (path) => client.send('get', path),
    post: (path, body) => client.send('post', path).set('content-type', 'application/json').send(body),
    connect: async (address) => {
      const refreshToken = randomBytes(24).toString('base64url')
      const body = { provider: 'google', address, refreshToken }
      return idOf(await client.post('/v1/calendar-connections', body).expect(201))
    },
    openMeeting: async (more = {}) => {
      const body = { ...(await completeIntent(client)), ...more }
      return idOf(await client.post('/v1/meetings', body).expect(201))
    },
  }
  return client
}

export const idOf = (answer: Response): string => z.object({ id: z.string() }).parse(answer.body).id

/** A meeting that lacks nothing, with calendars that were connected for it. */
export const completeIntent = async (client: ApiClient): Promise<Record<string, unknown>> => {
  const n = randomBytes(4).toString('hex')
  const { window, bookBy } = meetingExample(new Date())
  const ada = `ada-${n}@google.example`
  const ben = `ben-${n}@google.example`
  const ids = { ada: await client.connect(ada), ben: await client.connect(ben) }
  return {
    purpose: 'Contract review',
    durationMinutes: 60,
    timeZone: 'Europe/Berlin',
    window,
    bookBy,
    organizer: { address: ada, calendarConnectionId: ids.ada },
    participants: [
      { displayName: 'Ada', address: ada, role: 'required', calendarConnectionId: ids.ada },
      { displayName: 'Ben', address: ben, role: 'required', calendarConnectionId: ids.ben },
    ],
    approval: { type: 'named_approver', address: ada },
  }
}

/** Puts a proposal before the approver, as the dispatcher does when a time was found. Answers what approves it. */
export const proposeTime = async (
  database: TestDatabase,
  client: ApiClient,
  meetingId: string,
  proposalId: string = randomUUID(),
) => {
  await database.owner.query(
    `insert into proposal (proposal_id, tenant_id, meeting_id, meeting_revision, round, start_at, end_at, evidence_ids,
         grounds)
       values ($1, $2, $3, 1, 1, app_now() + interval '15 days', app_now() + interval '15 days 1 hour', '{}',
         '{"optionalAttending": [], "optionalMissing": [], "ranking": [], "alternatives": []}')`,
    [proposalId, client.tenantId, meetingId],
  )
  await database.owner.query(
    `update meeting set state = 'awaiting_approval', changed_at = app_now(),
         state_facts = jsonb_build_object('type', 'awaiting_approval', 'proposalId', $2::text)
       where meeting_id = $1`,
    [meetingId, proposalId],
  )
  const { rows } = await database.owner.query<{ address: string }>(
    `select intent->'approval'->>'address' as address from meeting where meeting_id = $1`,
    [meetingId],
  )
  return { proposalId, approver: { address: rows[0]?.address ?? '' } }
}
