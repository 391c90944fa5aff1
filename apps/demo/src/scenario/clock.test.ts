import { fileURLToPath } from 'node:url'
import { makeClockMovable, markAsTestDatabase, setClock } from '@aftercommit/local-postgres/movable-clock'
import { urlOf } from '@aftercommit/local-postgres'
import { migrate } from '@aftercommit/platform/migrate'
import { useDatabase } from '@aftercommit/testing'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url))
const database = useDatabase()
const name = `aftercommit_test_clock_${process.env.JEST_WORKER_ID ?? '0'}`

describe('the clock of a database that was made as production makes it', () => {
  let owner: pg.Client
  beforeAll(async () => {
    await database.owner.query(`drop database if exists ${name} with (force)`)
    await database.owner.query(`create database ${name}`)
    const url = urlOf(database.urls.owner, { database: name })
    await migrate(url, MIGRATIONS)
    owner = new pg.Client({ connectionString: url })
    await owner.connect()
  })
  afterAll(async () => {
    await owner.end()
    await database.owner.query(`drop database ${name}`)
  })

  const isReal = async (): Promise<boolean> => {
    const { rows } = await owner.query<{ real: boolean }>('select app_now() = now() as real')
    return rows[0]?.real ?? false
  }

  test('cannot be made movable, not even by its owner', async () => {
    await expect(markAsTestDatabase(owner)).rejects.toThrow(/holds something already/)
    await expect(makeClockMovable(owner)).rejects.toThrow(/not made for tests/)
    await expect(setClock(owner, new Date(0))).rejects.toThrow(/test_clock/)
    expect(await isReal()).toBe(true)
  })

  test('is not moved by a table of the same name: production asks no table for the time', async () => {
    await owner.query('create table test_clock (offset_ms float8 not null)')
    await owner.query('insert into test_clock values (86400000)')
    expect(await isReal()).toBe(true)
    await owner.query('drop table test_clock')
  })
})

test('the processes of a test can see its clock and cannot move it', async () => {
  const client = new pg.Client({ connectionString: database.urls.dispatcher })
  await client.connect()
  try {
    await expect(setClock(client, new Date(0))).rejects.toThrow(/permission denied/)
    const { rows } = await client.query<{ real: boolean }>('select app_now() = now() as real')
    expect(rows).toEqual([{ real: true }])
  } finally {
    await client.end()
  }
})

test('a time that is set runs on from there', async () => {
  const at = new Date('2031-03-10T07:00:00Z')
  await setClock(database.owner, at)
  const { rows } = await database.owner.query<{ now: Date }>('select app_now() as now')
  const ranMs = (rows[0]?.now.getTime() ?? 0) - at.getTime()
  expect(ranMs).toBeGreaterThanOrEqual(0)
  expect(ranMs).toBeLessThan(60_000)
})
