import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { Db } from '@aftercommit/platform/db'
import { gate, useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi, idOf, proposeTime, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const DAY_MS = 24 * 60 * 60_000

const countOf = async (table: 'meeting' | 'idempotency_key', { tenantId }: ApiClient): Promise<number> => {
  const { rows } = await database.owner.query<{ count: number }>(
    `select count(*)::int as count from ${table} where tenant_id = $1`,
    [tenantId],
  )
  return rows[0]?.count ?? 0
}

test('a repeated request takes effect once and gets the same answer', async () => {
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const first = await client.post('/v1/meetings', intent).set('idempotency-key', key).expect(201)
  const second = await client.post('/v1/meetings', intent).set('idempotency-key', key).expect(201)
  expect(second.text).toBe(first.text)
  expect(second.headers.location).toBe(first.headers.location)
  expect(first.headers['idempotent-replayed']).toBeUndefined()
  expect(second.headers['idempotent-replayed']).toBe('true')
  expect(await countOf('meeting', client)).toBe(1)
})

test('a key does not serve another body, another address or another tenant', async () => {
  const api = createTestApi(database)
  const client = await api.createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const id = idOf(await client.post('/v1/meetings', intent).set('idempotency-key', key).expect(201))
  const changed = { ...intent, purpose: 'Another one' }
  const refused = await client.post('/v1/meetings', changed).set('idempotency-key', key).expect(422)
  expect(refused.body).toMatchObject({ type: '/problems/idempotency-key-reused' })

  const approval = { proposalId: randomUUID(), approver: { address: 'a@example.com' } }
  await client.post(`/v1/meetings/${id}/approve`, approval).set('idempotency-key', key).expect(422)
  await client.post(`/v1/meetings/${randomUUID()}/approve`, approval).set('idempotency-key', key).expect(422)

  const other = await api.createClient()
  const theirs = await other.post('/v1/meetings', await completeIntent(other)).set('idempotency-key', key)
  expect(theirs.status).toBe(201)
})

test('requests without a key are as many as they are', async () => {
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  await client.post('/v1/meetings', intent).expect(201)
  await client.post('/v1/meetings', intent).expect(201)
  expect(await countOf('meeting', client)).toBe(2)
  expect(await countOf('idempotency_key', client)).toBe(0)
})

test('a request whose answer is lost after the commit gets it when it is repeated', async () => {
  let fails = true
  const forgetful: Db = {
    ...database.api,
    transact: async (tenantId, work) => {
      const result = await database.api.transact(tenantId, work)
      if (fails) throw new Error('the process died before it could answer')
      return result
    },
  }
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const send = (db: Db) =>
    createTestApi(database, { db })
      .send('post', '/v1/meetings')
      .set({ authorization: `Bearer ${client.apiKey}`, 'idempotency-key': key })
      .send(intent)
  await send(forgetful).expect(500)
  expect(await countOf('meeting', client)).toBe(1)
  fails = false
  const repeated = await send(forgetful).expect(201)
  const { rows } = await database.owner.query<{ meeting_id: string }>(
    'select meeting_id from meeting where tenant_id = $1',
    [client.tenantId],
  )
  expect(rows.map((row) => row.meeting_id)).toEqual([idOf(repeated)])
})

test('a command that fails leaves its key free, and a duplicate that waited for it runs instead', async () => {
  const held = gate()
  let calls = 0
  const failing: Db = {
    ...database.api,
    transact: (tenantId, work) =>
      database.api.transact(tenantId, async (tx) => {
        const result = await work(tx)
        if (calls++ === 0) {
          await held.pass()
          throw new Error('the first one fails before its commit')
        }
        return result
      }),
  }
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const api = createTestApi(database, { db: failing })
  const key = randomUUID()
  const send = () =>
    api
      .send('post', '/v1/meetings')
      .set({ authorization: `Bearer ${client.apiKey}`, 'idempotency-key': key })
      .send(intent)
  const first = send().then(({ status }) => status)
  await held.arrived
  const second = send().then(({ status }) => status)
  await waitingForLock()
  held.open()
  expect(await first).toBe(500)
  expect(await second).toBe(201)
  expect(await countOf('meeting', client)).toBe(1)
})

test('two requests with one key at the same time take effect once and get one answer', async () => {
  const held = gate()
  let calls = 0
  const slow: Db = {
    ...database.api,
    transact: (tenantId, work) =>
      database.api.transact(tenantId, async (tx) => {
        const result = await work(tx)
        if (calls++ === 0) await held.pass()
        return result
      }),
  }
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const api = createTestApi(database, { db: slow })
  const key = randomUUID()
  const send = () =>
    api
      .send('post', '/v1/meetings')
      .set({ authorization: `Bearer ${client.apiKey}`, 'idempotency-key': key })
      .send(intent)
  const first = send().then((answer) => answer)
  await held.arrived
  const second = send().then((answer) => answer)
  await waitingForLock()
  held.open()
  const answers = await Promise.all([first, second])
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  expect(answers[0].text).toBe(answers[1].text)
  expect(await countOf('meeting', client)).toBe(1)
})

/** Until a connection of this database waits for another's transaction: then the duplicate has arrived. */
const waitingForLock = async (): Promise<void> => {
  for (;;) {
    const { rowCount } = await database.owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rowCount) return
  }
}

test('a refusal is kept, so that a late duplicate cannot succeed after it', async () => {
  const client = await createTestApi(database).createClient()
  const key = randomUUID()
  const id = await client.openMeeting()
  const proposalId = randomUUID()
  const approval = { proposalId, approver: { address: 'ada@example.com' } }
  const send = () => client.post(`/v1/meetings/${id}/approve`, approval).set('idempotency-key', key)
  await send().expect(422)
  // Now there is what it named, and the same request under a new key is judged anew.
  await proposeTime(database, client, id, proposalId)
  await client.post(`/v1/meetings/${id}/approve`, approval).expect(403)
  const repeated = await send().expect(422)
  expect(repeated.body).toMatchObject({ type: '/problems/unknown-proposal' })
  expect(repeated.headers['content-type']).toContain('application/problem+json')
})

test('malformed input never was an attempt: its key serves the corrected request', async () => {
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const late = { ...intent, bookBy: '2020-01-01T00:00:00Z' }
  await client.post('/v1/meetings', late).set('idempotency-key', key).expect(400)
  await client.post('/v1/meetings', intent).set('idempotency-key', key).expect(201)
})

test('a key is forgotten after 24 hours of database time, and a later key sweeps it away', async () => {
  const client = await createTestApi(database).createClient()
  const intent = {
    ...(await completeIntent(client)),
    bookBy: new Date(Date.now() + 30 * DAY_MS).toISOString(),
  }
  const [kept, reused, later] = [randomUUID(), randomUUID(), randomUUID()]
  const send = (key: string) => client.post('/v1/meetings', intent).set('idempotency-key', key).expect(201)
  const first = idOf(await send(kept))
  const second = idOf(await send(reused))
  await database.advanceClock(DAY_MS - 60_000)
  expect(idOf(await send(kept))).toBe(first)
  await database.advanceClock(2 * 60_000)
  expect(idOf(await send(reused))).not.toBe(second)
  await send(later)
  const { rows } = await database.owner.query<{ key: string }>(
    'select key from idempotency_key where tenant_id = $1 order by created_at',
    [client.tenantId],
  )
  expect(rows.map(({ key }) => key)).toEqual([reused, later])
})
