import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { bindTenant, enqueue, supersede, throughPrisma, type Enqueued } from './enqueue.ts'
import { requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()
const { database } = stage

test('a bare Prisma transaction enqueues as a connection of pg does', async () => {
  const [tenant, id, action] = [await database.createTenant(), randomUUID(), safe({ keyed: true })]
  const requests = requestsOf(action, [1, 2])(id)
  const viaPrisma = await database.api.transact(tenant, (tx) =>
    enqueue({ sql: throughPrisma(tx.prisma) }, requests),
  )
  const viaPg = await database.api.transact(tenant, (tx) => enqueue(tx, requests))
  const known = (rows: readonly Enqueued[]): readonly Enqueued[] =>
    rows.map((row) => ({ ...row, fresh: false }))
  expect(viaPrisma.map(({ fresh }) => fresh)).toEqual([true, true])
  expect(viaPg).toEqual(known(viaPrisma))
  expect(await stage.states(id)).toEqual(['1:ready', '2:waiting'])
})

test('it supersedes as well', async () => {
  const action = safe()
  const { tenant, id } = await stage.enqueue(requestsOf(action, [1]))
  const superseded = await database.api.transact(tenant, (tx) =>
    supersede({ sql: throughPrisma(tx.prisma) }, { type: 'thing', id }, [action.name], 'moved'),
  )
  expect(superseded).toEqual({ ended: 1, inFlight: 0 })
})

test('a tenant is bound for one transaction and not for the connection', async () => {
  const tenant = await database.createTenant()
  const bound = 'select current_tenant() as tenant'
  const client = await database.owner.connect()
  await client.query('begin')
  await bindTenant(client, tenant)
  expect((await client.query(bound)).rows).toEqual([{ tenant }])
  await client.query('commit')
  await expect(client.query(bound)).rejects.toThrow('no tenant is set')
  client.release()
})
