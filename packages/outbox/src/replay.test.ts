import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { dismissDeadLetter, readDecisions, replayDeadLetter } from './operate.ts'
import { done, type Outcome } from './index.ts'
import { giveUp, handle, HOUR, inTurn, MINUTE, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

const refused: Outcome<unknown> = { type: 'dead', class: 'terminal', code: 'refused' }

/** A key whose head has died, with two rows behind it. */
const deadHead = async (...answers: readonly Outcome<unknown>[]) => {
  const action = safe({ keyed: true })
  const perform = inTurn<Outcome<unknown>>(refused, ...answers, done(undefined))
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3]))
  const { engine } = stage.engine([handle(action, { perform })])
  await engine.drain()
  const [letter] = await stage.dead(at.id)
  if (!letter) throw new Error('the head has died')
  return { ...at, action, engine, letter }
}

const decision = { by: 'o.perator', reason: 'the calendar is shared again' }

const replay = (tenant: string, id: string) =>
  stage.database.operator.transact(tenant, (tx) => replayDeadLetter(tx.sql, { id, ...decision }))
const dismiss = (tenant: string, id: string) =>
  stage.database.operator.transact(tenant, (tx) => dismissDeadLetter(tx.sql, { id, ...decision }))

test('a dead letter comes back with its id, its identity and a larger fence, ahead of what it held', async () => {
  const { id, tenant, letter, engine } = await deadHead()
  expect(await stage.states(id)).toEqual(['2:held', '3:waiting'])
  expect(await replay(tenant, letter.id)).toBe('replayed')
  const [row] = await stage.live(id)
  expect(row).toMatchObject({ id: letter.id, state: 'ready', attempts: 0, solo: true })
  expect(BigInt(row?.fence ?? 0)).toBeGreaterThan(BigInt(letter.fence))
  expect(await stage.states(id)).toEqual(['1:ready', '2:waiting', '3:waiting'])
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '2:succeeded', '3:succeeded'])
})

test('who replayed a letter, when and why, stays with it', async () => {
  const { tenant, letter } = await deadHead()
  await replay(tenant, letter.id)
  const { rows } = await stage.database.owner.query(
    'select resolution, resolved_by, resolved_reason, resolved_at is not null as dated from outbox_dead where id = $1',
    [letter.id],
  )
  expect(rows).toEqual([
    { resolution: 'replayed', resolved_by: decision.by, resolved_reason: decision.reason, dated: true },
  ])
})

test('everything that was decided about a letter stays on record, also when it dies again', async () => {
  const { tenant, letter, engine } = await deadHead(refused)
  await replay(tenant, letter.id)
  await engine.drain()
  await dismiss(tenant, letter.id)
  const decisions = await stage.database.operator.transact(tenant, (tx) => readDecisions(tx.sql, [letter.id]))
  expect(
    decisions.map(({ decided_at, ...rest }) => ({ ...rest, dated: decided_at instanceof Date })),
  ).toEqual(
    ['replayed', 'dismissed'].map((decided) => ({
      outbox_id: letter.id,
      decision: decided,
      class: 'terminal',
      code: 'refused',
      decided_by: decision.by,
      reason: decision.reason,
      dated: true,
    })),
  )
  const stranger = await stage.database.createTenant()
  expect(
    await stage.database.operator.transact(stranger, (tx) => readDecisions(tx.sql, [letter.id])),
  ).toEqual([])
})

test('a letter comes back with a fresh budget, and dies of the same causes only after spending it', async () => {
  const action = safe({ attemptsMax: 2, elapsedMaxMs: HOUR, ageMaxMs: HOUR })
  const at = await stage.enqueue(requestsOf(action, [1]))
  const perform = inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy' })
  const { engine } = stage.engine([handle(action, { perform })])
  const exhaust = async (): Promise<void> => {
    for (let tries = 0; tries < 2; tries++) {
      await engine.drain()
      await stage.database.advanceClock(MINUTE)
    }
  }
  await exhaust()
  const [letter] = await stage.dead(at.id)
  expect(letter).toMatchObject({ code: 'busy', attempts: 2, resolution: null })
  await stage.database.advanceClock(5 * HOUR)
  expect(await replay(at.tenant, letter?.id ?? '')).toBe('replayed')
  await engine.drain()
  expect(await stage.live(at.id)).toMatchObject([{ state: 'scheduled', attempts: 1, claims: 1 }])
  await exhaust()
  expect(await stage.dead(at.id)).toMatchObject([{ attempts: 2, resolution: null }])
})

