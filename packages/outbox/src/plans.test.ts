import { randomUUID } from 'node:crypto'
import {
  buryRow,
  claimRows,
  claimSoloRow,
  finishRows,
  markStarted,
  nextDueInMs,
  pauseAccount,
  readTarget,
  releaseDueRows,
  releaseRow,
  restUnknown,
  takeOverLostRows,
  type Sql,
} from './sql.ts'
import { claimantOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

/** A backlog of every kind, large enough that reading all of it would be the planner's wrong choice. */
beforeAll(async () => {
  await stage.database.owner.query(`
    alter table outbox disable trigger watch;
    insert into outbox (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type, aggregate_id,
        lane, account, ordering_key, successor_rule, state, not_before, available_at)
      select '${randomUUID()}', 'i' || g, 'test.any', 1, 1, '{}', 'thing', gen_random_uuid(), 'lane_' || g % 5,
        'account ' || g % 50, case when g % 4 = 0 then 'key ' || g % 500 end, 'hold',
        (array['ready', 'ready', 'ready', 'waiting', 'scheduled'])[1 + g % 5]::outbox_state, app_now(), app_now()
      from generate_series(1, 50000) g;
    alter table outbox enable trigger watch;
    analyze outbox`)
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
  ['a claim', (sql) => claimRows(sql, claimant, 'lane_1', 100)],
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
  ['a look at an unknown row', (sql) => readTarget(sql, hold)],
])('the plan of %s never reads the whole table, whatever its values', async (_what, ask) => {
  const { sql, plans } = planner()
  await ask(sql)
  expect(plans.join('\n')).toContain('outbox')
  expect(plans.join('\n')).not.toMatch(/Seq Scan on outbox( |$)/m)
})

test('a claim reads the index of its lane in order, and no other', async () => {
  const { sql, plans } = planner()
  await claimRows(sql, claimant, 'lane_1', 100)
  expect(plans[0]).toContain('Index Scan using outbox_claim on outbox')
  expect(plans[0]).not.toContain('Sort')
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
