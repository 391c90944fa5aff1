import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useDatabase } from '@aftercommit/testing'
import pg from 'pg'
import { ensureLogin, migrate } from './migrate.ts'

const database = useDatabase()
const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

let url: string
let name: string
let folder: string
beforeEach(async () => {
  name = `migrate_${randomUUID().replaceAll('-', '')}`
  await database.owner.query(`create database ${name}`)
  const target = new URL(database.urls.owner)
  target.pathname = `/${name}`
  url = target.href
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
})
afterEach(async () => {
  await database.owner.query(`drop database ${name} with (force)`)
  await rm(folder, { recursive: true })
})

const query = async (text: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}

const write = async (migration: string, sql: string): Promise<void> => {
  await mkdir(join(folder, migration), { recursive: true })
  await writeFile(join(folder, migration, 'migration.sql'), sql)
}

const ours = async (): Promise<readonly string[]> =>
  (await readdir(MIGRATIONS, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()

test('an empty database gets every migration, in order, and a second run finds nothing to do', async () => {
  expect(await migrate(url, MIGRATIONS)).toEqual({ applied: await ours() })
  expect(await migrate(url, MIGRATIONS)).toEqual({ applied: [] })
})

test('each is recorded the way Prisma does: under its name, with the checksum of its file', async () => {
  await migrate(url, MIGRATIONS)
  const expected = await Promise.all(
    (await ours()).map(async (migration) => {
      const sql = await readFile(join(MIGRATIONS, migration, 'migration.sql'))
      return { migration_name: migration, checksum: createHash('sha256').update(sql).digest('hex'), steps: 1 }
    }),
  )
  const recorded = await query(
    `select migration_name, checksum, applied_steps_count as steps from _prisma_migrations
     where finished_at >= started_at and rolled_back_at is null order by 1`,
  )
  expect(recorded).toEqual(expected)
})

test('of two processes that migrate at once, one does and the other waits and finds nothing to do', async () => {
  const results = await Promise.all([migrate(url, MIGRATIONS), migrate(url, MIGRATIONS)])
  const counts = results.map(({ applied }) => applied.length).sort()
  expect(counts).toEqual([0, (await ours()).length])
})

test('a migration that changed after it had been applied is refused', async () => {
  await cp(MIGRATIONS, folder, { recursive: true })
  await migrate(url, folder)
  const [first = ''] = await ours()
  await writeFile(join(folder, first, 'migration.sql'), '-- nothing any more')
  await expect(migrate(url, folder)).rejects.toThrow(`${first} was changed after it had been applied`)
})

test('a migration that fails leaves nothing of itself, and what came before it stays', async () => {
  await write('1_good', 'create table good (id int)')
  await write('2_bad', 'create table bad (id int); select 1 / 0')
  await expect(migrate(url, folder)).rejects.toThrow('migration 2_bad failed')
  const tables = `select count(*) filter (where relname = 'good')::int as good,
    count(*) filter (where relname = 'bad')::int as bad from pg_class`
  expect(await query(tables)).toEqual([{ good: 1, bad: 0 }])
  await write('2_bad', 'create table bad (id int)')
  expect(await migrate(url, folder)).toEqual({ applied: ['2_bad'] })
})

test('a login is made with its role, and renewed when its password changes', async () => {
  await migrate(url, MIGRATIONS)
  const login = `login_${randomUUID().replaceAll('-', '')}`
  const as = (password: string): string => {
    const target = new URL(url)
    target.username = login
    target.password = encodeURIComponent(password)
    return target.href
  }
  const connects = async (password: string): Promise<boolean> => {
    const client = new pg.Client({ connectionString: as(password) })
    try {
      await client.connect()
      await client.query('select 1')
      return true
    } catch {
      return false
    } finally {
      await client.end()
    }
  }
  const [before, after] = [randomPassword(), randomPassword()]
  await Promise.all([1, 2, 3].map(() => ensureLogin(url, as(before), 'aftercommit_api')))
  expect(await connects(before)).toBe(true)
  await ensureLogin(url, as(after), 'aftercommit_api')
  expect([await connects(before), await connects(after)]).toEqual([false, true])
  const roles = `select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid
    where m.member = '${login}'::regrole`
  expect(await query(roles)).toEqual([{ rolname: 'aftercommit_api' }])
  await query(`drop role ${login}`)
})

/** With the characters that have a meaning in a URL or in SQL. */
const randomPassword = (): string => `${randomBytes(12).toString('base64')}'"@:/?#%`
