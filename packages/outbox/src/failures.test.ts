import { gate } from '@aftercommit/testing'
import { batcher } from './batcher.ts'
import { done, go, type Outcome, type Settled } from './index.ts'
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
  safe,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

test('a payload that does not parse is a dead letter, and the rows beside it are done', async () => {
  const action = safe()
  const { id } = await stage.enqueue(requestsOf(action, [1, 2, 3]))
  await stage.database.owner.query(
    `update outbox set payload = jsonb_build_object('id', 'nobody', 'n', 2) where aggregate_id = $1 and payload->>'n' = '2'`,
    [id],
  )
  const { engine, events } = stage.engine([handle(action)])
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([
    { n: 2, class: 'validation', code: 'payload_unreadable', attempts: 0 },
  ])
  expect([...(await stage.ended(id))].sort()).toEqual(['1:succeeded', '3:succeeded'])
  expect(JSON.stringify(events)).not.toContain('nobody')
})

test('an unknown row whose payload does not parse dies with its question, as one whose effect may exist', async () => {
  const action = askable()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const unknown: Outcome<unknown> = { type: 'unknown', code: 'timed_out', correlation: {} }
  const { engine } = stage.engine([
    handleAskable(action, { perform: inTurn(unknown), ask: inTurn({ type: 'absent' }) }),
  ])
  await engine.tick()
  await stage.database.owner.query(`update outbox set payload = '{"n": 1}' where aggregate_id = $1`, [id])
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([
    { class: 'uncertain', code: 'payload_unreadable', uncertain: true },
  ])
  expect(await stage.live(id)).toEqual([])
})

test('a prepare that throws is retried with backoff, and dies when its attempts are spent', async () => {
  const action = safe({ attemptsMax: 3 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const told: Settled<unknown>[] = []
  const { engine, events } = stage.engine([
    handle(action, {
      prepare: () => Promise.reject(new Error('the domain is confused')),
      settle: (_tx, _envelope, outcome) => {
        told.push(outcome)
        return Promise.resolve([])
      },
    }),
  ])
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([
    { state: 'scheduled', attempts: 1, due_in_s: 5, uncertain: false },
  ])
  for (let round = 0; round < 3; round++) {
    await stage.database.advanceClock(MINUTE)
    await engine.drain()
  }
  expect(told.map(({ type }) => type)).toEqual(['retrying', 'retrying', 'dead'])
  expect(await stage.dead(id)).toMatchObject([
    { class: 'transient', code: 'prepare_failed', checkpoint: 'claimed' },
  ])
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', where: 'prepare' }))
})

test('a prepare that waits for something waits no longer than its row may', async () => {
  const action = safe({ attemptsMax: 1_000, elapsedMaxMs: HOUR })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([handle(action, { prepare: inTurn({ type: 'retry', code: 'not_yet' }) })])
  for (let round = 0; round < 5; round++) {
    await engine.drain()
    await stage.database.advanceClock(HOUR / 3)
  }
  expect(await stage.dead(id)).toMatchObject([{ class: 'transient', code: 'not_yet' }])
})

test('a perform that throws may have had its effect, and is treated so', async () => {
  const action = giveUp()
  const { id } = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine, events } = stage.engine([
    handle(action, {
      perform: ({ n }) =>
        n === 1 ? Promise.reject(new Error('secret of the adapter')) : Promise.resolve(done(1)),
    }),
  ])
  await engine.drain()
  const [letter] = await stage.dead(id)
  expect(letter).toMatchObject({ n: 1, class: 'uncertain', code: 'handler_threw' })
  expect(JSON.stringify(letter)).not.toContain('secret')
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', where: 'perform' }))
  expect(await stage.ended(id)).toEqual(['2:succeeded'])
})

test('a perform that throws before it returns a promise is no different', async () => {
  const action = giveUp()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([
    handle(action, {
      perform: () => {
        throw new Error('at once')
      },
    }),
  ])
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([{ code: 'handler_threw' }])
})

test('a settle that throws leaves nothing half done, and its outcome is tried again before the lease ends', async () => {
  const action = safe()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  let performed = 0
  let settles = 0
  const { engine, events } = stage.engine([
    handle(action, {
      perform: () => Promise.resolve(done(++performed)),
      settle: async (tx, { payload }) => {
        await changeThing(tx, payload.id, 'settled')
        if (++settles === 1) throw new Error('not yet')
        return []
      },
    }),
  ])
  await engine.drain()
  expect({ performed, settles }).toEqual({ performed: 1, settles: 2 })
  expect(await stage.thing(id)).toEqual({ state: 'settled', changes: 1 })
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', where: 'settle' }))
})

test.each([
  ['has no room left', '53100'],
  ['has no connection left', '53300'],
  ['is a standby', '25006'],
  ['cuts what takes too long', '57014'],
])('an outcome is kept for as long as its lease while the database %s', async (_what, code) => {
  const action = giveUp()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  let settles = 0
  const { engine } = stage.engine([
    handle(action, {
      settle: () =>
        ++settles < 5 ? Promise.reject(Object.assign(new Error('not now'), { code })) : Promise.resolve([]),
    }),
  ])
  await engine.tick()
  expect(settles).toBe(5)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a settle whose following rows contradict ones already written rolls back as a whole', async () => {
  const action = safe({ leaseMs: 1_000 })
  const next = safe()
  const { id } = await stage.enqueue(requestsOf(next, [2]))
  await stage.enqueue(requestsOf(action, [1]), { tenant: await tenantOf(id), id })
  const { engine } = stage.engine([
    handle(action, {
      settle: async (tx, { payload }) => {
        await changeThing(tx, payload.id, 'settled')
        return [{ ...next.request({ id: payload.id, n: 2 }), payloadVersion: 7 }]
      },
    }),
  ])
  await engine.tick()
  expect(await stage.thing(id)).toEqual({ state: 'new', changes: 0 })
  expect(await stage.states(id)).toEqual(['2:ready', '1:leased'])
})

const tenantOf = async (id: string): Promise<string> => {
  const { rows } = await stage.database.owner.query<{ tenant_id: string }>(
    'select tenant_id from thing where thing_id = $1',
    [id],
  )
  return rows[0]?.tenant_id ?? ''
}

test('a handler is told when its lease nears its end, and its answer then still settles', async () => {
  const action = safe({ leaseMs: 300 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([
    handle(action, {
      perform: (_plan, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ type: 'retry', code: 'gave_up_in_time' })),
        ),
    }),
  ])
  await engine.tick()
  expect(await stage.attempts(id)).toEqual(['retrying:gave_up_in_time'])
})

