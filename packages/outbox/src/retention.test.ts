import { randomUUID } from 'node:crypto'
import { done, type Outcome } from './index.ts'
import { replayDeadLetter } from './operate.ts'
import { retainOnce } from './retention.ts'
import { deleteEndedRows, ensurePartitions, type Retention } from './sql.ts'
import { askable, handle, handleAskable, HOUR, inTurn, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()
const DAY = 24 * HOUR

const outcomes: Readonly<Record<number, Outcome<unknown>>> = {
  1: done(undefined),
  2: { type: 'suppressed', reason: 'no_consent' },
  3: { type: 'obsolete', reason: 'moved_on' },
  4: { type: 'dead', class: 'terminal', code: 'no' },
}

/** A thing with one row of each end, the fourth of them dead. */
const ended = async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3, 4]))
  const { engine } = stage.engine([
    handle(action, { perform: ({ n }) => Promise.resolve(outcomes[n] ?? done(undefined)) }),
  ])
  await engine.drain()
  return { ...at, action }
}

const retain = async (retention: Retention): Promise<void> => {
  while (await retainOnce({ db: stage.database.dispatcher }, retention));
}

/** Moves what has ended so far into the past, as far as partitions are concerned: to where it would lie by then. */
const age = async (days: number): Promise<void> => {
  await stage.database.advanceClock(days * DAY)
  await ensurePartitions(stage.database.dispatcher, 2)
}

