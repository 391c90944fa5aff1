import { gate } from '@aftercommit/testing'
import type { EngineDb } from './engine.ts'
import type { Tx } from '@aftercommit/platform/db'
import { done, go, type Outcome } from './index.ts'
import {
  askable,
  giveUp,
  handle,
  handleAskable,
  HOUR,
  MINUTE,
  requestsOf,
  safe,
  upTo,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

/** A handler that tells when it runs and ends when it is let go. */
const held = () => {
  const at = gate()
  return { at, perform: () => at.pass().then((): Outcome<unknown> => done(undefined)) }
}

test('a committed row is picked up by its hint, long before any poll', async () => {
  const action = safe()
  const { at, perform } = held()
  const { engine } = stage.engine([handle(action, { perform })], { pollMs: HOUR })
  await engine.start()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  await at.arrived
  at.open()
  await engine.stop(MINUTE)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('with every hint lost, polling delivers', async () => {
  const action = safe()
  const { at, perform } = held()
  const deaf: EngineDb<Tx> = {
    ...stage.database.dispatcher,
    listen: () => Promise.reject(new Error('nobody may listen here')),
  }
  const { engine, events } = stage.engine([handle(action, { perform })], { db: deaf, pollMs: 20 })
  await engine.start()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  await at.arrived
  at.open()
  await engine.stop(MINUTE)
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', where: 'listen' }))
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a row that is due soon is run when it is due, without a hint', async () => {
  const action = safe()
  const { at, perform } = held()
  const { rows } = await stage.database.owner.query<{ at: Date }>(
    `select app_now() + interval '100 ms' as at`,
  )
  const notBefore = rows[0]?.at
  if (!notBefore) throw new Error('the database tells the time')
  const { id } = await stage.enqueue(requestsOf(action, [1], { notBefore }))
  const { engine } = stage.engine([handle(action, { perform })], { pollMs: HOUR })
  await engine.start()
  await at.arrived
  at.open()
  await engine.stop(MINUTE)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a listening connection that is killed is replaced by one, and by no more than one', async () => {
  const action = safe()
  const { at, perform } = held()
  const { engine, events } = stage.engine([handle(action, { perform })], { pollMs: HOUR })
  await engine.start()
  const before = await listeners()
  await stage.database.owner.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before])
  const after = await listenersBesides(before)
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  await at.arrived
  at.open()
  expect(after).toHaveLength(1)
  expect(await listeners()).toEqual(after)
  await engine.stop(MINUTE)
  expect(await listeners()).toEqual([])
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', where: 'listen' }))
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

const listeners = async (): Promise<readonly number[]> => {
  const { rows } = await stage.database.owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like '% listen'`,
  )
  return rows.map(({ pid }) => pid)
}

const listenersBesides = async (known: readonly number[]): Promise<readonly number[]> => {
  for (;;) {
    const now = (await listeners()).filter((pid) => !known.includes(pid))
    if (now.length > 0) return now
  }
}

test('a process that stops hands back what it has not started, at once and without an attempt spent', async () => {
  const action = safe()
  const preparing = gate()
  const { id } = await stage.enqueue(requestsOf(action, [1, 2]))
  let calls = 0
  const { engine, events } = stage.engine([
    handle(action, {
      prepare: async (_tx, { payload }) => {
        await preparing.pass()
        return go(payload)
      },
      perform: () => Promise.resolve(done(++calls)),
    }),
  ])
  await engine.start()
  await preparing.arrived
  const stopped = engine.stop(MINUTE)
  preparing.open()
  await stopped
  expect(calls).toBe(0)
  // A claim that was under way when the stop began hands its rows back once more.
  expect(events.filter(({ type }) => type === 'handed_back').length).toBeGreaterThanOrEqual(2)
  expect(await stage.live(id)).toMatchObject([
    { state: 'ready', attempts: 0, solo: false },
    { state: 'ready', attempts: 0, solo: false },
  ])
  await stage.engine([handle(action)]).engine.drain()
  expect([...(await stage.ended(id))].sort()).toEqual(['1:succeeded', '2:succeeded'])
})

test('a process that stops lets a running call end within its grace, and claims nothing meanwhile', async () => {
  const action = safe()
  const { at, perform } = held()
  const first = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([handle(action, { perform })], { pollMs: 10 })
  await engine.start()
  await at.arrived
  const stopped = engine.stop(MINUTE)
  const later = await stage.enqueue(requestsOf(action, [1]))
  at.open()
  await stopped
  expect(await stage.ended(first.id)).toEqual(['1:succeeded'])
  expect(await stage.live(later.id)).toMatchObject([{ state: 'ready', claims: 0 }])
})

/** A call that ends, when it is interrupted, as the action's adapter would end it. */
const interrupted =
  (at: { pass(): Promise<void> }, outcome: Outcome<unknown>) =>
  (_plan: unknown, attempt: { signal: AbortSignal }) => {
    const aborted = new Promise<Outcome<unknown>>((resolve) =>
      attempt.signal.addEventListener('abort', () => resolve(outcome)),
    )
    void at.pass()
    return aborted
  }

test.each([
  ['a call that is safe to repeat', safe, { type: 'unknown', code: 'aborted', correlation: {} }, true],
  ['a call that was not made', giveUp, { type: 'retry', code: 'aborted' }, false],
] as const)(
  '%s and is interrupted is handed back, and is not counted',
  async (_what, make, outcome, uncertain) => {
    const action = make()
    const at = gate()
    const { id } = await stage.enqueue(requestsOf(action, [1]))
    const { engine } = stage.engine([handle(action, { perform: interrupted(at, outcome) })])
    await engine.start()
    await at.arrived
    await engine.stop(1)
    expect(await stage.live(id)).toMatchObject([{ state: 'ready', attempts: 0, uncertain }])
    // A claim that was under way when the process began to stop may take the row once more, to hand it back as well.
    expect(new Set(await stage.attempts(id))).toEqual(new Set(['handed_back:shutdown']))
  },
)

test('a call that may have had its effect when it is interrupted is asked about', async () => {
  const action = askable()
  const at = gate()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: interrupted(at, { type: 'unknown', code: 'aborted', correlation: {} }),
      ask: () => Promise.resolve({ type: 'absent' }),
    }),
  ])
  await engine.start()
  await at.arrived
  await engine.stop(1)
  expect(await stage.states(id)).toEqual(['1:outcome_unknown', '1:ready'])
})

test('a replica says that it lives and what it knows, and is remembered when it has stopped', async () => {
  const action = askable()
  const { engine } = stage.engine([handleAskable(action, { ask: () => Promise.resolve({ type: 'absent' }) })])
  const known = async () =>
    (
      await stage.database.owner.query<{ actions: string[] }>(
        'select actions from outbox_replica where replica_id = $1',
        [engine.replicaId],
      )
    ).rows
  await engine.start()
  let rows = await known()
  while (rows.length === 0) rows = await known()
  expect(rows).toEqual([{ actions: [action.name, `${action.name}#reconcile`] }])
  await engine.stop(MINUTE)
  // What it knew counts until the grace for unknown actions is over.
  expect(await known()).toHaveLength(1)
})

test('rows whose worker died are rescued by a running engine', async () => {
  const action = safe({ leaseMs: 50 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  await stage.untilDeath((mortal) => [
    handle(action, {
      perform: () => {
        mortal.die()
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  const { at, perform } = held()
  const { engine } = stage.engine([handle({ ...action, leaseMs: MINUTE }, { perform })], { pollMs: 20 })
  await engine.start()
  await at.arrived
  at.open()
  await engine.stop(MINUTE)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('every connection may be killed while rows run, and every row still ends once', async () => {
  const action = safe({ attemptsMax: 50, backoff: { baseMs: 1, maxMs: 5 } })
  const { id } = await stage.enqueue(requestsOf(action, upTo(60)))
  const half = gate()
  let calls = 0
  const { engine } = stage.engine(
    [
      handle(action, {
        perform: async () => {
          if (++calls === 30) await half.pass()
          return done(undefined)
        },
      }),
    ],
    { pollMs: 20 },
  )
  await engine.start()
  await half.arrived
  await stage.database.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'test dispatcher%'`,
  )
  half.open()
  while ((await stage.live(id)).length > 0) await stage.database.advanceClock(10_000)
  await engine.stop(MINUTE)
  const ended = await stage.ended(id)
  expect(ended).toHaveLength(60)
  expect(new Set(ended).size).toBe(60)
})

test('partitions that lie in the default one do not keep a dispatcher from starting', async () => {
  const { owner } = stage.database
  await stage.database.advanceClock(200 * 24 * HOUR)
  const action = safe()
  await stage.enqueue(requestsOf(action, [1]))
  await stage.engine([handle(action)]).engine.drain()
  const { rows } = await owner.query<{ made: number }>('select outbox_ensure_partitions(2) as made')
  expect(rows).toEqual([{ made: 4 }])
})
