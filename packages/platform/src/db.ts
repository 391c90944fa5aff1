import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient, type Prisma } from './generated/client.ts'

export type { Prisma }

/** What the engine and the stores need of a connection: one statement, its values, its rows. */
export interface Sql {
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>
}

/** One open transaction of one tenant. Prisma and `sql` speak on the same connection. */
export interface Tx {
  readonly tenantId: string
  /** The database's time at the start of the transaction. The only "now" a decision may use. */
  readonly now: Date
  readonly prisma: Prisma.TransactionClient
  readonly sql: Sql
  /**
   * Runs after the commit, once. For hints only: the process may die before it runs, and its failure is reported to
   * `onHintError` and changes nothing.
   */
  afterCommit(hint: (outside: Sql) => Promise<void>): void
}

export interface Db extends Sql {
  /** The one door to domain state: opens a transaction, binds it to the tenant, commits when `work` returns. */
  transact<T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction without a tenant, for the engine's own tables. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Opens the process's one LISTEN connection. Resolves once it listens; answers how to stop. */
  listen(
    channel: string,
    heard: (payload: string) => void,
    lost: (error: Error) => void,
  ): Promise<() => Promise<void>>
  close(): Promise<void>
}

export interface DbOptions {
  readonly url: string
  readonly applicationName: string
  readonly connectionsMax?: number
  /** How long a transaction waits for a connection. */
  readonly acquireMaxMs?: number
  /** How long a transaction may stay open. */
  readonly transactionMaxMs?: number
  /** Off for poolers in transaction mode, which hand out connections that do not know our names. */
  readonly preparedStatements?: boolean
  /** Past the pooler, for the LISTEN connection: a pooler in transaction mode swallows notifications. */
  readonly listenUrl?: string
  /**
   * How long a connection in use may be silent. Longer than any statement; then it is given up, for the machine behind it
   * may have vanished without a word, and the kernel goes on trying for a quarter of an hour. For ever when left out.
   */
  readonly silenceMaxMs?: number
  readonly onHintError?: (error: unknown) => void
}

interface Slot {
  client?: pg.PoolClient
  /** When the pool gave it, on this process's monotonic clock; earlier than Prisma starts to count its timeout. */
  givenAt?: number
}

/** The slot into which the pool puts the connection that Prisma takes for the transaction being opened. */
const openingTransaction = new AsyncLocalStorage<Slot>()

/**
 * Prisma takes its transaction's connection from this pool, and the pool notes which one it was. That is what lets
 * Prisma's statements and ours share a transaction; it leans on the adapter asking the pool once per transaction,
 * so the version is pinned and one-transaction.test.ts keeps watch.
 */
class NotingPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): Promise<pg.PoolClient> | undefined {
    if (callback) {
      super.connect(callback)
      return undefined
    }
    const slot = openingTransaction.getStore()
    return super.connect().then((client) => {
      if (slot && !slot.client) {
        slot.client = client
        slot.givenAt = performance.now()
      }
      return client
    })
  }
}

export const openDb = (options: DbOptions): Db => {
  const { acquireMaxMs = 10_000, transactionMaxMs = 20_000, preparedStatements = true } = options
  const pool = new NotingPool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.connectionsMax ?? 10,
    connectionTimeoutMillis: acquireMaxMs,
    // A peer that vanished without a word is noticed in seconds, and not after the kernel's two hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // An idle connection that breaks is replaced by the pool; the next statement reports what matters.
  pool.on('error', () => undefined)
  // So does one that breaks between two statements; an error that nobody listens to would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    if (options.silenceMaxMs !== undefined) giveUpWhenSilent(client, options.silenceMaxMs)
  })
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
  const named = statementNames(preparedStatements)
  const on = (target: pg.Pool | pg.PoolClient): Sql => ({
    query: async (text, values = []) => target.query({ ...named(text), text, values: [...values], types }),
  })

  const outside = on(pool)

  const transact = async <T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const slot: Slot = {}
    const hints: ((outside: Sql) => Promise<void>)[] = []
    const result = await openingTransaction.run(slot, () =>
      prisma.$transaction(
        async (transaction) => {
          const { client, givenAt } = slot
          if (!client || givenAt === undefined) {
            throw new Error('Prisma opened a transaction without asking the pool')
          }
          const open = { until: givenAt + transactionMaxMs - CLOSING_MS }
          const sql = whileOpen(on(client), open)
          try {
            const now = await bindTenant(sql, tenantId)
            const afterCommit = (hint: (outside: Sql) => Promise<void>): void => void hints.push(hint)
            return await work({ tenantId, now, prisma: transaction, sql, afterCommit })
          } finally {
            open.until = 0
          }
        },
        { maxWait: acquireMaxMs, timeout: transactionMaxMs },
      ),
    )
    for (const hint of hints) void hint(outside).catch(options.onHintError ?? (() => undefined))
    return result
  }

  return {
    ...outside,
    transact,
    transaction: (work) => plainTransaction(pool, on, work),
    listen: (channel, heard, lost) => listenOn(options, channel, heard, lost),
    close: async () => {
      await prisma.$disconnect()
      if (!pool.ended) await pool.end()
    },
  }
}