const partitions = async (): Promise<readonly string[]> => {
  const { rows } = await stage.database.owner.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('outbox_history'::regclass, 'outbox_attempt'::regclass) order by 1`,
  )
  return rows.map(({ name }) => name)
}

test('what has ended is kept as long as its state is, and its attempts with it', async () => {
  const at = await ended()
  await age(20)
  await retain({ succeededDays: 30, suppressedDays: 10 })
  expect(new Set(await stage.ended(at.id))).toEqual(new Set(['1:succeeded', '3:superseded:moved_on']))
  expect(await stage.attempts(at.id)).toEqual(['succeeded', 'superseded:moved_on', 'dead:no'])
  await age(20)
  await retain({ succeededDays: 30, suppressedDays: 10 })
  expect(await stage.ended(at.id)).toEqual(['3:superseded:moved_on'])
  expect(await stage.attempts(at.id)).toEqual(['superseded:moved_on', 'dead:no'])
})

test('without days, nothing is ever deleted', async () => {
  const at = await ended()
  await age(1_000)
  await retain({})
  expect(await stage.ended(at.id)).toHaveLength(3)
})

test('a step is bounded, and the oldest go first', async () => {
  const action = safe()
  const old = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine } = stage.engine([handle(action)])
  await engine.drain()
  await age(1)
  const young = await stage.enqueue(requestsOf(action, [1, 2]))
  await engine.drain()
  await stage.database.owner.query('delete from outbox_history where not aggregate_id = any($1)', [
    [old.id, young.id],
  ])
  await age(10)
  expect(await deleteEndedRows(stage.database.dispatcher, { succeededDays: 5 }, 3)).toBe(3)
  expect(await stage.ended(old.id)).toEqual([])
  expect(await stage.ended(young.id)).toHaveLength(1)
})

test('an identity outlives its row: what was done once is not done again after it is forgotten', async () => {
  const at = await ended()
  await age(40)
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  expect(await stage.ended(at.id)).toEqual([])
  const again = await stage.enqueue(requestsOf(at.action, [1]), at)
  expect(again.enqueued).toMatchObject([{ fresh: false }])
  expect(await stage.live(at.id)).toEqual([])
})

test('months that are old in every respect are dropped whole, and new ones are there before they begin', async () => {
  await ended()
  const before = await partitions()
  await age(200)
  expect((await partitions()).length).toBe(before.length + 6)
  await retain({ succeededDays: 30, suppressedDays: 90, supersededDays: 30 })
  const after = await partitions()
  expect(after.filter((name) => before.includes(name)).sort()).toEqual([
    'outbox_attempt_default',
    'outbox_history_default',
  ])
})

test('a month is not dropped as long as one state of it is kept', async () => {
  await ended()
  await age(200)
  const before = await partitions()
  await retain({ succeededDays: 30, suppressedDays: 30 })
  await retain({ succeededDays: 30, suppressedDays: 30, supersededDays: 300 })
  expect(await partitions()).toEqual(before)
})

test('dead letters and their history stay for ever, and can be replayed after their month is gone', async () => {
  const at = await ended()
  await age(400)
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  const [letter] = await stage.dead(at.id)
  expect(letter).toMatchObject({ code: 'no', history: [{ outcome: 'dead' }] })
  expect(await stage.attempts(at.id)).toEqual(['dead:no'])
  await stage.database.operator.transact(at.tenant, (tx) =>
    replayDeadLetter(tx.sql, { id: letter?.id ?? '', by: 'o', reason: 'again' }),
  )
  await stage.engine([handle(at.action, { perform: inTurn(outcomes[4] ?? done(1)) })]).engine.drain()
  expect((await stage.dead(at.id))[0]?.history).toHaveLength(2)
})

test('what is live or unknown keeps its attempts, however old its month is', async () => {
  const patient = safe({ elapsedMaxMs: 1_000 * DAY, backoff: { baseMs: 400 * DAY, maxMs: 400 * DAY } })
  const lost = askable()
  const live = await stage.enqueue(requestsOf(patient, [1]))
  const unknown = await stage.enqueue(requestsOf(lost, [1]))
  const { engine } = stage.engine([
    handle(patient, {
      perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy', afterMs: 400 * DAY }),
    }),
    handleAskable(lost, {
      perform: inTurn<Outcome<unknown>>({ type: 'unknown', code: 'lost', correlation: {} }),
      ask: inTurn({ type: 'absent' }),
    }),
  ])
  await engine.tick()
  await age(300)
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  expect(await stage.attempts(live.id)).toEqual(['retrying:busy'])
  expect((await stage.attempts(unknown.id))[0]).toBe('unknown:lost')
  expect(await stage.states(unknown.id)).toEqual(['1:outcome_unknown', '1:ready'])
})

test('attempts that outlived their month go with their row', async () => {
  const patient = safe({ elapsedMaxMs: 1_000 * DAY })
  const live = await stage.enqueue(requestsOf(patient, [1]))
  const { engine } = stage.engine([
    handle(patient, {
      perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy', afterMs: 100 * DAY }, done(1)),
    }),
  ])
  await engine.drain()
  await age(70)
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  expect(await stage.attempts(live.id)).toEqual(['retrying:busy'])
  await age(40)
  await engine.drain()
  expect(await stage.attempts(live.id)).toEqual(['retrying:busy', 'succeeded'])
  await age(100)
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  expect(await stage.attempts(live.id)).toEqual([])
})

test('a month that is being written or read is left for another time', async () => {
  const at = await ended()
  await age(100)
  const before = await partitions()
  const client = await stage.database.owner.connect()
  await client.query('begin; select from outbox_history limit 1')
  const everything = { succeededDays: 1, suppressedDays: 1, supersededDays: 1 }
  expect(await retainOnce({ db: stage.database.dispatcher }, everything)).toBe(false)
  expect(await partitions()).toEqual(before)
  await client.query('rollback')
  client.release()
  await retain({ succeededDays: 1, suppressedDays: 1, supersededDays: 1 })
  expect((await partitions()).length).toBeLessThan(before.length)
  expect(await stage.ended(at.id)).toEqual([])
})

test('a dispatcher that is told to forgets by itself', async () => {
  const at = await ended()
  await age(40)
  const { engine } = stage.engine([handle(safe())], {
    retention: { succeededDays: 1, suppressedDays: 1, supersededDays: 1 },
    replicaId: randomUUID(),
  })
  await engine.start()
  while ((await stage.ended(at.id)).length > 0) await new Promise((resolve) => setImmediate(resolve))
  await engine.stop(HOUR)
})
