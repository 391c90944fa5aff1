import { randomUUID } from 'node:crypto'
import { useDatabase } from '@aftercommit/testing'
import { openDb, type Sql, type Tx } from './db.ts'

const database = useDatabase()

/** Rows that `sql` writes; Prisma writes tenants, the one model every schema of ours will have. */
beforeAll(async () => {
  await database.owner.query(`
    create table note (tenant_id uuid not null, text text not null);
    grant select, insert on note to aftercommit_api;
    grant insert, update on tenant to aftercommit_api`)
})

const writeByPrisma = (tx: Tx) =>
  tx.prisma.tenant.create({ data: { tenantId: tx.tenantId, name: 'by Prisma' } })
const writeBySql = (tx: Tx) => tx.sql.query(`insert into note values ($1, 'by sql')`, [tx.tenantId])

const written = async (tenantId: string): Promise<{ tenants: number; notes: number } | undefined> => {
  const { rows } = await database.owner.query<{ tenants: number; notes: number }>(
    `select (select count(*)::int from tenant where tenant_id = $1) as tenants,
       (select count(*)::int from note where tenant_id = $1) as notes`,
    [tenantId],
  )
  return rows[0]
}

const WHO =
  'select pg_backend_pid() as pid, pg_current_xact_id()::text as xid, current_tenant()::text as tenant'

test('Prisma and sql speak on one connection, in one transaction, for one tenant', async () => {
  const tenantId = randomUUID()
  await database.api.transact(tenantId, async (tx) => {
    const [byPrisma] = await tx.prisma.$queryRawUnsafe<object[]>(WHO)
    const { rows } = await tx.sql.query(WHO)
    expect(byPrisma).toMatchObject({ tenant: tenantId })
    expect(rows[0]).toEqual(byPrisma)
  })
})

test('each sees what the other has written, and both are committed', async () => {
  const tenantId = randomUUID()
  await database.api.transact(tenantId, async (tx) => {
    await writeByPrisma(tx)
    const { rows } = await tx.sql.query('select name from tenant')
    expect(rows).toEqual([{ name: 'by Prisma' }])
    await tx.sql.query(`update tenant set name = 'by sql' where tenant_id = $1`, [tenantId])
    expect(await tx.prisma.tenant.findMany()).toMatchObject([{ name: 'by sql' }])
    await writeBySql(tx)
  })
  expect(await written(tenantId)).toEqual({ tenants: 1, notes: 1 })
})

test.each([
  ['the caller changes its mind', () => Promise.reject(new Error('changed my mind'))],
  ['a statement of sql fails', (tx: Tx) => tx.sql.query('select 1 / 0')],
  ['a statement of Prisma fails', (tx: Tx) => writeByPrisma(tx)],
])('when %s, what either has written is rolled back', async (_why, fail) => {
  const tenantId = randomUUID()
  const work = database.api.transact(tenantId, async (tx) => {
    await writeByPrisma(tx)
    await writeBySql(tx)
    await fail(tx)
  })
  await expect(work).rejects.toThrow()
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 0 })
})

test('two hundred transactions at once never cross', async () => {
  const seen = await Promise.all(
    Array.from({ length: 200 }, () => {
      const tenantId = randomUUID()
      return database.api.transact(tenantId, async (tx) => {
        const [byPrisma] = await tx.prisma.$queryRawUnsafe<{ xid: string; tenant: string }[]>(WHO)
        await writeBySql(tx)
        const { rows } = await tx.sql.query<{ xid: string }>(WHO)
        return { same: rows[0]?.xid === byPrisma?.xid && byPrisma?.tenant === tenantId, xid: byPrisma?.xid }
      })
    }),
  )
  expect(seen.every(({ same }) => same)).toBe(true)
  expect(new Set(seen.map(({ xid }) => xid)).size).toBe(200)
})

test('a transaction opened inside another is its own', async () => {
  const [outer, inner] = [randomUUID(), randomUUID()]
  await database.api.transact(outer, async (tx) => {
    await database.api.transact(inner, writeBySql)
    expect(await written(inner)).toEqual({ tenants: 0, notes: 1 })
    const { rows } = await tx.sql.query(WHO)
    expect(rows).toMatchObject([{ tenant: outer }])
  })
})

test('“now” is the database’s, the same for the whole transaction', async () => {
  await database.advanceClock(3_600_000)
  await database.api.transact(randomUUID(), async (tx) => {
    const { rows } = await tx.sql.query<{ now: Date }>('select app_now() as now')
    expect(rows[0]?.now).toEqual(tx.now)
    expect(tx.now.getTime()).toBeGreaterThan(Date.now() + 3_000_000)
  })
})

test('a hint runs after the commit, and never after a rollback', async () => {
  const [kept, lost] = [randomUUID(), randomUUID()]
  const heard: unknown[] = []
  const hint = (tx: Tx) =>
    new Promise<void>((resolve) => {
      tx.afterCommit(async (outside) => {
        heard.push((await outside.query('select 1 as one')).rows[0], await written(tx.tenantId))
        resolve()
      })
    })
  let done: Promise<void> | undefined
  await database.api.transact(kept, async (tx) => {
    await writeBySql(tx)
    done = hint(tx)
  })
  await done
  const rolledBack = database.api.transact(lost, (tx) => {
    tx.afterCommit(() => {
      heard.push('after a rollback')
      return Promise.resolve()
    })
    return Promise.reject(new Error('changed my mind'))
  })
  await expect(rolledBack).rejects.toThrow('changed my mind')
  expect(heard).toEqual([{ one: 1 }, { tenants: 0, notes: 1 }])
})

