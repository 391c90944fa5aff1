import { useDatabase } from '@aftercommit/testing'
import type { Db, Tx } from '@aftercommit/platform/db'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createEngine, type Engine } from './engine.ts'
import { enqueue } from './enqueue.ts'
import { defineAction, done, go, handlerOf } from './index.ts'

const database = useDatabase()

const ping = defineAction({
  name: 'test.ping', payload: z.object({ id: z.uuid(), n: z.int() }), payloadVersion: 1, policyVersion: 1, lane: 'test',
  subject: ({ id }) => ({ type: 'thing', id }), identity: ({ id, n }) => `${id}:${n}`, orderingKey: ({ id }) => `thing:${id}`,
  repeat: 'safe', onPredecessorDead: 'hold', leaseMs: 60_000, attemptsMax: 3, elapsedMaxMs: 3_600_000,
  backoff: { baseMs: 1, maxMs: 10 }, repairOwner: 'operations',
})

test('walks', async () => {
  const tenant = await database.createTenant()
  const seen: number[] = []
  const engine: Engine = createEngine<Tx>({ db: database.dispatcher, registrations: [
    handlerOf<Tx>()(ping, { prepare: async (_tx, e) => go(e.payload.n), perform: async (n) => { seen.push(n); return done(undefined) } }),
  ], report: (e) => console.log(e) })
  const id = randomUUID()
  await database.api.transact(tenant, (tx) => enqueue(tx, [1, 2, 3].map((n) => ping.request({ id, n }))))
  await engine.drain()
  expect(seen).toEqual([1, 2, 3])
  expect((await database.owner.query('select outcome from outbox_history')).rows).toHaveLength(3)
})
