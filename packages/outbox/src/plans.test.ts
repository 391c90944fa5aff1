import { randomUUID } from 'node:crypto'
import {
  buryRow,
  claimRows,
  claimSoloRow,
  findBrokenKeys,
  finishRows,
  markStarted,
  nextDueInMs,
  pauseAccount,
  readTarget,
  releaseDueRows,
  releaseRow,
  restUnknown,
  type Sql,
  takeOverLostRows,
  takeUnknownRows,
} from './sql.ts'
import { claimantOf, safe, upTo, useStage } from './stage.testing.ts'

const stage = useStage()
const TENANT = randomUUID()

/** A backlog of every kind, large enough that reading all of it would be the planner's wrong choice. */
const fill = () =>
  stage.database.owner.query(`
    alter table outbox disable trigger watch;
    insert into outbox (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type, aggregate_id,
        lane, account, ordering_key, successor_rule, state, not_before, available_at, turn, lease_until)
      select '${TENANT}', 'i' || g, 'test.any', 1, 1, '{}', 'thing', gen_random_uuid(), 'lane_' || g % 5,
        'account ' || g % 50, case when g % 4 = 0 then 'key ' || g % 500 end, 'hold',
        (array['ready', 'ready', 'ready', 'waiting', 'scheduled', 'leased', 'paused'])[1 + g % 7]::outbox_state, app_now(), app_now(), g,
        app_now() + interval '1 hour'
      from generate_series(1, 50000) g;
    alter table outbox enable trigger watch`)

beforeAll(async () => {
  await fill()
  await stage.database.owner.query('analyze outbox')
})

/** Asks for the plan that a prepared statement keeps for every value, and does nothing else. */
const planner = () => {
  const plans: string[] = []
  const sql: Sql = {
    query: async (text) => {
      const { rows } = await stage.database.owner.query<{ 'QUERY PLAN': string }>(
        `explain (generic_plan) ${text}`,
      )
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [], rowCount: 0 }
    },
  }
  return { sql, plans }
}

const hold = { id: '1', fence: '1' }
const claimant = claimantOf(safe())
const back = {
  outcome: 'retrying',
  code: 'c',
  delayMs: 1,
  attemptsChange: 0,
  solo: false,
  uncertain: undefined,
} as const
const question = { code: 'c', correlation: {}, reconcileAction: 'a' }
const death = { class: 'terminal', code: 'c', owner: 'o' } as const

test.each<[string, (sql: Sql) => Promise<unknown>]>([
  ['a claim of one row alone', (sql) => claimSoloRow(sql, claimant, ['lane_1'])],
  ['a start', (sql) => markStarted(sql, [hold])],
  ['an ending', (sql) => finishRows(sql, [{ ...hold, outcome: 'succeeded', reason: undefined, calls: [] }])],
  ['a retry', (sql) => releaseRow(sql, { ...hold, ...back, calls: [] })],
  ['a rest in doubt', (sql) => restUnknown(sql, { ...hold, ...question, calls: [] })],
  ['a burial', (sql) => buryRow(sql, { ...hold, death, provedAbsent: false, calls: [] })],
  ['a rescue', (sql) => takeOverLostRows(sql, claimant, 20)],
  ['what is due', (sql) => releaseDueRows(sql, 1_000)],
  ['what is due next', (sql) => nextDueInMs(sql).catch(() => undefined)],
  ['a pause', (sql) => pauseAccount(sql, { account: 'account 1', delayMs: 1, code: 'c', limit: 10_000 })],
  [
    'a look for unknown actions',
    (sql) => takeUnknownRows(sql, { known: [], retired: [], graceMs: 1, leaseMs: 1, limit: 1 }),
  ],
  ['a look at an unknown row', (sql) => readTarget(sql, hold)],
])('the plan of %s never reads the whole table, whatever its values', async (_what, ask) => {
  const { sql, plans } = planner()
  await ask(sql)
  expect(plans.join('\n')).toContain('outbox')
  expect(plans.join('\n')).not.toMatch(/Seq Scan on outbox( |$)/m)
})

