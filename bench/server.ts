/** The PostgreSQL that all contenders share, each in a database of its own, and what a run does to it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openDb, type Sql } from '@aftercommit/platform/db'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { startLocalPostgres, urlOf } from '../packages/local-postgres/src/index.ts'
import type { Urls } from './contenders/outbox-tables.ts'

export interface Server {
  readonly version: string
  readonly url: string
  /** A migrated database with one tenant, for contenders of this repository. */
  createOutbox(name: string): Promise<Urls>
  /** An empty database, for a peer. Answers its URL. */
  createEmpty(name: string): Promise<string>
  usage(url: string): Promise<Usage>
  /** Equal ground before a timed part: statistics, visibility maps, and no checkpoint due. */
  settle(url: string): Promise<void>
  /** Runs statements as a database's owner, on one connection. */
  on<R>(url: string, work: (sql: Sql) => Promise<R>): Promise<R>
  stop(): Promise<void>
}

/** Counters that only grow; a timed part is a difference of two. */
export interface Usage {
  readonly walBytes: number
  /** Row versions left behind by updates and deletes in this database, whether cleared away or not. */
  readonly deadTuples: number
  readonly commits: number
  /** Of the server's processes. 0 where there is no /proc. */
  readonly cpuMs: number
}

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url))

export const startServer = async (): Promise<Server> => {
  const local = await startLocalPostgres({ durability: 'durable' })
  const admin = openDb({
    url: local.url,
    applicationName: 'bench admin',
    connectionsMax: 2,
    preparedStatements: false,
  })
  const password = randomBytes(18).toString('base64url')
  /** A connection that ends with its work, so that the server has counted everything when it comes to the next. */
  const on = async <R>(url: string, work: (sql: Sql) => Promise<R>): Promise<R> => {
    const db = openDb({ url, applicationName: 'bench', connectionsMax: 1, preparedStatements: false })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }
  const createEmpty = async (name: string): Promise<string> => {
    await admin.query(`create database ${name}`)
    return urlOf(local.url, { database: name })
  }
  return {
    version: local.version,
    url: local.url,
    createEmpty,
    on,
    createOutbox: async (name) => {
      const owner = await createEmpty(name)
      await migrate(owner, MIGRATIONS)
      const dispatcher = urlOf(owner, { user: 'aftercommit_bench', password })
      await ensureLogin(owner, dispatcher, 'aftercommit_dispatcher')
      const tenantId = randomUUID()
      await on(owner, async (sql) => {
        await sql.query('insert into tenant (tenant_id, name) values ($1, $2)', [tenantId, 'Bench tenant'])
        await sql.query('select outbox_ensure_partitions(2)')
      })
      return { owner, dispatcher, tenantId }
    },
    usage: (url) =>
      on(url, async (sql) => {
        const { rows } = await sql.query<Omit<Usage, 'cpuMs'>>(
          `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes",
             (select coalesce(sum(n_tup_upd + n_tup_del), 0)::float8 from pg_stat_user_tables) as "deadTuples",
             (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits`,
        )
        const [row] = rows
        if (!row) throw new Error('the server told no counters')
        return { ...row, cpuMs: await serverCpuMs(local.pid) }
      }),
    settle: async (url) => {
      await on(url, (sql) => sql.query('vacuum analyze'))
      await admin.query('checkpoint')
    },
    stop: async () => {
      await admin.close()
      await local.stop()
    },
  }
}

const MS_PER_TICK = 10

/** Of the postmaster and its children, those that have ended included. */
const serverCpuMs = async (postmaster: number): Promise<number> => {
  const pids = await readdir('/proc').catch(() => [])
  let ticks = 0
  for (const pid of pids) {
    const stat = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '') : ''
    // After the name in parentheses come state, parent, …; times are the 14th to 17th fields of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(pid) !== postmaster && Number(fields[1]) !== postmaster) continue
    ticks += Number(fields[11]) + Number(fields[12])
    if (Number(pid) === postmaster) ticks += Number(fields[13]) + Number(fields[14])
  }
  return ticks * MS_PER_TICK
}
