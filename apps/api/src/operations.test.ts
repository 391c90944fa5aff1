import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { openDb, type Db } from '@aftercommit/platform/db'
import { createMetrics } from '@aftercommit/platform/metrics'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi } from './api.testing.ts'

const database = useDatabase()

/** A database that is not there: nobody listens on this port. */
const absent = (): Db =>
  openDb({ url: 'postgresql://nobody@127.0.0.1:1/none', applicationName: 'test', acquireMaxMs: 500 })

describe('health', () => {
  test('is told without the database, readiness with it', async () => {
    const api = createTestApi(database)
    expect((await api.send('get', '/healthz').expect(200)).body).toEqual({ status: 'ok' })
    expect((await api.send('get', '/readyz').expect(200)).body).toEqual({ status: 'ready' })
    const db = absent()
    const lonely = createTestApi(database, { db })
    await lonely.send('get', '/healthz').expect(200)
    expect((await lonely.send('get', '/readyz').expect(503)).body).toEqual({ status: 'database_unreachable' })
    await lonely.send('get', '/metrics').expect(200)
    await db.close()
  })

  test('a process is not ready before the schema is what it was built for', async () => {
    const hide = (name: string) =>
      database.owner.query('update _prisma_migrations set migration_name = $1 where migration_name = $2', [
        `${name} hidden`,
        name,
      ])
    const { rows } = await database.owner.query<{ name: string }>(
      'select max(migration_name) as name from _prisma_migrations',
    )
    const name = rows[0]?.name ?? ''
    await hide(name)
    const answer = await createTestApi(database).send('get', '/readyz').expect(503)
    expect(answer.body).toEqual({ status: 'not_migrated' })
    await database.owner.query(
      'update _prisma_migrations set migration_name = $1 where migration_name = $2',
      [name, `${name} hidden`],
    )
    await createTestApi(database).send('get', '/readyz').expect(200)
  })
})

test('a request that meets no database is asked to come back, whatever it wanted', async () => {
  const { apiKey } = await createTestApi(database).createClient()
  const db = absent()
  const api = createTestApi(database, { db })
  const authorization = `Bearer ${apiKey}`
  const answer = await api.send('get', '/v1/meetings').set({ authorization }).expect(503)
  expect(answer.body).toMatchObject({ type: '/problems/unavailable' })
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  await db.close()
})

describe('what is written down about a request', () => {
  test('is one line with its route, its status, its ids and its tenant', async () => {
    const api = createTestApi(database)
    const client = await api.createClient()
    const id = await client.openMeeting()
    const answer = await client.get(`/v1/meetings/${id}?`).set('x-request-id', 'look-1').expect(200)
    const lines = api.logLines.filter(({ requestId }) => requestId === 'look-1')
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        message: 'request',
        service: 'api',
        method: 'GET',
        route: '/v1/meetings/{meetingId}',
        status: 200,
        durationMs: expect.any(Number) as unknown,
        traceId: answer.headers.traceparent?.slice(3, 35),
        tenantId: client.tenantId,
      }),
    ])
  })

  test('never holds a key, a token, an address or the words of a person, even when it fails', async () => {
    const secrets = {
      address: `ada-${randomUUID()}@example.com`,
      refreshToken: randomBytes(24).toString('base64url'),
      instruction: `meet ${randomUUID()}`,
    }
    const broken: Db = {
      ...database.api,
      transact: () => {
        throw new Error(`the row (${Object.values(secrets).join(', ')}) was refused`, {
          cause: new Error(secrets.address),
        })
      },
    }
    const api = createTestApi(database, { db: broken })
    const client = await api.createClient()
    const { address, refreshToken, instruction } = secrets
    await client
      .post('/v1/calendar-connections', { provider: 'google', address, refreshToken })
      .set('x-request-id', 'fails-1')
      .set('idempotency-key', `${refreshToken}-key`)
      .expect(500)
    await client.get(`/v1/meetings/${address}?q=${instruction.replace(' ', '+')}`).expect(404)
    await client.get(`/${address}`).expect(404)
    await client.post('/v1/meetings', { instruction, purpose: address }).expect(400)
    await client.post('/v1/meetings', `{"purpose":"${address}`).expect(400)
    const text = JSON.stringify(api.logLines)
    expect(api.logLines.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ message: 'request failed', requestId: 'fails-1', error: 'Error' }),
    ])
    expect(api.logLines.filter(({ message }) => message === 'request')).toHaveLength(5)
    for (const secret of [...Object.values(secrets), client.apiKey, 'Bearer']) {
      expect(text).not.toContain(secret)
    }
  })

  test('is not repeated to the client: a fault of ours has no words of ours', async () => {
    const broken: Db = {
      ...database.api,
      transact: () => Promise.reject(new Error('duplicate key value violates unique constraint')),
    }
    const client = await createTestApi(database, { db: broken }).createClient()
    const answer = await client.get('/v1/meetings').expect(500)
    expect(answer.body).toEqual({ type: '/problems/internal', title: 'This is our fault.', status: 500 })
  })
})

test('durations are counted by route template, method and class, whatever a client sends', async () => {
  const metrics = createMetrics()
  const api = createTestApi(database, { metrics })
  const client = await api.createClient()
  await client.post('/v1/meetings', await completeIntent(client)).expect(201)
  await client.get(`/v1/meetings/${randomUUID()}`).expect(404)
  await client.get(`/v1/${randomUUID()}`).expect(404)
  await api.send('get', `/${randomUUID()}`).expect(404)
  const { text } = await api.send('get', '/metrics').expect(200)
  const counts = text.split('\n').filter((line) => line.includes('_seconds_count'))
  expect(counts.sort()).toEqual([
    'aftercommit_http_request_duration_seconds_count{route="/v1/calendar-connections",method="POST",status_class="2xx"} 2',
    'aftercommit_http_request_duration_seconds_count{route="/v1/meetings",method="POST",status_class="2xx"} 1',
    'aftercommit_http_request_duration_seconds_count{route="/v1/meetings/{meetingId}",method="GET",status_class="4xx"} 1',
    'aftercommit_http_request_duration_seconds_count{route="none",method="GET",status_class="4xx"} 2',
  ])
})
