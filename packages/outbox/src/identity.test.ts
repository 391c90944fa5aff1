import { randomUUID } from 'node:crypto'
import { enqueue } from './enqueue.ts'
import { operationIdOf } from './index.ts'
import { blocked, rivalOf } from './rivals.testing.ts'
import { handle, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

test('a second insert of the same transition is a no-op that reports the row already there', async () => {
  const action = safe()
  const first = await stage.enqueue(requestsOf(action, [1]))
  const second = await stage.enqueue(requestsOf(action, [1]), first)
  expect(first.enqueued).toEqual([{ id: expect.any(String) as string, fresh: true }])
  expect(second.enqueued).toEqual([{ id: first.enqueued[0]?.id, fresh: false }])
  expect(await stage.live(first.id)).toHaveLength(1)
})

test('the same transition twice in one call is one row', async () => {
  const { id, enqueued } = await stage.enqueue(requestsOf(safe(), [1, 1]))
  expect(enqueued.map(({ fresh }) => fresh)).toEqual([true, false])
  expect(await stage.live(id)).toHaveLength(1)
})

test('an identity outlives its row: what succeeded is not done again', async () => {
  const action = safe()
  const first = await stage.enqueue(requestsOf(action, [1]))
  await stage.engine([handle(action)]).engine.drain()
  const second = await stage.enqueue(requestsOf(action, [1]), first)
  expect(second.enqueued).toEqual([{ id: first.enqueued[0]?.id, fresh: false }])
  expect(await stage.live(first.id)).toEqual([])
})

test.each([
  ['payload', { payload: { id: randomUUID(), n: 9 } }],
  ['payload version', { payloadVersion: 2 }],
  ['ordering key', { orderingKey: 'another' }],
])('one identity with another %s is refused, and the whole transaction with it', async (_part, other) => {
  const action = safe()
  const { tenant, id } = await stage.enqueue(requestsOf(action, [1]))
  const refused = stage.database.api.transact(tenant, (tx) =>
    enqueue(tx, [action.request({ id, n: 2 }), { ...action.request({ id, n: 1 }), ...other }]),
  )
  await expect(refused).rejects.toMatchObject({ code: 'AC002' })
  expect(await stage.states(id)).toEqual(['1:ready'])
})

test('the same identity in two tenants is two actions, and neither sees the other', async () => {
  const action = safe()
  const id = randomUUID()
  const request = action.request({ id, n: 1 })
  const tenants = [await stage.database.createTenant(), await stage.database.createTenant()] as const
  const results = await Promise.all(
    tenants.map((tenant) => stage.database.api.transact(tenant, (tx) => enqueue(tx, [request]))),
  )
  expect(results.map(([row]) => row?.fresh)).toEqual([true, true])
  expect(new Set(results.map(([row]) => row?.id)).size).toBe(2)
  expect(operationIdOf(tenants[0], request.identity)).not.toBe(operationIdOf(tenants[1], request.identity))
})

test('of twenty inserts at once, one is fresh and all report the same row', async () => {
  const action = safe()
  const { tenant, id } = await stage.enqueue(() => [])
  const results = await Promise.all(
    Array.from({ length: 20 }, () =>
      stage.database.api.transact(tenant, (tx) => enqueue(tx, [action.request({ id, n: 1 })])),
    ),
  )
  const rows = results.map(([row]) => row)
  expect(rows.filter((row) => row?.fresh)).toHaveLength(1)
  expect(new Set(rows.map((row) => row?.id)).size).toBe(1)
  expect(await stage.live(id)).toHaveLength(1)
})

test('an insert that waits for another’s rollback is fresh itself', async () => {
  const action = safe()
  const { tenant, id } = await stage.enqueue(() => [])
  const request = action.request({ id, n: 1 })
  const rival = await rivalOf(stage.database)
  await rival.begin(tenant)
  await enqueue(rival, [request])
  const mine = stage.database.api.transact(tenant, (tx) => enqueue(tx, [request]))
  await blocked(stage.database, 1)
  await rival.rollback()
  expect(await mine).toMatchObject([{ fresh: true }])
  await rival.end()
})

test('an operation id is a UUID of version 8, the same for ever', () => {
  const id = operationIdOf('6a1f7b52-9a0e-4d36-8f4d-1f8a0c1d2e3f', 'test.ping:1')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(operationIdOf('6a1f7b52-9a0e-4d36-8f4d-1f8a0c1d2e3f', 'test.ping:1')).toBe(id)
})