test('a hint that fails is reported and changes nothing', async () => {
  const reported: Promise<unknown> = new Promise((resolve) => {
    const db = openDb({ url: database.urls.api, applicationName: 'test hints', onHintError: resolve })
    void db
      .transact(randomUUID(), (tx) => {
        tx.afterCommit(() => Promise.reject(new Error('nobody hears')))
        return Promise.resolve()
      })
      .then(() => db.close())
  })
  expect(await reported).toMatchObject({ message: 'nobody hears' })
})

test('a statement that comes after the end of its transaction is refused', async () => {
  let late: Tx | undefined
  await database.api.transact(randomUUID(), (tx) => {
    late = tx
    return Promise.resolve()
  })
  await expect(late?.sql.query('select 1')).rejects.toThrow('the transaction is over')
})

test('a transaction that takes too long is rolled back, and no statement of it escapes', async () => {
  const tenantId = randomUUID()
  const db = openDb({
    url: database.urls.api,
    applicationName: 'test slow',
    connectionsMax: 1,
    transactionMaxMs: 200,
  })
  const work = db.transact(tenantId, async (tx) => {
    await writeBySql(tx)
    // Goes on until it is stopped, as work does that waits for something slow.
    for (;;) await tx.sql.query('select pg_sleep(0.01)')
  })
  await expect(work).rejects.toThrow('the transaction is over')
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 0 })
  await db.transact(tenantId, writeBySql)
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 1 })
  await db.close()
})

test('a connection that is lost between two statements fails its transaction, and the process lives', async () => {
  const killed = async (pid: unknown) => database.owner.query('select pg_terminate_backend($1)', [pid])
  const ask = 'select pg_backend_pid() as pid'
  const plain = database.api.transaction(async (sql) => {
    await killed((await sql.query(ask)).rows[0]?.pid)
    await sql.query('select 1')
  })
  await expect(plain).rejects.toThrow()
  const bound = database.api.transact(randomUUID(), async (tx) => {
    await killed((await tx.sql.query(ask)).rows[0]?.pid)
    await writeBySql(tx)
  })
  await expect(bound).rejects.toThrow()
  const tenantId = randomUUID()
  await database.api.transact(tenantId, writeBySql)
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 1 })
})

test('connections may be killed at any moment, again and again, and the process lives', async () => {
  const works = [
    () => database.api.query('select pg_sleep(0.001)'),
    () => database.api.transaction((sql) => sql.query('select pg_sleep(0.001)')),
    () => database.api.transact(randomUUID(), writeBySql),
  ]
  const storm = Array.from({ length: 10 }, async () => {
    for (let i = 0; i < 10; i++) await Promise.allSettled(works.map((work) => work()))
  })
  const calm = new AbortController()
  const killing = (async () => {
    while (!calm.signal.aborted) {
      await database.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'test api'`,
      )
    }
  })()
  await Promise.all(storm)
  calm.abort()
  await killing
  const tenantId = randomUUID()
  await database.api.transact(tenantId, writeBySql)
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 1 })
})

test('a transaction without a tenant commits as a whole or not at all', async () => {
  const tenantId = randomUUID()
  const insert = `insert into note values ($1, 'plain')`
  await database.api.transaction((sql) => sql.query(insert, [tenantId]))
  const failed = database.api.transaction(async (sql) => {
    await sql.query(insert, [tenantId])
    throw new Error('changed my mind')
  })
  await expect(failed).rejects.toThrow('changed my mind')
  expect(await written(tenantId)).toEqual({ tenants: 0, notes: 1 })
})

test('statements are prepared under a name, unless a pooler forbids it', async () => {
  const prepared = async (preparedStatements: boolean): Promise<unknown> => {
    const db = openDb({
      url: database.urls.api,
      applicationName: 'test names',
      connectionsMax: 1,
      preparedStatements,
    })
    await db.query('select 1')
    const { rows } = await db.query('select count(*)::int > 0 as named from pg_prepared_statements')
    await db.close()
    return rows[0]
  }
  expect(await prepared(true)).toEqual({ named: true })
  expect(await prepared(false)).toEqual({ named: false })
})

test('an ear that cannot open says so once, to whoever opens it', async () => {
  const nowhere = new URL(database.urls.api)
  nowhere.port = '1'
  const db = openDb({ url: nowhere.href, applicationName: 'test ear' })
  const lost: Error[] = []
  const opening = db.listen(
    'nothing',
    () => undefined,
    (error) => void lost.push(error),
  )
  await expect(opening).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await db.close()
  expect(lost).toEqual([])
})

test('an ear that is lost says so once, and one that is closed says nothing', async () => {
  const lost: Error[] = []
  let tell = (): void => undefined
  const told = new Promise<void>((resolve) => (tell = resolve))
  const listen = () =>
    database.api.listen(
      'something',
      () => undefined,
      (error) => {
        lost.push(error)
        tell()
      },
    )
  const close = await listen()
  await close()
  expect(lost).toEqual([])
  await listen()
  await database.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'test api listen'`,
  )
  await told
  expect(lost).toHaveLength(1)
})

test('a transaction that a stopped process leaves open is ended by the server, and a connection at rest is not', async () => {
  const tenant = await database.createTenant()
  const limit = async (sql: Sql): Promise<string | undefined> => {
    const { rows } = await sql.query<{ ms: string }>(
      `select current_setting('idle_in_transaction_session_timeout') as ms`,
    )
    return rows[0]?.ms
  }
  expect(await database.api.transact(tenant, ({ sql }) => limit(sql))).toBe('10s')
  expect(await database.dispatcher.transaction((sql) => limit(sql))).toBe('10s')
  expect(await limit(database.api)).toBe('0')
})
