import {
  askable,
  changeThing,
  giveUp,
  handle,
  handleAskable,
  HOUR,
  inTurn,
  MINUTE,
  requestsOf,
  resend,
  safe,
  useStage,
} from './stage.testing.ts'
import { done, payloadHandlerOf, type Outcome, type Settled } from './index.ts'
import type { Tx } from '@aftercommit/platform/db'

const stage = useStage()

/** Runs one row whose handler answers so, and tells what its domain was told. */
const runOnce = async (
  action: ReturnType<typeof safe>,
  ...answers: [Outcome<unknown>, ...Outcome<unknown>[]]
) => {
  const told: Settled<unknown>[] = []
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine, events } = stage.engine([
    handle(action, {
      perform: inTurn(...answers),
      settle: async (tx, { payload }, outcome) => {
        told.push(outcome)
        await changeThing(tx, payload.id, outcome.type)
        return []
      },
    }),
  ])
  await engine.drain()
  return { id, told, engine, events }
}

test('done ends a row as succeeded, with its facts told to the domain', async () => {
  const { id, told } = await runOnce(safe(), done({ eventId: 'e1' }))
  expect(told).toEqual([{ type: 'done', facts: { eventId: 'e1' } }])
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
  expect(await stage.attempts(id)).toEqual(['succeeded'])
})

test('suppressed and obsolete end a row with their reason', async () => {
  const suppressed = await runOnce(safe(), { type: 'suppressed', reason: 'consent_denied' })
  const obsolete = await runOnce(safe(), { type: 'obsolete', reason: 'round_over' })
  expect(await stage.ended(suppressed.id)).toEqual(['1:suppressed:consent_denied'])
  expect(await stage.ended(obsolete.id)).toEqual(['1:superseded:round_over'])
})

test('what prepare finds out ends the row before any contact', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2, 3]))
  let calls = 0
  const { engine } = stage.engine([
    handle(ping, {
      prepare: (_tx, { payload }) => {
        if (payload.n === 1) return Promise.resolve({ type: 'suppressed', reason: 'consent_denied' })
        if (payload.n === 2) return Promise.resolve({ type: 'obsolete', reason: 'moved_on' })
        return Promise.resolve({
          type: 'dead',
          class: 'permission',
          code: 'grant_revoked',
          owner: 'calendar_owner',
        })
      },
      perform: () => Promise.resolve(done(++calls)),
    }),
  ])
  await engine.drain()
  expect(calls).toBe(0)
  expect([...(await stage.ended(id))].sort()).toEqual([
    '1:suppressed:consent_denied',
    '2:superseded:moved_on',
  ])
  expect(await stage.dead(id)).toMatchObject([
    {
      class: 'permission',
      code: 'grant_revoked',
      owner: 'calendar_owner',
      checkpoint: 'claimed',
      attempts: 0,
    },
  ])
})

test('a handler that reads nothing first performs on the row as it was written, and is started and settled like any other', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [7]))
  const seen: unknown[] = []
  const { engine } = stage.engine([
    payloadHandlerOf<Tx>()(ping, {
      perform: async ({ payload, attempts, startedBefore }) => {
        const [row] = await stage.live(id)
        seen.push({ n: payload.n, attempts, startedBefore, counted: row?.attempts })
        return attempts === 0 ? { type: 'retry', code: 'busy' } : done(undefined)
      },
    }),
  ])
  await engine.drain()
  await stage.database.advanceClock(MINUTE)
  await engine.drain()
  expect(seen).toEqual([
    { n: 7, attempts: 0, startedBefore: false, counted: 1 },
    { n: 7, attempts: 1, startedBefore: true, counted: 2 },
  ])
  expect(await stage.attempts(id)).toEqual(['retrying:busy', 'succeeded'])
})

test('a retry waits for its backoff and then succeeds', async () => {
  const { id, told, engine } = await runOnce(safe(), { type: 'retry', code: 'busy' }, done(undefined))
  expect(await stage.live(id)).toMatchObject([{ state: 'scheduled', attempts: 1, solo: false, due_in_s: 5 }])
  await stage.database.advanceClock(5_000)
  await engine.drain()
  expect(told.map(({ type }) => type)).toEqual(['retrying', 'done'])
  expect(await stage.attempts(id)).toEqual(['retrying:busy', 'succeeded'])
})

