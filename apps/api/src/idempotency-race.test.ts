/** One Idempotency-Key, used by several requests at once, or by requests that are not the same. */
import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { Db } from '@aftercommit/platform/db'
import { gate, useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi, type ApiClient } from './api.testing.ts'

const database = useDatabase()

const countMeetings = async ({ tenantId }: ApiClient): Promise<number> => {
  const { rows } = await database.owner.query<{ count: number }>(
    'select count(*)::int as count from meeting where tenant_id = $1',
    [tenantId],
  )
  return rows[0]?.count ?? 0
}

/** Until a connection of this database waits for another's transaction: then the second request has arrived. */
const waitingForLock = async (): Promise<void> => {
  for (;;) {
    const { rowCount } = await database.owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rowCount) return
  }
}

/** The first command has done its work and stands before its commit until the gate is opened. */
const holdingFirst = () => {
  const held = gate()
  let calls = 0
  const db: Db = {
    ...database.api,
    transact: (tenantId, work) =>
      database.api.transact(tenantId, async (tx) => {
        const result = await work(tx)
        if (calls++ === 0) await held.pass()
        return result
      }),
  }
  return { held, api: createTestApi(database, { db }) }
}

test('another body under a key whose first request is under way waits for it, and is refused', async () => {
  const { held, api } = holdingFirst()
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const send = (body: object) =>
    api
      .send('post', '/v1/meetings')
      .set({ authorization: `Bearer ${client.apiKey}`, 'idempotency-key': key })
      .send(body)
  const first = send(intent).then((answer) => answer)
  await held.arrived
  const second = send({ ...intent, purpose: 'Another one' }).then((answer) => answer)
  await waitingForLock()
  held.open()
  expect((await first).status).toBe(201)
  expect((await second).status).toBe(422)
  expect((await second).body).toMatchObject({ type: '/problems/idempotency-key-reused' })
  expect((await second).headers['idempotent-replayed']).toBeUndefined()
  expect(await countMeetings(client)).toBe(1)
})

test('one key at two operations at once is two keys: neither waits for the other', async () => {
  const { held, api } = holdingFirst()
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const send = (path: string, body: object) =>
    api
      .send('post', path)
      .set({ authorization: `Bearer ${client.apiKey}`, 'idempotency-key': key })
      .send(body)
  const opened = send('/v1/meetings', intent).then((answer) => answer)
  await held.arrived
  const secret = `whsec_${'A'.repeat(32)}`
  // Answered while the other one stands before its commit.
  await send('/v1/webhook-endpoints', { url: 'https://client.example/hook', secret }).expect(201)
  held.open()
  expect((await opened).status).toBe(201)
})

test('the same request repeated after a refused reuse still gets its own answer', async () => {
  const client = await createTestApi(database).createClient()
  const intent = await completeIntent(client)
  const key = randomUUID()
  const send = (body: object) => client.post('/v1/meetings', body).set('idempotency-key', key)
  const first = await send(intent).expect(201)
  await send({ ...intent, durationMinutes: 30 }).expect(422)
  const again = await send(intent).expect(201)
  expect(again.text).toBe(first.text)
  expect(again.headers['idempotent-replayed']).toBe('true')
})
