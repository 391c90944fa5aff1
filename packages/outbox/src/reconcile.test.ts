import { gate } from '@aftercommit/testing'
import { done, type Outcome, type Reconciled, type Settled } from './index.ts'
import {
  type Ask,
  askable,
  changeThing,
  GRACE_MS,
  handleAskable,
  HOUR,
  inTurn,
  MINUTE,
  requestsOf,
  type Shape,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

const timedOut: Outcome<unknown> = { type: 'unknown', code: 'timed_out', correlation: { operationId: 'o-1' } }

/** A row whose answer got lost, and an engine that asks about it; the first tick has made it unknown. */
const lostAnswer = async (ask: Ask, shape: Shape = {}, account?: string) => {
  const action = askable(shape)
  const told: Settled<unknown>[] = []
  const world = { performed: 0 }
  const { id, tenant } = await stage.enqueue(
    requestsOf(action, [1], account === undefined ? {} : { account }),
  )
  const { engine, events } = stage.engine([
    handleAskable(action, {
      perform: () => Promise.resolve(world.performed++ === 0 ? timedOut : done('second time')),
      ask,
      settle: async (tx, { payload }, outcome) => {
        told.push(outcome)
        await changeThing(tx, payload.id, outcome.type)
        return []
      },
    }),
  ])
  await engine.tick()
  return { action, id, tenant, told, world, engine, events }
}

test('found once is succeeded, and question and target settle together', async () => {
  const asked: unknown[] = []
  const { id, told, world, engine } = await lostAnswer((question, correlation) => {
    asked.push(question, correlation)
    return Promise.resolve({ type: 'found', facts: { eventId: 'e1' } })
  })
  await engine.drain()
  expect(asked).toEqual([{ id, n: 1 }, { operationId: 'o-1' }])
  expect(world.performed).toBe(1)
  expect(told).toEqual([timedOut, { type: 'done', facts: { eventId: 'e1' } }])
  expect(await stage.live(id)).toEqual([])
  const { rows } = await stage.database.owner.query(
    `select count(*)::int as rows, count(distinct finished_at)::int as instants from outbox_history
     where aggregate_id = $1 and outcome = 'succeeded'`,
    [id],
  )
  expect(rows).toEqual([{ rows: 2, instants: 1 }])
})

test('absent within the grace proves nothing: it is asked again when the grace is over', async () => {
  const { id, world, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'absent' }))
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([
    { state: 'outcome_unknown' },
    { state: 'scheduled', attempts: 0, due_in_s: GRACE_MS / 1_000 },
  ])
  expect(world.performed).toBe(1)
})

test('absent after the grace runs the action again, under the same identity', async () => {
  const { id, told, world, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'absent' }))
  const [before] = await stage.live(id)
  await engine.drain()
  await stage.database.advanceClock(GRACE_MS + 1_000)
  await engine.drain()
  expect(world.performed).toBe(2)
  expect(told.map(({ type }) => type)).toEqual(['unknown', 'retrying', 'done'])
  const { rows } = await stage.database.owner.query(
    `select id, identity from outbox_history where aggregate_id = $1 and action not like '%#reconcile'`,
    [id],
  )
  expect(rows).toEqual([{ id: before?.id, identity: expect.stringContaining(`${id}:1`) as string }])
})

test('an effect that shows up within the grace is found then, and nothing is made twice', async () => {
  const { id, world, engine } = await lostAnswer(
    inTurn<Reconciled<unknown>>({ type: 'absent' }, { type: 'found', facts: 'late' }),
  )
  await engine.drain()
  await stage.database.advanceClock(GRACE_MS + 1_000)
  await engine.drain()
  expect(world.performed).toBe(1)
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded'])
})

test('proved absent with no attempts left is a death that is not uncertain', async () => {
  const { id, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'absent' }), { attemptsMax: 1 })
  await engine.drain()
  await stage.database.advanceClock(GRACE_MS + 1_000)
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([
    { class: 'transient', code: 'proved_absent', checkpoint: 'unknown', uncertain: false },
  ])
})

test('several, or changed, is a death that only a person can mend', async () => {
  const { id, told, engine } = await lostAnswer(
    inTurn<Reconciled<unknown>>({ type: 'conflicting', code: 'found_twice' }),
  )
  await engine.drain()
  expect(told.at(-1)).toEqual({ type: 'dead', class: 'uncertain', code: 'found_twice', owner: 'operations' })
  expect(await stage.dead(id)).toMatchObject([
    { code: 'found_twice', checkpoint: 'unknown', uncertain: true },
  ])
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a question that never gets an answer is exhausted, and so is its target, in one step', async () => {
  const { id, told, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'retry', code: 'busy' }))
  await engine.drain()
  await stage.database.advanceClock(HOUR)
  await engine.drain()
  expect(told.at(-1)).toMatchObject({ type: 'dead', class: 'uncertain', code: 'reconcile_exhausted' })
  expect(await stage.live(id)).toEqual([])
  expect(await stage.ended(id)).toEqual(['1:superseded:exhausted'])
})