test('a retry honours what the provider asked for when that is longer than the backoff', async () => {
  const { id } = await runOnce(safe(), { type: 'retry', code: 'busy', afterMs: 90_000 })
  expect(await stage.live(id)).toMatchObject([{ state: 'scheduled', due_in_s: 90 }])
})

test('the last attempt’s retry is a death, and its domain hears of it as one', async () => {
  const { id, told, engine } = await runOnce(safe({ attemptsMax: 2 }), { type: 'retry', code: 'busy' })
  await stage.database.advanceClock(MINUTE)
  await engine.drain()
  expect(told).toEqual([
    { type: 'retrying', code: 'busy', delayMs: 5_000 },
    { type: 'dead', class: 'transient', code: 'busy', owner: 'operations' },
  ])
  expect(await stage.thing(id)).toEqual({ state: 'dead', changes: 2 })
  const [letter] = await stage.dead(id)
  expect(letter).toMatchObject({
    class: 'transient',
    code: 'busy',
    attempts: 2,
    checkpoint: 'started',
    uncertain: false,
  })
  expect(letter?.history.map(({ outcome }) => outcome)).toEqual(['retrying', 'dead'])
})

test('a retry that would outlast the row’s time is a death, however many attempts are left', async () => {
  const { id } = await runOnce(safe({ elapsedMaxMs: HOUR }), {
    type: 'retry',
    code: 'busy',
    afterMs: 2 * HOUR,
  })
  expect(await stage.dead(id)).toMatchObject([{ code: 'busy', attempts: 1 }])
})

test('throttled costs no attempt and no time, and rests every row of the account', async () => {
  const action = safe({ attemptsMax: 1, elapsedMaxMs: HOUR })
  const account = `account of ${action.name}`
  const throttled: Outcome<unknown> = { type: 'throttled', code: 'rate_limited', afterMs: 2 * HOUR }
  const { id, tenant } = await stage.enqueue(requestsOf(action, [1], { account }))
  const beside = await stage.enqueue(requestsOf(safe({ lane: 'never_run' }), [7], { account }))
  const other = await stage.enqueue(requestsOf(action, [1], { account: 'another' }))
  let asked = 0
  const { engine } = stage.engine([
    handle(action, {
      perform: ({ id: of }) => Promise.resolve(of === id && ++asked < 4 ? throttled : done(undefined)),
    }),
  ])
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([{ state: 'paused', attempts: 0, due_in_s: 7_200 }])
  expect(await stage.states(beside.id)).toEqual(['7:paused'])
  expect(await stage.ended(other.id)).toEqual(['1:succeeded'])
  await stage.enqueue(requestsOf(action, [2], { account }), { tenant, id })
  expect(await stage.states(id)).toEqual(['1:paused', '2:paused'])
  for (let rest = 0; rest < 4; rest++) {
    await stage.database.advanceClock(2 * HOUR + MINUTE)
    await engine.drain()
  }
  expect(await stage.live(id)).toEqual([])
  expect(await stage.dead(id)).toEqual([])
})

