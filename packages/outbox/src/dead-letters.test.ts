import { expect, test } from '@jest/globals'
import type { Outcome } from './index.ts'
import { countDeadLetters, listDeadLetters, type DeadLetterFilter } from './operate.ts'
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

test('letters are listed and counted by cause, and both mean the same ones', async () => {
  const one = safe()
  const two = safe()
  const deaths: Readonly<Record<number, Outcome<unknown>>> = {
    1: denied,
    2: { ...denied, owner: 'the calendar’s owner' },
    3: { type: 'dead', class: 'terminal', code: 'gone' },
  }
  const perform = ({ n }: { readonly n: number }) => Promise.resolve(deaths[n] ?? denied)
  const { tenant, id } = await stage.enqueue((id) => [
    ...requestsOf(one, [1, 2, 3])(id),
    ...requestsOf(two, [1])(id),
  ])
  const other = await stage.enqueue(requestsOf(one, [3]), { tenant })
  await stage.engine([handle(one, { perform }), handle(two, { perform })]).engine.drain()
  const found = (filter: DeadLetterFilter) =>
    stage.database.operator.transact(tenant, async (tx) => {
      const letters = await listDeadLetters(tx.sql, { afterId: '0', limit: 10, ...filter })
      expect(await countDeadLetters(tx.sql, filter)).toBe(letters.length)
      return letters.map(({ action, code, owner }) => [action, code, owner])
    })
  expect(await found({})).toHaveLength(5)
  expect(await found({ actions: [two.name] })).toEqual([[two.name, 'denied', 'operations']])
  expect(await found({ codes: ['gone', 'unheard_of'] })).toHaveLength(2)
  expect(await found({ classes: ['permission'], owners: ['operations'] })).toHaveLength(2)
  expect(await found({ subject: { type: 'thing', id: other.id }, codes: ['gone'] })).toHaveLength(1)
  expect(await found({ subject: { type: 'thing', id } })).toHaveLength(4)
  expect(await found({ uncertain: true })).toEqual([])
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