test('a letter that dies again re-opens its record, with its whole history, and holds its key again', async () => {
  const { id, tenant, letter, engine } = await deadHead(refused)
  await replay(tenant, letter.id)
  await engine.drain()
  const dead = await stage.dead(id)
  expect(dead).toMatchObject([{ id: letter.id, resolution: null, code: 'refused' }])
  expect(dead[0]?.history).toHaveLength(2)
  expect(await stage.states(id)).toEqual(['2:held', '3:waiting'])
})

test('a letter is replayed once: a second replay is told so', async () => {
  const { tenant, letter } = await deadHead()
  const results = await Promise.all([replay(tenant, letter.id), replay(tenant, letter.id)])
  expect(results.sort()).toEqual(['already_resolved', 'replayed'])
})

test('a letter whose key has gone on is not replayed under the feet of what runs', async () => {
  const first = safe({ keyed: true, lane: 'moving' })
  const then = safe({ keyed: true, lane: 'moving', onPredecessorDead: 'run' })
  const at = await stage.enqueue(requestsOf(first, [1]))
  await stage.enqueue(requestsOf(then, [2]), at)
  const { engine } = stage.engine([handle(first, { perform: inTurn(refused, done(undefined)) })])
  await engine.drain()
  const [letter] = await stage.dead(at.id)
  expect(await stage.states(at.id)).toEqual(['2:ready'])
  expect(await replay(at.tenant, letter?.id ?? '')).toBe('key_busy')
  expect(await stage.dead(at.id)).toMatchObject([{ resolution: null }])
})

test('a replayed row whose effect may exist is still one that supersede leaves alone', async () => {
  const action = giveUp()
  const at = await stage.enqueue(requestsOf(action, [1]))
  await stage.engine([handle(action, { perform: () => Promise.reject(new Error('broken')) })]).engine.drain()
  const [letter] = await stage.dead(at.id)
  await replay(at.tenant, letter?.id ?? '')
  expect(await stage.live(at.id)).toMatchObject([{ state: 'ready', uncertain: true }])
})

test('a replay of a resting account’s letter rests', async () => {
  const action = safe()
  const account = 'an account whose letter is replayed'
  const at = await stage.enqueue(requestsOf(action, [1], { account }))
  await stage.engine([handle(action, { perform: inTurn(refused) })]).engine.drain()
  await stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')`,
    [account],
  )
  const [letter] = await stage.dead(at.id)
  await replay(at.tenant, letter?.id ?? '')
  expect(await stage.states(at.id)).toEqual(['1:paused'])
})

test('a dismissed letter stays on record and holds nothing back any more', async () => {
  const { id, tenant, letter, engine } = await deadHead()
  expect(await dismiss(tenant, letter.id)).toBe('dismissed')
  expect(await dismiss(tenant, letter.id)).toBe('already_resolved')
  expect(await replay(tenant, letter.id)).toBe('already_resolved')
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['2:succeeded', '3:succeeded'])
  expect(await stage.dead(id)).toMatchObject([{ resolution: 'superseded' }])
})

test('another tenant’s letter is not found, to replay or to dismiss', async () => {
  const { letter } = await deadHead()
  const stranger = await stage.database.createTenant()
  expect(await replay(stranger, letter.id)).toBe('not_found')
  expect(await dismiss(stranger, letter.id)).toBe('not_found')
})

test('the statements that docs/webhooks.md gives an operator bring a dead letter back', async () => {
  const { tenant, letter } = await deadHead()
  const page = await readFile(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
  const statements = (/```sql\n(.*?)```/s.exec(page)?.[1] ?? '')
    .replace(/(?<='aftercommit.tenant', ')[^']+/, tenant)
    .replace(/(?<=outbox_replay\()\d+/, letter.id)
  const operator = new pg.Client({ connectionString: stage.database.urls.operator })
  await operator.connect()
  const results = (await operator.query(statements)) as unknown as readonly pg.QueryResult[]
  await operator.end()
  expect(results.flatMap(({ rows }) => rows as unknown[])).toEqual([
    { set_config: tenant },
    expect.objectContaining({ id: letter.id, code: 'refused' }),
    { outbox_replay: 'replayed' },
  ])
})
