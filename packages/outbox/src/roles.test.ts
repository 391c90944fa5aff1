import { randomUUID } from 'node:crypto'
import type { Db } from '@aftercommit/platform/db'
import { enqueue } from './enqueue.ts'
import { done, type Outcome } from './index.ts'
import { handle, inTurn, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

const DENIED = { code: '42501' }
const UNSET = { code: 'AC001' }

const roles = {
  api: () => stage.database.api,
  dispatcher: () => stage.database.dispatcher,
  operator: () => stage.database.operator,
}

const engineTables = [
  'outbox',
  'outbox_identity',
  'outbox_history',
  'outbox_attempt',
  'outbox_dead',
  'outbox_replica',
  'outbox_account_pause',
  'outbox_lane',
  'outbox_decision',
]

const inTenant = (db: Db, tenant: string, text: string, values: readonly unknown[] = []) =>
  db.transact(tenant, (tx) => tx.sql.query(text, values))

test('without a tenant, a read that would hide a row raises instead of saying “nothing there”', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  const perform = inTurn<Outcome<unknown>>({ type: 'dead', class: 'terminal', code: 'no' }, done(undefined))
  await stage.engine([handle(action, { perform })]).engine.drain()
  await stage.enqueue(requestsOf(action, [3]), at)
  for (const table of ['outbox', 'outbox_history', 'outbox_attempt', 'outbox_dead', 'thing', 'tenant']) {
    await expect(stage.database.api.query(`select * from ${table}`)).rejects.toMatchObject(UNSET)
  }
  for (const table of ['thing', 'tenant']) {
    await expect(stage.database.dispatcher.query(`select * from ${table}`)).rejects.toMatchObject(UNSET)
  }
})

test('a tenant that was set for one transaction is gone in the next on the same connection', async () => {
  const { tenant } = await stage.enqueue(requestsOf(safe(), [1]))
  await Promise.all(
    Array.from({ length: 20 }, () => inTenant(stage.database.api, tenant, 'select * from outbox')),
  )
  await Promise.all(
    Array.from({ length: 20 }, () =>
      expect(stage.database.api.query('select * from outbox')).rejects.toMatchObject(UNSET),
    ),
  )
})

test('the API sees its tenant’s rows and nobody else’s, finished and dead ones included', async () => {
  const action = safe()
  const mine = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine } = stage.engine([
    handle(action, {
      perform: ({ n }) =>
        Promise.resolve(
          n === 1 ? { type: 'done', facts: 1 } : { type: 'dead', class: 'terminal', code: 'no' },
        ),
    }),
  ])
  await engine.drain()
  await stage.enqueue(requestsOf(action, [3]), mine)
  const stranger = await stage.database.createTenant()
  for (const table of ['outbox', 'outbox_history', 'outbox_attempt', 'outbox_dead']) {
    const count = `select count(*)::int as rows from ${table}`
    expect((await inTenant(stage.database.api, mine.tenant, count)).rows[0]?.rows).toBeGreaterThan(0)
    expect((await inTenant(stage.database.api, stranger, count)).rows).toEqual([{ rows: 0 }])
  }
})

test.each([
  ['claim', `select id from outbox for update skip locked`],
  ['lock', `select id from outbox for share`],
  ['update', `update outbox set state = 'leased'`],
  ['delete', `delete from outbox`],
  ['insert into', `insert into outbox (tenant_id) values (gen_random_uuid())`],
  ['forge the identities of', `insert into outbox_identity values (gen_random_uuid(), 'x', 1, '')`],
  ['read the identities of', `select * from outbox_identity`],
  ['rewrite the history of', `update outbox_history set outcome = 'succeeded'`],
  ['resolve the dead letters of', `update outbox_dead set resolution = 'replayed'`],
  ['pause accounts in', `insert into outbox_account_pause values ('a', now(), 'c')`],
  ['promote rows of', `select outbox_promote(gen_random_uuid(), 'k', 0)`],
  ['replay letters of', `select outbox_replay(1, 'me', 'because')`],
  ['dismiss letters of', `select outbox_dismiss(1, 'me', 'because')`],
  ['make partitions of', `select outbox_ensure_partitions(1)`],
  ['lease rows of', `select outbox_lease('{}', '{}', '{}', '{}', '{}', gen_random_uuid())`],
  ['resume rows of', `select outbox_resume('{}')`],
  ['change the turns of', `update outbox_lane set turn = 0`],
  ['mend keys of', `select outbox_mend_key(gen_random_uuid(), 'k')`],
  ['forget what has ended in', `select outbox_retain(1, 1, 1, 1)`],
  ['drop months of', `select outbox_drop_month(1)`],
  ['forge decisions about', `insert into outbox_decision default values`],
])('the API cannot %s the outbox', async (_what, statement) => {
  const { tenant } = await stage.enqueue(requestsOf(safe(), [1]))
  await expect(inTenant(stage.database.api, tenant, statement)).rejects.toMatchObject(DENIED)
})

test('the API writes rows only for the tenant of its transaction', async () => {
  const action = safe()
  const tenant = await stage.database.createTenant()
  const id = randomUUID()
  const forged = { ...action.request({ id, n: 1 }), tenantId: randomUUID(), tenant_id: randomUUID() }
  await stage.database.api.transact(tenant, (tx) => enqueue(tx, [forged]))
  const { rows } = await stage.database.owner.query('select tenant_id from outbox where aggregate_id = $1', [
    id,
  ])
  expect(rows).toEqual([{ tenant_id: tenant }])
  await expect(enqueue({ sql: stage.database.api }, [action.request({ id, n: 2 })])).rejects.toMatchObject(
    UNSET,
  )
})

