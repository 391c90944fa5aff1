import { expect, test } from '@jest/globals'
import type { Outcome } from './index.ts'
import { listDeadLetters } from './operate.ts'
import { handle, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()
const denied: Outcome<unknown> = { type: 'dead', class: 'permission', code: 'denied' }

test('dead letters tell cause, owner, checkpoint and history, and share a fingerprint with their like', async () => {
  const action = safe()
  const { tenant, id } = await stage.enqueue(requestsOf(action, [1, 2]))
  let code = 'denied'
  const perform = () => Promise.resolve({ ...denied, code } as Outcome<unknown>)
  await stage.engine([handle(action, { perform })]).engine.drain()
  code = 'gone'
  await stage.enqueue(requestsOf(action, [3]), { tenant, id })
  await stage.engine([handle(action, { perform })]).engine.drain()
  const letters = await stage.database.operator.transact(tenant, (tx) =>
    listDeadLetters(tx.sql, { afterId: '0', limit: 10 }),
  )
  expect(letters.map((letter) => letter.code)).toEqual(['denied', 'denied', 'gone'])
  expect(new Set(letters.map(({ fingerprint }) => fingerprint)).size).toBe(2)
  expect(letters[0]).toMatchObject({ owner: 'operations', class: 'permission', attempts: 1 })
  expect(letters[0]?.attempt_history).toHaveLength(1)
})

test('a tenant sees no other tenant’s dead letters', async () => {
  const action = safe()
  await stage.enqueue(requestsOf(action, [1]))
  await stage.engine([handle(action, { perform: () => Promise.resolve(denied) })]).engine.drain()
  const stranger = await stage.database.createTenant()
  const letters = await stage.database.api.transact(stranger, (tx) =>
    listDeadLetters(tx.sql, { afterId: '0', limit: 10 }),
  )
  expect(letters).toEqual([])
})
