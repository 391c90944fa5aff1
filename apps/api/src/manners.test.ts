import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi } from './api.testing.ts'

const database = useDatabase()
const api = () => createTestApi(database)

describe('what is not here is said to be so', () => {
  test.each([
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['JSON in another alphabet', 'application/json; charset=iso-8859-1'],
  ])('a body that is %s is not understood', async (_what, type) => {
    const client = await api().createClient()
    const answer = await client.send('post', '/v1/meetings').set('content-type', type).send('{}').expect(415)
    expect(answer.body).toMatchObject({ type: '/problems/unsupported-media-type' })
  })

  test('an address that was mistyped is told from one that names nothing, with a key and without', async () => {
    const client = await api().createClient()
    const mistyped = { type: '/problems/no-such-address', title: 'This server has no such address.' }
    expect((await client.get('/v1/meeting').expect(404)).body).toMatchObject(mistyped)
    expect((await client.post('/v1/meetings/none/aprove').expect(404)).body).toMatchObject(mistyped)
    expect((await api().send('get', '/nothing').expect(404)).body).toMatchObject(mistyped)
    for (const id of [randomUUID(), 'none']) {
      const answer = await client.get(`/v1/meetings/${id}`).expect(404)
      expect(answer.body).toMatchObject({ type: '/problems/not-found' })
    }
    expect((await client.get('/v1/meetings/%E0%A4%A').expect(400)).body).toMatchObject({
      type: '/problems/unreadable-request',
    })
  })

  test.each([
    ['put', '/v1/meetings', 'GET, HEAD, POST'],
    ['delete', `/v1/meetings/${randomUUID()}`, 'GET, HEAD'],
    ['get', `/v1/meetings/${randomUUID()}/approve`, 'POST'],
  ] as const)('%s %s is refused with the methods that would do', async (method, path, allow) => {
    const client = await api().createClient()
    const answer = await client.send(method, path).expect(405)
    expect(answer.headers.allow?.split(', ').sort()).toEqual(allow.split(', ').sort())
  })

  test('OPTIONS tells the methods, and HEAD answers without a body', async () => {
    const client = await api().createClient()
    const approval = `/v1/meetings/${randomUUID()}/approve`
    expect((await client.send('options', approval).expect(204)).headers.allow).toBe('POST')
    await client.send('head', '/v1/meetings').expect(200)
  })
})

describe('a key', () => {
  test('is asked for, and a wrong or revoked one is not told from none', async () => {
    const { send, createClient } = api()
    const client = await createClient()
    await database.owner.query('update api_key set revoked_at = now() where tenant_id = $1', [
      client.tenantId,
    ])
    for (const key of ['', 'Basic abc', 'Bearer', `Bearer ${randomUUID()}`, `Bearer ${client.apiKey}`]) {
      const answer = await send('get', '/v1/meetings').set('authorization', key).expect(401)
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.body).toEqual({
        type: '/problems/unauthenticated',
        title: 'A valid API key is required.',
        status: 401,
      })
    }
  })

  test('that may only read does not write, and one that may only write does not read', async () => {
    const reader = await api().createClient(['read'])
    await reader.get('/v1/meetings').expect(200)
    const refused = await reader.post('/v1/meetings', '{}').expect(403)
    expect(refused.headers['www-authenticate']).toContain('scope="write"')
    const writer = await api().createClient(['write'])
    await writer.connect(`x-${randomUUID()}@example.com`)
    await writer.get('/v1/meetings').expect(403)
  })

  test('shows its own tenant only', async () => {
    const [mine, other] = [await api().createClient(), await api().createClient()]
    const id = await mine.openMeeting()
    await other.get(`/v1/meetings/${id}`).expect(404)
    await other.get(`/v1/meetings/${id}/trace`).expect(404)
    expect((await other.get('/v1/meetings').expect(200)).body).toEqual({ meetings: [] })
  })

  test('is held to the rate of its tenant, and to nobody else’s', async () => {
    const limited = createTestApi(database, { rateLimit: { perSecond: 0.01, burst: 2 } })
    const [eager, calm] = [await limited.createClient(), await limited.createClient()]
    await eager.get('/v1/meetings').expect(200)
    await eager.get('/v1/meetings').expect(200)
    const answer = await eager.get('/v1/meetings').expect(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    await calm.get('/v1/meetings').expect(200)
  })
})

describe('a request is followed', () => {
  test('by the id that it brings, if a log line can carry it', async () => {
    const { send } = api()
    const brought = await send('get', '/nothing').set('x-request-id', 'order-17.b_2')
    expect(brought.headers['x-request-id']).toBe('order-17.b_2')
    for (const bad of ['two words', 'x'.repeat(129), '{"a":1}']) {
      const made = await send('get', '/nothing').set('x-request-id', bad)
      expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('by the trace that it belongs to, into the rows of its meeting', async () => {
    const client = await api().createClient()
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
    const intent = await completeIntent(client)
    const answer = await client.post('/v1/meetings', intent).set('traceparent', traceparent).expect(201)
    expect(answer.headers.traceparent).toBe(traceparent)
    const { rows } = await database.owner.query<{ trace_parent: string }>(
      'select distinct trace_parent from outbox where tenant_id = $1',
      [client.tenantId],
    )
    expect(rows).toEqual([{ trace_parent: traceparent }])
  })
})