test('an enqueue that names the tenant binds its transaction, for as long as that lasts', async () => {
  const { api, owner } = stage.database
  const action = safe()
  const tenant = await stage.database.createTenant()
  const id = randomUUID()
  const seen = await api.transaction(async (sql) => {
    await enqueue({ sql, tenantId: tenant }, [action.request({ id, n: 1 })])
    // The next call, and every read, is that tenant's too.
    await enqueue({ sql }, [action.request({ id, n: 2 })])
    return (await sql.query('select identity from outbox where aggregate_id = $1', [id])).rows.length
  })
  expect(seen).toBe(2)
  const { rows } = await owner.query('select distinct tenant_id from outbox where aggregate_id = $1', [id])
  expect(rows).toEqual([{ tenant_id: tenant }])
  await expect(api.query('select from outbox')).rejects.toMatchObject(UNSET)
})

test('an enqueue that names another tenant than its transaction is bound to is refused, and nothing is written', async () => {
  const action = safe()
  const [one, other] = [await stage.database.createTenant(), await stage.database.createTenant()]
  const id = randomUUID()
  const rebinding = stage.database.api.transact(one, ({ sql }) =>
    enqueue({ sql, tenantId: other }, [action.request({ id, n: 1 })]),
  )
  await expect(rebinding).rejects.toMatchObject({ code: 'AC003' })
  expect(await stage.live(id)).toEqual([])
})

test('a temporary table of the caller’s does not stand in for the engine’s own', async () => {
  const action = safe()
  const tenant = await stage.database.createTenant()
  const id = randomUUID()
  await stage.database.api.transact(tenant, async (tx) => {
    await tx.sql.query('create temporary table outbox_identity (like outbox_dead) on commit drop')
    await enqueue(tx, [action.request({ id, n: 1 })])
  })
  expect(await stage.states(id)).toEqual(['1:ready'])
})

test('no role reads or writes a partition past its parent', async () => {
  const { tenant } = await stage.enqueue(requestsOf(safe(), [1]))
  const { rows } = await stage.database.owner.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('outbox_history'::regclass, 'outbox_attempt'::regclass)`,
  )
  expect(rows.length).toBeGreaterThanOrEqual(4)
  for (const { name } of rows) {
    for (const db of Object.values(roles)) {
      await expect(inTenant(db(), tenant, `select * from ${name}`)).rejects.toMatchObject(DENIED)
    }
  }
})

test('the dispatcher claims every tenant’s rows, and reaches no domain row but of the tenant it is in', async () => {
  const action = safe()
  const one = await stage.enqueue(requestsOf(action, [1]))
  const two = await stage.enqueue(requestsOf(action, [1]))
  expect(await stage.claimed(action, 10)).toHaveLength(2)
  const seen = await inTenant(stage.database.dispatcher, one.tenant, 'select thing_id from thing')
  expect(seen.rows).toEqual([{ thing_id: one.id }])
  const changed = await inTenant(
    stage.database.dispatcher,
    one.tenant,
    `update thing set state = 'x' where thing_id = $1`,
    [two.id],
  )
  expect(changed.rowCount).toBe(0)
})

test.each([
  ['read API keys', 'select * from api_key'],
  ['make API keys', `insert into api_key values ('', gen_random_uuid(), 'x')`],
  ['tell whose an API key is', `select tenant_of_api_key('')`],
  ['delete a dead letter', 'delete from outbox_dead'],
  ['delete history', 'delete from outbox_history'],
  ['rewrite an attempt', `update outbox_attempt set outcome = 'succeeded'`],
  ['free an identity', 'delete from outbox_identity'],
  ['replay a dead letter', `select outbox_replay(1, 'me', 'because')`],
  ['forge a decision', `insert into outbox_decision default values`],
  ['rewrite a decision', `update outbox_decision set decided_by = 'nobody'`],
])('the dispatcher cannot %s', async (_what, statement) => {
  const tenant = await stage.database.createTenant()
  await expect(inTenant(stage.database.dispatcher, tenant, statement)).rejects.toMatchObject(DENIED)
})

test('the operator reads every engine table, across tenants, and changes none by hand', async () => {
  const tenant = await stage.database.createTenant()
  for (const table of engineTables) {
    await stage.database.operator.query(`select * from ${table} limit 1`)
    for (const change of [`delete from ${table}`, `insert into ${table} default values`]) {
      await expect(stage.database.operator.query(change)).rejects.toMatchObject(DENIED)
    }
  }
  for (const statement of [
    `select outbox_enqueue('[]')`,
    `select outbox_supersede('thing', gen_random_uuid(), '{}', 'x')`,
    `update outbox set state = 'ready'`,
    `update outbox_dead set resolution = 'replayed'`,
  ]) {
    await expect(inTenant(stage.database.operator, tenant, statement)).rejects.toMatchObject(DENIED)
  }
})

test('what the operator may do is replay and dismiss', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  const refused = { type: 'dead', class: 'terminal', code: 'no' } as const
  await stage.engine([handle(action, { perform: inTurn(refused) })]).engine.drain()
  const [first, second] = await stage.dead(at.id)
  const act = (name: string, id: string | undefined) =>
    inTenant(stage.database.operator, at.tenant, `select outbox_${name}($1, 'me', 'because') as result`, [id])
  expect((await act('replay', first?.id)).rows).toEqual([{ result: 'replayed' }])
  expect((await act('dismiss', second?.id)).rows).toEqual([{ result: 'dismissed' }])
})

test('every function that runs as its owner looks for temporary tables last', async () => {
  const { rows } = await stage.database.owner.query<{ name: string }>(
    `select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'public' and p.prosecdef and p.proname not like 'watch\_%'
         and not coalesce('search_path=pg_catalog, public, pg_temp' = any(p.proconfig), false)`,
  )
  expect(rows).toEqual([])
})