const KEEP_ALIVE_MS = 10_000

/** A Date, or plus or minus infinity. */
const parseTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text') as (
  text: string,
) => Date | number

/** The rows of one answer share most of their times, and reading one costs as much as reading all the rest of a row. */
const readTime = (): ((text: string) => Date | number) => {
  let last: { readonly text: string; readonly time: Date | number } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, time: parseTime(text) }
    // One of its own for each row, because a Date can be changed.
    return last.time instanceof Date ? new Date(last.time) : last.time
  }
}

const TIMESTAMPTZ_OID: number = pg.types.builtins.TIMESTAMPTZ

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text'): unknown =>
    oid === TIMESTAMPTZ_OID
      ? readTime()
      : (pg.types.getTypeParser as (oid: number, format?: 'text') => unknown)(
          oid,
          format,
        )) as typeof pg.types.getTypeParser,
}

/** The socket of a connection, which node-postgres shows and does not promise; silence.test.ts keeps watch. */
interface OnSocket {
  readonly connection: {
    readonly stream: { setTimeout(ms: number, elapsed: () => void): void; destroy(error: Error): void }
  }
}

/** Keep-alive speaks up only while nothing of ours waits to be taken; a statement already sent needs this. */
const giveUpWhenSilent = (client: pg.PoolClient, silenceMaxMs: number): void => {
  const { stream } = (client as unknown as OnSocket).connection
  stream.setTimeout(silenceMaxMs, () =>
    // Named as the kernel would name it, a good deal later.
    stream.destroy(
      Object.assign(new Error('the database has been silent for too long'), { code: 'ETIMEDOUT' }),
    ),
  )
}

/** Our statements end this much before Prisma gives the connection back, however exactly timers go off. */
const CLOSING_MS = 10

/**
 * When a transaction takes too long, Prisma rolls it back and returns its connection to the pool while `work` still
 * runs. A statement of ours would then be committed by itself, or inside the transaction of whoever got the
 * connection next; so there is none after that moment, nor after the end of `work`.
 */
const whileOpen = (sql: Sql, open: { readonly until: number }): Sql => ({
  query: async (text, values) => {
    if (performance.now() >= open.until) throw new Error('the transaction is over')
    return sql.query(text, values)
  },
})

/**
 * How long a transaction may stand open with nothing asked of it. The server ends it then, so that a process that was
 * stopped in the middle of one does not keep its locks from everybody else. Local to the transaction, and so at home
 * behind a pooler.
 */
const IDLE_IN_TRANSACTION_MAX_MS = 10_000

const bindTenant = async (sql: Sql, tenantId: string): Promise<Date> => {
  const { rows } = await sql.query<{ now: Date }>(
    `select set_config('aftercommit.tenant', $1, true),
       set_config('idle_in_transaction_session_timeout', $2, true), app_now() as now`,
    [tenantId, String(IDLE_IN_TRANSACTION_MAX_MS)],
  )
  const [row] = rows
  if (!row) throw new Error('the database did not tell the time')
  return row.now
}

const plainTransaction = async <T>(
  pool: pg.Pool,
  on: (client: pg.PoolClient) => Sql,
  work: (sql: Sql) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect()
  let broken: Error | undefined
  // A connection lost between two statements says so here, and an error nobody listens to ends the process.
  const noteBroken = (error: Error): void => void (broken = error)
  client.on('error', noteBroken)
  try {
    await client.query(`begin; set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MAX_MS}`)
    const result = await work(on(client))
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((rollbackError: unknown) => {
      broken = rollbackError instanceof Error ? rollbackError : new Error('rollback failed')
    })
    throw error
  } finally {
    client.removeListener('error', noteBroken)
    client.release(broken)
  }
}

const listenOn = async (
  options: DbOptions,
  channel: string,
  heard: (payload: string) => void,
  lost: (error: Error) => void,
): Promise<() => Promise<void>> => {
  const client = new pg.Client({
    connectionString: options.listenUrl ?? options.url,
    application_name: `${options.applicationName} listen`,
    connectionTimeoutMillis: options.acquireMaxMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // Until it listens, a failure is the caller's to hear, once: as this promise's rejection.
  let listening = false
  const end = (error: Error): void => {
    if (!listening) return
    listening = false
    client.end().catch(() => undefined)
    lost(error)
  }
  client.on('notification', (message) => heard(message.payload ?? ''))
  client.on('error', end)
  client.on('end', () => end(new Error('the listening connection ended')))
  try {
    await client.connect()
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
  listening = true
  return async () => {
    listening = false
    await client.end()
  }
}

const statementNames = (enabled: boolean): ((text: string) => { name?: string }) => {
  const names = new Map<string, string>()
  return (text) => {
    if (!enabled) return {}
    let name = names.get(text)
    if (name === undefined) {
      name = `ac_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
      names.set(text, name)
    }
    return { name }
  }
}
