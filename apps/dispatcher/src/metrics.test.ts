import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { createMetrics } from '@aftercommit/platform/metrics'
import { useDatabase } from '@aftercommit/testing'
import { engineMetrics, outboxGauges } from './metrics.ts'

const database = useDatabase()

const linesOf = async (metrics: ReturnType<typeof createMetrics>): Promise<readonly string[]> =>
  (await metrics.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('what the engine reports is counted under names from closed sets', async () => {
  const metrics = createMetrics()
  const count = engineMetrics(metrics)
  const action = 'scheduling.write_event'
  count({ type: 'claimed', lane: 'calendar', rows: 3 })
  const settled = { type: 'settled', action, attempts: 1 } as const
  count({ ...settled, outcomeType: 'done', code: undefined, failureClass: undefined })
  count({ ...settled, outcomeType: 'dead', code: 'attendee_invalid', failureClass: 'validation' })
  count({ type: 'stale', action, step: 'settle' })
  count({ type: 'lease_lost', action, started: true })
  count({ type: 'handed_back', action })
  count({ type: 'order_mended', rows: 2 })
  count({ type: 'error', where: 'claim', error: new Error(`nobody ${randomUUID()} may see this`) })
  expect(await linesOf(metrics)).toEqual([
    'aftercommit_rows_claimed_total{lane="calendar"} 3',
    `aftercommit_attempts_settled_total{action="${action}",outcome="done",failure_class="none"} 1`,
    `aftercommit_attempts_settled_total{action="${action}",outcome="dead",failure_class="validation"} 1`,
    `aftercommit_stale_holders_total{action="${action}",step="settle"} 1`,
    `aftercommit_leases_lost_total{action="${action}",started="true"} 1`,
    `aftercommit_rows_handed_back_total{action="${action}"} 1`,
    'aftercommit_order_repairs_total 2',
    'aftercommit_engine_errors_total{where="claim"} 1',
  ])
})

interface Lying {
  readonly lane: string
  readonly state: string
  readonly readyForS?: number
  readonly solo?: boolean
  readonly targetId?: string
}

/** Puts a row where it is to be counted; how it would have got there is the engine's own tests' business. */
const lay = async ({ lane, state, readyForS = 0, solo = false, targetId }: Lying): Promise<string> => {
  const { rows } = await database.owner.query<{ id: string }>(
    `insert into outbox (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
         aggregate_id, lane, successor_rule, state, not_before, available_at, solo, target_id)
       values ($1, $2, 'test.act', 1, 1, '{}', 'thing', $1, $3, 'run', $4::outbox_state, app_now(),
         app_now() - make_interval(secs => $5), $6, $7)
       returning id`,
    [randomUUID(), randomUUID(), lane, state, readyForS, solo, targetId ?? null],
  )
  return rows[0]?.id ?? ''
}

describe('samples of the outbox', () => {
  beforeEach(async () => {
    await database.owner.query('delete from outbox')
  })

  test('show what lies in each lane, and how long the oldest ready row has waited', async () => {
    await lay({ lane: 'calendar', state: 'ready', readyForS: 30 })
    await lay({ lane: 'calendar', state: 'ready', readyForS: 90, solo: true })
    await lay({ lane: 'webhook', state: 'ready', readyForS: 5 })
    await lay({ lane: 'webhook', state: 'scheduled', readyForS: -3600 })
    await lay({ lane: 'webhook', state: 'leased' })
    const unknown = await lay({ lane: 'calendar', state: 'outcome_unknown' })
    await lay({ lane: 'calendar', state: 'scheduled', targetId: unknown, readyForS: -5 })
    const metrics = createMetrics()
    await outboxGauges(metrics, database.dispatcher)()
    const values = new Map((await linesOf(metrics)).map((line) => [line.split(' ')[0], line.split(' ')[1]]))
    const rows = (lane: string, state: string) =>
      values.get(`aftercommit_outbox_rows{lane="${lane}",state="${state}"}`)
    const states = ['ready', 'scheduled', 'paused', 'leased', 'outcome_unknown', 'dead']
    expect(states.map((state) => rows('calendar', state))).toEqual(['2', '1', '0', '0', '1', '0'])
    expect(states.map((state) => rows('webhook', state))).toEqual(['1', '1', '0', '1', '0', '0'])
    const age = (lane: string) =>
      Number(values.get(`aftercommit_outbox_ready_oldest_age_seconds{lane="${lane}"}`))
    expect(age('calendar')).toBeCloseTo(90, -1)
    expect(age('webhook')).toBeCloseTo(5, -1)
    expect(Number(values.get('aftercommit_outbox_observed_at_seconds'))).toBeGreaterThan(1.7e9)
  })

  test('let a lane that has emptied say 0', async () => {
    await lay({ lane: 'calendar', state: 'ready', readyForS: 30 })
    const metrics = createMetrics()
    const sample = outboxGauges(metrics, database.dispatcher)
    await sample()
    await database.owner.query('delete from outbox')
    await sample()
    const lines = await linesOf(metrics)
    expect(lines).toContain('aftercommit_outbox_rows{lane="calendar",state="ready"} 0')
    expect(lines).toContain('aftercommit_outbox_ready_oldest_age_seconds{lane="calendar"} 0')
  })

  test('stop counting at a bound, and see the oldest row of a long backlog all the same', async () => {
    await database.owner.query(
      `insert into outbox (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
           aggregate_id, lane, successor_rule, state, not_before, available_at, turn)
         select gen_random_uuid(), n::text, 'test.act', 1, 1, '{}', 'thing', gen_random_uuid(), 'calendar', 'run',
           'ready', app_now(), app_now() - make_interval(secs => n), 10050 - n from generate_series(1, 10050) n`,
    )
    const metrics = createMetrics()
    await outboxGauges(metrics, database.dispatcher)()
    const lines = await linesOf(metrics)
    expect(lines).toContain('aftercommit_outbox_rows{lane="calendar",state="ready"} 10001')
    const age = lines.find((line) => line.includes('ready_oldest_age_seconds'))?.split(' ')[1]
    expect(Number(age)).toBeGreaterThanOrEqual(10_050)
  })

  test('that fail leave what was sampled before, and say so', async () => {
    await lay({ lane: 'calendar', state: 'ready', readyForS: 30 })
    const metrics = createMetrics()
    let away = false
    const sql: Parameters<typeof outboxGauges>[1] = {
      query: (text, values) =>
        away ? Promise.reject(new Error('the database is away')) : database.dispatcher.query(text, values),
    }
    const sample = outboxGauges(metrics, sql)
    await sample()
    away = true
    await expect(sample()).rejects.toThrow('away')
    const lines = await linesOf(metrics)
    expect(lines).toContain('aftercommit_outbox_rows{lane="calendar",state="ready"} 1')
    expect(lines).toContain('aftercommit_outbox_sample_failures_total 1')
  })
})
