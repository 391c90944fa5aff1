import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** The lock that `prisma migrate deploy` takes as well, so that the two never run at once. */
const PRISMA_MIGRATION_LOCK = 72707369

/**
 * Applies prisma/migrations in order and records them the way `prisma migrate deploy` does (same table, same
 * checksum), so that either tool can take over from the other. Prisma's own runner needs an engine binary that it
 * downloads, and a service that must start without the internet cannot depend on that.
 *
 * Each migration is one transaction. Throws when an applied file has changed since.
 */
export const migrate = async (url: string, folder: string): Promise<{ applied: readonly string[] }> => {
  const client = new pg.Client({ connectionString: url, application_name: 'aftercommit migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [PRISMA_MIGRATION_LOCK])
    await client.query(CREATE_MIGRATIONS_TABLE)
    const known = await client.query<{ migration_name: string; checksum: string }>(
      'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
    )
    const checksumByName = new Map(known.rows.map((row) => [row.migration_name, row.checksum]))
    const applied: string[] = []
    for (const migration of await readMigrations(folder)) {
      const before = checksumByName.get(migration.name)
      if (before === migration.checksum) continue
      if (before !== undefined) {
        throw new Error(`migration ${migration.name} was changed after it had been applied`)
      }
      await applyOne(client, migration)
      applied.push(migration.name)
    }
    return { applied }
  } finally {
    await client.end()
  }
}

interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

const readMigrations = async (folder: string): Promise<readonly Migration[]> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

const applyOne = async (client: pg.Client, migration: Migration): Promise<void> => {
  await client.query('begin')
  try {
    await client.query(migration.sql)
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${migration.name} failed`, { cause: error })
  }
}

const CREATE_MIGRATIONS_TABLE = `
  create table if not exists _prisma_migrations (
    id                  varchar(36) primary key not null,
    checksum            varchar(64) not null,
    finished_at         timestamptz,
    migration_name      varchar(255) not null,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`

/** The group role that each process's login is a member of; see the first migration. */
export type ProcessRole = 'aftercommit_api' | 'aftercommit_dispatcher' | 'aftercommit_operator'

/**
 * Makes the login that `loginUrl` names (user and password), or renews its password, and grants it exactly one role.
 */
export const ensureLogin = async (ownerUrl: string, loginUrl: string, role: ProcessRole): Promise<void> => {
  const { username, password } = new URL(loginUrl)
  const login = pg.escapeIdentifier(decodeURIComponent(username))
  const secret = pg.escapeLiteral(decodeURIComponent(password))
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'aftercommit migrate' })
  await client.connect()
  try {
    // Roles belong to the cluster: two processes that make one at once would collide, and one of them would fail.
    await client.query('select pg_advisory_lock($1)', [PRISMA_MIGRATION_LOCK])
    const known = await client.query('select from pg_roles where rolname = $1', [
      decodeURIComponent(username),
    ])
    await client.query(`${known.rowCount ? 'alter' : 'create'} role ${login} login password ${secret}`)
    await client.query(`grant ${role} to ${login}`)
  } finally {
    await client.end()
  }
}
