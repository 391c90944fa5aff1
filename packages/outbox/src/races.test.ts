/**
 * Each race is driven to the point where one side waits for the other, seen in pg_stat_activity, and then let go. The
 * storm at the end leaves the order to chance.
 */
import { enqueue, supersede } from './enqueue.ts'
import { done, type ActionRequest } from './index.ts'
import { replayDeadLetter } from './operate.ts'
import { blocked, rivalOf, type Rival } from './rivals.testing.ts'
import { type ClaimedRow, claimRows, finishRows, lockKeys, promoteNext } from './sql.ts'
import { changeThing, claimantOf, handle, inTurn, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()
const keyed = () => safe({ keyed: true, lane: `race_${Math.random()}` })

let rival: Rival
beforeEach(async () => {
  rival = await rivalOf(stage.database)
})
afterEach(() => rival.end())

/** Ends a claimed row of a key the way a settle does, inside the rival's transaction. */
const finishInside = async (row: ClaimedRow | undefined): Promise<void> => {
  if (!row || row.ordering_key === null) throw new Error('a keyed row is claimed')
  const key = { tenantId: row.tenant_id, key: row.ordering_key }
  await lockKeys(rival.sql, [key])
  const { id, fence } = row
  await finishRows(rival.sql, [{ id, fence, outcome: 'succeeded', reason: undefined, calls: [] }])
  await promoteNext(rival.sql, { ...key, afterId: id })
}

test('a command that supersedes and a settle that changes the same aggregate do not deadlock', async () => {
  const action = keyed()
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine, events } = stage.engine([
    handle(action, {
      settle: async (tx, { payload }) => {
        await changeThing(tx, payload.id, 'settled')
        return []
      },
    }),
  ])
  await rival.begin(at.tenant)
  await rival.sql.query('select from thing where thing_id = $1 for update', [at.id])
  const tick = engine.tick()
  await blocked(stage.database, 1)
  expect(await supersede(rival, { type: 'thing', id: at.id }, [action.name], 'edited')).toEqual({
    ended: 1,
    inFlight: 1,
  })
  await rival.commit()
  await tick
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  expect(await stage.ended(at.id)).toEqual(['2:superseded:edited', '1:succeeded'])
})

test('a command that writes for two keys and a batch that ends both do not deadlock', async () => {
  const action = keyed()
  const first = await stage.enqueue(requestsOf(action, [1]))
  const second = await stage.enqueue(requestsOf(action, [1]), { tenant: first.tenant })
  const { engine, events } = stage.engine([handle(action)])
  await rival.begin(first.tenant)
  await enqueue(rival, [action.request({ id: second.id, n: 2 }), action.request({ id: first.id, n: 2 })])
  const tick = engine.tick()
  await blocked(stage.database, 1)
  await rival.commit()
  await tick
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  for (const { id } of [first, second]) expect(await stage.states(id)).toEqual(['2:ready'])
})

test('when the head ends while its successor is superseded, the third is freed', async () => {
  const action = keyed()
  const other = safe({ keyed: true })
  const at = await stage.enqueue((id) => [
    action.request({ id, n: 1 }),
    other.request({ id, n: 2 }),
    action.request({ id, n: 3 }),
  ])
  const { engine } = stage.engine([handle(action)])
  await rival.begin(at.tenant)
  await supersede(rival, { type: 'thing', id: at.id }, [other.name], 'edited')
  const tick = engine.tick()
  await blocked(stage.database, 1)
  await rival.commit()
  await tick
  expect(await stage.states(at.id)).toEqual(['3:ready'])
})

test('when a successor is superseded at the moment of its promotion, the third is freed', async () => {
  const action = keyed()
  const other = safe({ keyed: true })
  const at = await stage.enqueue((id) => [
    action.request({ id, n: 1 }),
    other.request({ id, n: 2 }),
    action.request({ id, n: 3 }),
  ])
  const [head] = await stage.claimed(action, 1)
  await rival.begin(at.tenant)
  await finishInside(head)
  const superseded = stage.database.api.transact(at.tenant, (tx) =>
    supersede(tx, { type: 'thing', id: at.id }, [other.name], 'edited'),
  )
  await blocked(stage.database, 1)
  await rival.commit()
  expect(await superseded).toEqual({ ended: 1, inFlight: 0 })
  expect(await stage.states(at.id)).toEqual(['3:ready'])
})

test('of two producers for an empty key, the one that commits second waits behind the first', async () => {
  const action = keyed()
  const at = await stage.enqueue(() => [])
  await rival.begin(at.tenant)
  await enqueue(rival, [action.request({ id: at.id, n: 1 })])
  const second = stage.enqueue(requestsOf(action, [2]), at)
  await blocked(stage.database, 1)
  await rival.commit()
  await second
  expect(await stage.states(at.id)).toEqual(['1:ready', '2:waiting'])
})

test('an insert that waits for the supersede of the newest row still sees the leased head', async () => {
  const action = keyed()
  const other = safe({ keyed: true })
  const at = await stage.enqueue((id) => [action.request({ id, n: 1 }), other.request({ id, n: 2 })])
  await stage.claimed(action, 1)
  await rival.begin(at.tenant)
  await supersede(rival, { type: 'thing', id: at.id }, [other.name], 'edited')
  const third = stage.enqueue(requestsOf(action, [3]), at)
  await blocked(stage.database, 1)
  await rival.commit()
  await third
  expect(await stage.states(at.id)).toEqual(['1:leased', '3:waiting'])
})

