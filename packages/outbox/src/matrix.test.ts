import { readFile } from 'node:fs/promises'
import { describe, expect, test } from '@jest/globals'
import { format } from 'prettier'
import { gate } from '@aftercommit/testing'
import type { RepeatRule } from './index.ts'
import { becomes, lateStates, matrixTable, repeatRules, reports, type Report } from './matrix.testing.ts'
import {
  askable,
  changeThing,
  giveUp,
  handle,
  handleAskable,
  requestsOf,
  resend,
  safe,
  type Shape,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

const settle = async (tx: Parameters<typeof changeThing>[0], { payload }: { payload: { id: string } }) => {
  await changeThing(tx, payload.id, 'settled')
  return []
}

/** An action of a rule and its registration, whose attempt reports what it is told to when it is told to. */
const actor = (rule: RepeatRule, report: Report, before: () => Promise<void>, shape: Shape = {}) => {
  const perform = async () => {
    await before()
    return reports[report]
  }
  switch (rule) {
    case 'reconcile_first': {
      const action = askable(shape)
      const ask = () => Promise.resolve({ type: 'absent' } as const)
      return { action, registration: handleAskable(action, { perform, settle, ask }) }
    }
    case 'safe': {
      const action = safe(shape)
      return { action, registration: handle(action, { perform, settle }) }
    }
    case 'resend': {
      const action = resend(shape)
      return { action, registration: handle(action, { perform, settle }) }
    }
    case 'give_up': {
      const action = giveUp(shape)
      return { action, registration: handle(action, { perform, settle }) }
    }
  }
}

const whereIs = async (id: string): Promise<string | undefined> => {
  const [live] = await stage.states(id)
  const [ended] = await stage.ended(id)
  const [dead] = await stage.dead(id)
  return live?.split(':')[1] ?? ended?.split(':')[1] ?? (dead && 'dead')
}

const cells = (Object.keys(reports) as Report[]).flatMap((report) =>
  repeatRules.map((rule) => ({ report, rule })),
)

describe('a holder in time', () => {
  test.each(cells)('$report under $rule', async ({ report, rule }) => {
    const spent = report.endsWith('budget spent')
    const { action, registration } = actor(rule, report, () => Promise.resolve(), {
      attemptsMax: spent ? 1 : 3,
    })
    const { id } = await stage.enqueue(requestsOf(action, [1]))
    await stage.engine([registration]).engine.tick()
    expect(await whereIs(id)).toBe(becomes(report, rule))
    expect(await stage.thing(id)).toEqual({ state: 'settled', changes: 1 })
  })
})

/** Puts the row, as others would have, where it is when the late report comes. */
const PUT: Readonly<Record<(typeof lateStates)[number], string>> = {
  scheduled: `update outbox set state = 'scheduled', fence = fence + 1, available_at = app_now() + interval '1 hour'`,
  waiting: `update outbox set state = 'waiting', fence = fence + 1`,
  held: `update outbox set state = 'held', fence = fence + 1`,
  paused: `update outbox set state = 'paused', fence = fence + 1, available_at = app_now() + interval '1 hour'`,
  ready: `update outbox set state = 'ready', fence = fence + 1`,
  leased: `update outbox set fence = fence + 1, lease_until = app_now() + interval '1 hour'`,
  outcome_unknown: `update outbox set state = 'outcome_unknown', fence = fence + 1`,
  succeeded: 'succeeded',
  suppressed: 'suppressed',
  superseded: 'superseded',
  dead: 'dead',
}
const ENDED = (outcome: string): string =>
  outcome === 'dead'
    ? `with gone as (delete from outbox where aggregate_id = $1 returning *)
       insert into outbox_dead (id, tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
         aggregate_id, lane, ordering_key, successor_rule, not_before, created_at, fence, claims, attempts, class, code,
         owner, checkpoint, uncertain, attempt_history)
       select id, tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type, aggregate_id, lane,
         ordering_key, successor_rule, not_before, created_at, fence, claims, attempts, 'terminal', 'x', 'x', 'x', false, '[]' from gone`
    : `with gone as (delete from outbox where aggregate_id = $1 returning *)
       insert into outbox_history (id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
         lane, ordering_key, not_before, created_at, fence, claims, attempts, outcome)
       select id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id, lane, ordering_key,
         not_before, created_at, fence, claims, attempts, '${outcome}' from gone`

const late = lateStates.flatMap((state) =>
  (Object.keys(reports) as Report[]).map((report) => ({ state, report })),
)

describe('a holder too late', () => {
  test.each(late)('$report finds the row $state, and changes nothing', async ({ state, report }) => {
    const calling = gate()
    const { action, registration } = actor('reconcile_first', report, () => calling.pass())
    const { id } = await stage.enqueue(requestsOf(action, [1]))
    const { engine, events } = stage.engine([registration])
    const tick = engine.tick()
    await calling.arrived
    const put = PUT[state]
    // The scene is set past the engine, so the watch over legal moves must look away.
    const client = await stage.database.owner.connect()
    await client.query('begin')
    await client.query(`set local session_replication_role = replica`)
    await client.query(put === state ? ENDED(state) : `${put} where aggregate_id = $1`, [id])
    await client.query('commit')
    client.release()
    calling.open()
    await tick
    expect(await whereIs(id)).toBe(state)
    expect(await stage.thing(id)).toEqual({ state: 'new', changes: 0 })
    expect(events).toContainEqual({ type: 'stale', action: action.name, step: 'settle' })
  })
})

test('docs/outbox-states.md prints this matrix', async () => {
  const page = await readFile(new URL('../../../docs/outbox-states.md', import.meta.url), 'utf8')
  const printed = await format(matrixTable(), { parser: 'markdown' })
  expect(page).toContain(printed.trim())
})