test.each([
  ['load', { load: () => Promise.reject(new Error('the domain is confused')) }],
  ['ask', { ask: () => Promise.reject(new Error('the adapter is confused')) }],
])('a question whose %s throws is exhausted like one that gets no answer', async (_step, broken) => {
  const action = askable()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([
    handleAskable(action, { perform: inTurn(timedOut), ask: inTurn({ type: 'absent' }), ...broken }),
  ])
  for (let round = 0; round < 3; round++) {
    await engine.drain()
    await stage.database.advanceClock(HOUR)
  }
  expect(await stage.dead(id)).toMatchObject([{ class: 'uncertain', code: 'reconcile_exhausted' }])
})

test('a throttled question costs no attempt and rests its account', async () => {
  const account = 'account of a throttled question'
  const { id, engine } = await lostAnswer(
    inTurn<Reconciled<unknown>>(
      { type: 'throttled', code: 'rate_limited', afterMs: HOUR },
      { type: 'found', facts: 1 },
    ),
    {},
    account,
  )
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([{}, { attempts: 0, due_in_s: 3_600 }])
  await stage.database.advanceClock(HOUR)
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded'])
})

test('a question that is throttled for ever ends by its age, uncertain', async () => {
  const { id, engine } = await lostAnswer(
    inTurn<Reconciled<unknown>>({ type: 'throttled', code: 'rate_limited', afterMs: 24 * HOUR }),
  )
  for (let days = 0; days < 9; days++) {
    await engine.drain()
    await stage.database.advanceClock(24 * HOUR)
  }
  expect(await stage.dead(id)).toMatchObject([{ class: 'uncertain', code: 'throttled_too_long' }])
  expect(await stage.live(id)).toEqual([])
})

test('a question whose target has gone ends alone', async () => {
  const { id, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'found', facts: 1 }))
  await stage.database.owner.query(
    `update outbox set fence = fence + 1 where aggregate_id = $1 and target_id is null`,
    [id],
  )
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:superseded:target_moved_on'])
  expect(await stage.states(id)).toEqual(['1:outcome_unknown'])
})

test.each([
  ['question', 'target_id is not null'],
  ['target', 'target_id is null'],
])('an answer whose %s moved on while it was sought changes neither', async (_which, moved) => {
  const asking = gate()
  const { id, told, engine, events } = await lostAnswer(() =>
    asking.pass().then(() => ({ type: 'found', facts: 'too late' })),
  )
  const tick = engine.tick()
  await asking.arrived
  await stage.database.owner.query(
    `update outbox set fence = fence + 1 where aggregate_id = $1 and ${moved}`,
    [id],
  )
  asking.open()
  await tick
  expect(events.at(-1)).toMatchObject({ type: 'stale', step: 'settle' })
  expect(await stage.states(id)).toEqual(['1:outcome_unknown', '1:leased'])
  expect(await stage.thing(id)).toEqual({ state: 'unknown', changes: 1 })
  expect(told).toHaveLength(2)
})

test('a lost lease asks the question again, because it only reads', async () => {
  const { id, engine } = await lostAnswer(inTurn<Reconciled<unknown>>({ type: 'found', facts: 1 }))
  await stage.database.owner.query(
    `update outbox set state = 'leased', fence = 1, claims = 1, started_at = now(), attempts = 1,
       lease_until = app_now() - interval '1 second' where aggregate_id = $1 and target_id is not null`,
    [id],
  )
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded'])
})

test('an unknown row can be unknown again, and each question is about its own time', async () => {
  const action = askable({ attemptsMax: 5 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: inTurn<Outcome<unknown>>(timedOut, timedOut, done(undefined)),
      ask: inTurn({ type: 'absent' }),
    }),
  ])
  for (let round = 0; round < 5; round++) {
    await engine.drain()
    await stage.database.advanceClock(GRACE_MS + MINUTE)
  }
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded', '1:succeeded'])
})

test('the longest names and identities leave room for the question about them', async () => {
  const { id, tenant } = await stage.enqueue(() => [])
  const action = { ...askable(), name: `test.${'n'.repeat(95)}` }
  await stage.enqueue(
    () => [{ ...action.request({ id, n: 1 }), action: action.name, identity: 'i'.repeat(300) }],
    { tenant, id },
  )
  const { engine } = stage.engine([
    handleAskable(action, { perform: inTurn(timedOut), ask: inTurn({ type: 'found', facts: 1 }) }),
  ])
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded'])
})