test('a row that falls due while its account rests goes on resting', async () => {
  const action = safe()
  const account = `account of ${action.name}`
  const { id } = await stage.enqueue(requestsOf(action, [1], { account }))
  const { engine } = stage.engine([
    handle(action, { perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy' }) }),
  ])
  await engine.drain()
  await stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')`,
    [account],
  )
  await stage.database.advanceClock(MINUTE)
  expect(await engine.drain()).toEqual({ rescued: 0, claimed: 0 })
  expect(await stage.live(id)).toMatchObject([{ state: 'paused', attempts: 1, due_in_s: 3_540 }])
})

test('a throttled row is claimed any number of times without being taken for one that kills its workers', async () => {
  const action = safe({ attemptsMax: 1 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  let calls = 0
  const { engine } = stage.engine([
    handle(action, {
      perform: () =>
        Promise.resolve(
          ++calls < 60 ? { type: 'throttled', code: 'slow_down', afterMs: 10_000 } : done(undefined),
        ),
    }),
  ])
  while (calls < 60) {
    await engine.drain()
    await stage.database.advanceClock(10_000)
  }
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a row that is throttled for ever is dead once it is too old, and its domain is told', async () => {
  const action = safe({ ageMaxMs: 3 * HOUR + MINUTE, elapsedMaxMs: MINUTE })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const told: string[] = []
  const { engine } = stage.engine([
    handle(action, {
      perform: () => Promise.resolve({ type: 'throttled', code: 'rate_limited', afterMs: HOUR }),
      settle: (_tx, _envelope, outcome) => {
        told.push(outcome.type)
        return Promise.resolve([])
      },
    }),
  ])
  for (let hours = 0; hours < 6; hours++) {
    await engine.drain()
    await stage.database.advanceClock(HOUR)
  }
  expect(told).toEqual(['throttled', 'throttled', 'throttled', 'dead'])
  expect(await stage.dead(id)).toMatchObject([
    { class: 'transient', code: 'throttled_too_long', owner: 'operations' },
  ])
})

test('dead is dead at once, and names who repairs it', async () => {
  const named = await runOnce(safe(), {
    type: 'dead',
    class: 'validation',
    code: 'bad_address',
    owner: 'organizer',
  })
  const unnamed = await runOnce(safe(), { type: 'dead', class: 'terminal', code: 'gone' })
  expect(await stage.dead(named.id)).toMatchObject([
    { class: 'validation', owner: 'organizer', checkpoint: 'started' },
  ])
  expect(await stage.dead(unnamed.id)).toMatchObject([{ class: 'terminal', owner: 'operations' }])
  expect(named.events).toContainEqual({
    type: 'settled',
    action: expect.any(String) as string,
    outcomeType: 'dead',
    code: 'bad_address',
    failureClass: 'validation',
    attempts: 0,
  })
})

test('unknown rests the row and writes the question about it in the same statement', async () => {
  const action = askable()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const correlation = { operationId: 'o-1', sentAt: 5 }
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: inTurn<Outcome<unknown>>({ type: 'unknown', code: 'timed_out', correlation }),
      ask: inTurn({ type: 'absent' }),
    }),
  ])
  await engine.tick()
  const [target, question] = await stage.live(id)
  expect(target).toMatchObject({ state: 'outcome_unknown', attempts: 1, uncertain: true, correlation })
  expect(question).toMatchObject({ action: `${action.name}#reconcile`, state: 'ready' })
  const { rows } = await stage.database.owner.query(
    `select q.target_id = t.id as asks, q.target_fence = t.fence as fenced, q.ordering_key,
       (select count(distinct xmin::text)::int from outbox where id in (q.id, t.id)) as transactions
     from outbox q join outbox t on t.id = q.target_id where q.aggregate_id = $1`,
    [id],
  )
  expect(rows).toEqual([{ asks: true, fenced: true, ordering_key: null, transactions: 1 }])
})

test('unknown is a retry where repeating is safe or the lesser evil, and a death where it is the greater', async () => {
  const unknown: Outcome<unknown> = { type: 'unknown', code: 'timed_out', correlation: {} }
  const actions = { safe: safe(), resend: resend(), giveUp: giveUp() }
  const ids: string[] = []
  for (const action of Object.values(actions)) {
    const { id } = await stage.enqueue(requestsOf(action, [1]))
    ids.push(id)
    await stage.engine([handle(action, { perform: inTurn(unknown) })]).engine.tick()
  }
  const [again = '', sent = '', given = ''] = ids
  expect(await stage.live(again)).toMatchObject([{ state: 'scheduled', attempts: 1, uncertain: true }])
  expect(await stage.live(sent)).toMatchObject([{ state: 'scheduled', attempts: 1, uncertain: true }])
  expect(await stage.dead(given)).toMatchObject([{ class: 'uncertain', code: 'timed_out', uncertain: true }])
})

test('what a provider was asked is kept with the attempt', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const call = {
    provider: 'google',
    operation: 'insert',
    durationMs: 5,
    status: 200,
    outcome: 'held',
    requestId: 'r',
  }
  const { engine } = stage.engine([
    handle(ping, {
      perform: (_plan, attempt) => {
        attempt.record({ ...call, startedAt: attempt.now })
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  await engine.drain()
  const { rows } = await stage.database.owner.query<{ calls: unknown }>(
    'select calls from outbox_attempt a join outbox_history h on h.id = a.outbox_id where h.aggregate_id = $1',
    [id],
  )
  expect(rows[0]?.calls).toMatchObject([call])
})
