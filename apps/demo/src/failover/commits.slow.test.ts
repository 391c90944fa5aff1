import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { openDb, type Db } from '@aftercommit/platform/db'
import { migrate } from '@aftercommit/platform/migrate'
import { createTenant } from '@aftercommit/platform/tenants'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { asSuperuser, startPair, until, type Pair } from './pair.testing.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url))

let pair: Pair
let db: Db
let tenantId: string
beforeAll(async () => {
  pair = await startPair()
  await migrate(pair.url, MIGRATIONS)
  ;({ tenantId } = await createTenant(pair.url, 'Two servers'))
  db = openDb({ url: pair.url, applicationName: 'test failover writer' })
}, 60_000)
afterAll(async () => {
  await db.close()
  await pair.stop()
})

/** Resolves when it is acknowledged, as everything that a client is told is. */
const enqueue = async (n: number): Promise<void> => {
  const row = {
    identity: `row ${n}`,
    action: 'test.nobody_runs_this',
    payloadVersion: 1,
    policyVersion: 1,
    payload: { n },
    aggregateType: 'thing',
    aggregateId: randomUUID(),
    lane: 'test',
    successorRule: 'run',
  }
  await db.transact(tenantId, (tx) => tx.sql.query('select outbox_enqueue($1)', [JSON.stringify([row])]))
}

const rowsOn = (url: string): Promise<readonly unknown[]> =>
  asSuperuser(url, async (connection) => {
    const { rows } = await connection.query(`select payload -> 'n' as n from outbox order by id`)
    return rows.map(({ n }: { readonly n: unknown }) => n)
  })

test('a commit that the standby has not got is not acknowledged, and is once the standby has got it', async () => {
  await pair.commitTogether()
  await enqueue(1)
  expect(await rowsOn(pair.standby.url)).toEqual([1])
  pair.link.close()
  let acknowledged = false
  const second = enqueue(2).then(() => (acknowledged = true))
  await asSuperuser(pair.primary.url, (connection) =>
    until(connection, `select from pg_stat_activity where wait_event = 'SyncRep'`),
  )
  // Nobody sees it either, so no dispatcher begins what may yet be lost.
  expect(await rowsOn(pair.primary.url)).toEqual([1])
  expect(acknowledged).toBe(false)
  pair.link.leadTo(pair.primary.port)
  await second
  expect(await rowsOn(pair.standby.url)).toEqual([1, 2])
}, 60_000)

test('without synchronous commit, what was acknowledged while the standby lagged is gone after the fail-over', async () => {
  await asSuperuser(pair.primary.url, async (connection) => {
    await connection.query(`alter system set synchronous_standby_names = ''`)
    await connection.query('select pg_reload_conf()')
    await until(connection, `select from pg_stat_replication where sync_state = 'async'`)
  })
  pair.link.close()
  await enqueue(3)
  await pair.killPrimary()
  await pair.promote()
  expect(await rowsOn(pair.standby.url)).toEqual([1, 2])
}, 60_000)