/** How statements inside functions read the outbox: whole tables, index entries and rows, in a transaction of their own. */
const readsOf = async (call: string, values: readonly unknown[]) => {
  const client = await stage.database.owner.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('aftercommit.tenant', $1, true)`, [TENANT])
    const read = async (): Promise<{ scans: number; rows: number }> => {
      const { rows } = await client.query<{ scans: number; rows: number }>(
        `select seq_scan::int as scans, idx_tup_fetch::int as rows from pg_stat_xact_user_tables where relname = 'outbox'`,
      )
      return rows[0] ?? { scans: -1, rows: -1 }
    }
    // A connection may not have told yet what it read before.
    const before = await read()
    await client.query(call, [...values])
    const after = await read()
    return { scans: after.scans - before.scans, rows: after.rows - before.rows }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** The statements that an act would make, with their values. */
const statementsOf = async (act: (sql: Sql) => Promise<unknown>) => {
  const asked: { text: string; values: readonly unknown[] }[] = []
  await act({
    query: (text, values = []) => {
      asked.push({ text, values })
      return Promise.resolve({ rows: [], rowCount: 0 })
    },
  })
  return asked
}

const enqueued = [
  {
    identity: 'planned',
    action: 'test.any',
    payloadVersion: 1,
    policyVersion: 1,
    payload: {},
    aggregateType: 'thing',
    aggregateId: TENANT,
    lane: 'lane_1',
    account: 'account 1',
    orderingKey: 'key 4',
    successorRule: 'run',
  },
]

test.each<[string, string, readonly unknown[]]>([
  ['a place in a lane', 'select outbox_next_turn($1, $2)', [TENANT, 'lane_1']],
  ['an insert', 'select * from outbox_enqueue($1::jsonb)', [JSON.stringify(enqueued)]],
  ['a promotion', 'select outbox_promote($1, $2, $3)', [TENANT, 'key 4', 4]],
  ['a repair of a key', 'select * from outbox_mend_key($1, $2)', [TENANT, 'key 499']],
  ['a look at busy accounts', 'select outbox_busy($1, $2, $3)', [['1', '2'], ['test.any'], [1]]],
  ['a paused row resumed', 'select outbox_resume($1)', [['account 1', 'account 2']]],
])('%s reads few rows, and never the whole table', async (_what, call, values) => {
  const reads = await readsOf(call, values)
  expect(reads.scans).toBe(0)
  // A key has at most 100 rows here, and an account 143 in a state.
  expect(reads.rows).toBeLessThan(400)
})

test('looking for unknown actions and for broken keys costs the same on any backlog', async () => {
  const unknown = { known: [], retired: ['test.gone'], graceMs: 1, leaseMs: 1, limit: 100 }
  for (const look of [
    (sql: Sql) => takeUnknownRows(sql, unknown),
    (sql: Sql) => findBrokenKeys(sql, undefined, 100),
  ]) {
    const [statement] = await statementsOf(look)
    const reads = await readsOf(statement?.text ?? '', statement?.values ?? [])
    expect(reads.scans).toBe(0)
    // Of 50,000: the first thousand rows of each lane, or the first twenty of each of a hundred keys.
    expect(reads.rows).toBeLessThan(8_000)
  }
})

test('a settle finds its row by its primary key, whatever else is indexed', async () => {
  const { sql, plans } = planner()
  await finishRows(sql, [{ ...hold, outcome: 'succeeded', reason: undefined, calls: [] }])
  await releaseRow(sql, { ...hold, ...back, calls: [] })
  for (const plan of plans) {
    const used = plan.match(/Scan using (outbox_\w+) on outbox /g) ?? []
    expect(used.every((index) => index.includes('outbox_pkey'))).toBe(true)
    expect(used.length).toBeGreaterThan(0)
  }
})

const manyHolds = upTo(100).map((n) => ({ id: String(n * 7 + 1), fence: '1' }))
const onHundredRows: Readonly<Record<string, (sql: Sql) => Promise<unknown>>> = {
  claim: (sql) =>
    claimRows(sql, { ...claimant, terms: [{ action: 'test.any', leaseMs: 1_000 }] }, 'lane_1', 100),
  start: (sql) => markStarted(sql, manyHolds),
  ending: (sql) =>
    finishRows(
      sql,
      manyHolds.map((one) => ({ ...one, outcome: 'succeeded', reason: undefined, calls: [] })),
    ),
  release: (sql) => releaseDueRows(sql, 100),
}

test('what is done to a hundred rows reads these and no others, also when its plan was made for an empty table', async () => {
  const { owner } = stage.database
  const reads = async () => {
    for (const [what, act] of Object.entries(onHundredRows)) {
      const [statement] = await statementsOf(act)
      const { scans, rows } = await readsOf(statement?.text ?? '', statement?.values ?? [])
      // A row is read to be chosen, to be locked, to be looked at and to be changed.
      expect({ what, scans, few: rows <= 400 ? 'few' : rows }).toEqual({ what, scans: 0, few: 'few' })
    }
  }
  await reads()
  await owner.query('alter table outbox disable trigger watch; delete from outbox')
  await owner.query('vacuum analyze outbox')
  await fill()
  await reads()
})