test.each([
  ['by itself', {}],
  ['with a domain that locks nothing', { settle: () => Promise.resolve([]) }],
])('a row written behind a head that ends at the same moment, %s, is not stranded', async (_how, parts) => {
  const action = keyed()
  const at = await stage.enqueue(requestsOf(action, [1]))
  const { engine } = stage.engine([handle(action, parts)])
  await rival.begin(at.tenant)
  await enqueue(rival, [action.request({ id: at.id, n: 2 })])
  const tick = engine.tick()
  await blocked(stage.database, 1)
  await rival.commit()
  await tick
  expect(await stage.states(at.id)).toEqual(['2:ready'])
})

test('an insert that waits for the head’s end finds its key free', async () => {
  const action = keyed()
  const at = await stage.enqueue(requestsOf(action, [1]))
  const [head] = await stage.claimed(action, 1)
  await rival.begin(at.tenant)
  await finishInside(head)
  const second = stage.enqueue(requestsOf(action, [2]), at)
  await blocked(stage.database, 1)
  await rival.commit()
  await second
  expect(await stage.states(at.id)).toEqual(['2:ready'])
})

test('a claim passes over rows that a supersede is about to end, and does not wait for it', async () => {
  const action = keyed()
  const at = await stage.enqueue(requestsOf(action, [1]))
  await rival.begin(at.tenant)
  await supersede(rival, { type: 'thing', id: at.id }, [action.name], 'edited')
  expect(await stage.claimed(action, 10)).toEqual([])
  await rival.rollback()
  expect(await stage.claimed(action, 10)).toHaveLength(1)
})

test('a supersede that meets an uncommitted claim waits for it, and then leaves the row alone', async () => {
  const action = keyed()
  const at = await stage.enqueue(requestsOf(action, [1]))
  await rival.begin(at.tenant)
  await claimRows(rival.sql, claimantOf(action), action.lane, 1)
  const superseded = stage.database.api.transact(at.tenant, (tx) =>
    supersede(tx, { type: 'thing', id: at.id }, [action.name], 'edited'),
  )
  await blocked(stage.database, 1)
  await rival.commit()
  expect(await superseded).toEqual({ ended: 0, inFlight: 1 })
  expect(await stage.states(at.id)).toEqual(['1:leased'])
})

test('a replay that meets an uncommitted insert of its key does not run beside it', async () => {
  const action = keyed()
  const runs = safe({ keyed: true, onPredecessorDead: 'run' })
  const at = await stage.enqueue(requestsOf(action, [1]))
  await stage
    .engine([handle(action, { perform: inTurn({ type: 'dead', class: 'terminal', code: 'no' }) })])
    .engine.drain()
  const [letter] = await stage.dead(at.id)
  await rival.begin(at.tenant)
  await enqueue(rival, [runs.request({ id: at.id, n: 2 })])
  const replayed = stage.database.operator.transact(at.tenant, (tx) =>
    replayDeadLetter(tx.sql, { id: letter?.id ?? '', by: 'o', reason: 'again' }),
  )
  await blocked(stage.database, 1)
  await rival.commit()
  expect(await replayed).toBe('key_busy')
})

test('a storm of writes, edits, retries and two dispatchers runs every key in order and strands nothing', async () => {
  const action = safe({ keyed: true, attemptsMax: 1_000, backoff: { baseMs: 1, maxMs: 2 } })
  const doomed = safe({ keyed: true })
  const tenant = await stage.database.createTenant()
  const keys = await Promise.all(Array.from({ length: 8 }, () => stage.enqueue(() => [], { tenant })))
  const ranById = new Map<string, number[]>(keys.map(({ id }) => [id, []]))
  const registration = handle(action, {
    perform: ({ id, n }) => {
      if (Math.random() < 0.2) return Promise.resolve({ type: 'retry', code: 'chance' })
      ranById.get(id)?.push(n)
      return Promise.resolve(done(undefined))
    },
    settle: async (tx, { payload }) => {
      await changeThing(tx, payload.id, 'settled')
      return []
    },
  })
  const engines = [1, 2].map(() => stage.engine([registration], { pollMs: 10 }))
  await Promise.all(engines.map(({ engine }) => engine.start()))
  let n = 0
  const produce = async (): Promise<void> => {
    for (let i = 0; i < 25; i++) {
      const at = keys[Math.floor(Math.random() * keys.length)]
      if (!at) continue
      await stage.database.api.transact(tenant, async (tx) => {
        await tx.sql.query('select from thing where thing_id = $1 for update', [at.id])
        const requests: ActionRequest[] = [
          action.request({ id: at.id, n: ++n }),
          doomed.request({ id: at.id, n: ++n }),
        ]
        await enqueue(tx, requests)
        await supersede(tx, { type: 'thing', id: at.id }, [doomed.name], 'edited')
      })
    }
  }
  await Promise.all(Array.from({ length: 6 }, produce))
  await Promise.all(engines.map(({ engine }) => engine.stop(10_000)))
  await stage.engine([registration]).engine.drain()
  for (;;) {
    const { rows } = await stage.database.owner.query<{ left: number }>(
      'select count(*)::int as left from outbox where tenant_id = $1',
      [tenant],
    )
    if (rows[0]?.left === 0) break
    await stage.database.advanceClock(1_000)
    if ((await stage.engine([registration]).engine.drain()).claimed === 0) break
  }
  const ran = [...ranById.values()]
  expect(ran.flat()).toHaveLength(150)
  for (const order of ran) expect(order).toEqual([...order].sort((a, b) => a - b))
  const { rows } = await stage.database.owner.query('select state from outbox where tenant_id = $1', [tenant])
  expect(rows).toEqual([])
  expect(engines.flatMap(({ events }) => events.filter(({ type }) => type === 'error'))).toEqual([])
})