test('a handler that heeds no signal loses its row’s outcome, and neither the lease nor the worker', async () => {
  const action = askable({ leaseMs: 300 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const late = gate()
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: () => late.pass().then(() => done('too late')),
      ask: inTurn({ type: 'absent' }),
    }),
  ])
  await engine.tick()
  late.open()
  const [row] = await stage.live(id)
  expect(row).toMatchObject({ state: 'outcome_unknown', uncertain: true })
  expect(await stage.attempts(id)).toEqual(['unknown:handler_overran'])
})

test('what prepare learned is what perform gets', async () => {
  const action = safe()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const seen: unknown[] = []
  const { engine } = stage.engine([
    handle(action, {
      prepare: async (tx, { payload, operationId, attempts }) => {
        const { rows } = await tx.sql.query<{ state: string }>(
          'select state from thing where thing_id = $1',
          [payload.id],
        )
        seen.push(rows[0]?.state, operationId.length, attempts)
        return go({ ...payload, n: 77 })
      },
      perform: ({ n }) => {
        seen.push(n)
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  await engine.drain()
  expect(seen).toEqual(['new', 36, 0, 77])
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

describe('a batch of calls', () => {
  test('goes in one statement when the calls come close together', async () => {
    const sizes: number[] = []
    const twice = batcher((items: readonly number[]) => {
      sizes.push(items.length)
      return Promise.resolve(items.map((item) => item * 2))
    }, 3)
    expect(await Promise.all([1, 2, 3, 4].map(twice))).toEqual([2, 4, 6, 8])
    expect(sizes).toEqual([3, 1])
  })

  test('that fails is tried one by one, so that one bad item rejects alone', async () => {
    const odd = batcher((items: readonly number[]) => {
      if (items.includes(2)) return Promise.reject(new Error('two'))
      return Promise.resolve(items)
    }, 10)
    const results = await Promise.allSettled([1, 2, 3].map(odd))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('that answers too few rejects the items left over', async () => {
    const short = batcher(() => Promise.resolve([1]), 10)
    const results = await Promise.allSettled([1, 2].map(short))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })
})
