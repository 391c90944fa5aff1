import { randomUUID } from 'node:crypto'
import { gate } from '@aftercommit/testing'
import { done } from './index.ts'
import { claimRows, claimSoloRow, markStarted, releaseRow } from './sql.ts'
import { claimantOf, handle, MINUTE, requestsOf, safe, upTo, useStage } from './stage.testing.ts'

const stage = useStage()

test('two dispatchers that claim at once share the rows and neither waits for the other', async () => {
  const { database } = stage
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2, 3, 4]))
  const holding = gate()
  const first = database.dispatcher.transaction(async (sql) => {
    const { rows } = await claimRows(sql, claimantOf(ping), ping.lane, 2)
    await holding.pass()
    return rows
  })
  await holding.arrived
  const second = await stage.claimed(ping, 10)
  holding.open()
  const numbers = [...(await first), ...second].map(({ payload }) => payload)
  expect(numbers).toEqual([1, 2, 3, 4].map((n) => ({ id, n })))
})

test('twenty dispatchers at once claim every row exactly once', async () => {
  const ping = safe()
  await stage.enqueue(requestsOf(ping, upTo(200)))
  const claims = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const ids: string[] = []
      for (;;) {
        const rows = await stage.claimed(ping, 7)
        if (rows.length === 0) return ids
        ids.push(...rows.map((row) => row.id))
      }
    }),
  )
  const all = claims.flat()
  expect(all).toHaveLength(200)
  expect(new Set(all).size).toBe(200)
})

test('a dispatcher leaves actions that it does not know to those that do, and they are not in its way', async () => {
  const unknown = safe({ lane: 'shared' })
  const known = safe({ lane: 'shared' })
  const theirs = await stage.enqueue(requestsOf(unknown, [1, 2, 3]))
  const mine = await stage.enqueue(requestsOf(known, [1]))
  const { engine } = stage.engine([handle(known)], {
    laneByName: { shared: { concurrency: 1, claimMax: 1 } },
  })
  await engine.drain()
  expect(await stage.ended(mine.id)).toEqual(['1:succeeded'])
  expect(await stage.live(theirs.id)).toMatchObject([
    { state: 'ready', claims: 0, attempts: 0 },
    { state: 'ready', claims: 0 },
    { state: 'ready', claims: 0 },
  ])
})

test('a lane gives only its own rows, oldest first, and no more than asked for', async () => {
  const ping = safe()
  const other = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [5, 1, 3]))
  await stage.enqueue(requestsOf(other, [1]))
  const { rows } = await claimRows(stage.database.dispatcher, claimantOf(ping, other), ping.lane, 2)
  expect(rows.map(({ payload }) => payload)).toEqual([
    { id, n: 5 },
    { id, n: 1 },
  ])
})

test('a claim from a place on passes over what comes before it, which a full one finds', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2, 3, 4]))
  const { dispatcher } = stage.database
  const { rows } = await stage.database.owner.query<{ turn: string; id: string }>(
    `select turn, id from outbox where aggregate_id = $1 order by turn, id offset 1`,
    [id],
  )
  const second = rows[0]
  const { rows: from } = await claimRows(dispatcher, claimantOf(ping), ping.lane, 10, second)
  const rest = await stage.claimed(ping, 10)
  expect([from, rest].map((found) => found.map(({ payload }) => payload))).toEqual([
    [2, 3, 4].map((n) => ({ id, n })),
    [{ id, n: 1 }],
  ])
})

test('a lane whose workers are all busy delays no other', async () => {
  const slow = safe()
  const quick = safe()
  const holding = gate()
  const ran = gate()
  const passing = (at: typeof holding) => () => at.pass().then(() => done(undefined))
  const { engine } = stage.engine(
    [handle(slow, { perform: passing(holding) }), handle(quick, { perform: passing(ran) })],
    { laneByName: { [slow.lane]: { concurrency: 1, claimMax: 1 } }, pollMs: 20 },
  )
  await engine.start()
  const stuck = await stage.enqueue(requestsOf(slow, [1, 2, 3]))
  await holding.arrived
  const { id } = await stage.enqueue(requestsOf(quick, [1]))
  await ran.arrived
  expect(await stage.states(stuck.id)).toEqual(['1:leased', '2:ready', '3:ready'])
  for (const each of [holding, ran]) each.open()
  await engine.stop(MINUTE)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('every claim gives a fence larger than any before, also after retries, lost leases and hand-backs', async () => {
  const ping = safe()
  await stage.enqueue(requestsOf(ping, [1]))
  const { dispatcher } = stage.database
  const fences: bigint[] = []
  for (const outcome of ['retrying', 'handed_back', 'throttled'] as const) {
    const row = await stage.claimedOne(ping)
    fences.push(BigInt(row.fence))
    const back = {
      code: 'test',
      delayMs: 0,
      attemptsChange: 0,
      solo: false,
      uncertain: undefined,
      calls: [],
    } as const
    expect(await releaseRow(dispatcher, { ...row, ...back, outcome })).toBe(true)
    expect(await releaseRow(dispatcher, { ...row, ...back, outcome })).toBe(false)
  }
  await stage.claimed(ping, 1)
  await stage.database.advanceClock(2 * MINUTE)
  await stage.engine([handle(ping)]).engine.drain()
  expect(fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? 0n))).toBe(true)
})

test('a lease is measured by the database’s clock, whatever the worker’s own says', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const row = await stage.claimedOne(ping)
  await stage.engine([handle(ping)]).engine.tick()
  expect(await stage.states(id)).toEqual(['1:leased'])
  await stage.database.advanceClock(MINUTE + 1)
  expect((await markStarted(stage.database.dispatcher, [row])).size).toBe(0)
  await stage.engine([handle(ping)]).engine.tick()
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('each action has its own lease', async () => {
  const short = safe({ leaseMs: 10_000, lane: 'leases' })
  const long = safe({ leaseMs: 600_000, lane: 'leases' })
  const brief = await stage.enqueue(requestsOf(short, [1]))
  const patient = await stage.enqueue(requestsOf(long, [1]))
  await claimRows(stage.database.dispatcher, claimantOf(short, long), 'leases', 10)
  await stage.database.advanceClock(30_000)
  await stage.engine([handle(short), handle(long)]).engine.drain()
  expect(await stage.ended(brief.id)).toEqual(['1:succeeded'])
  expect(await stage.states(patient.id)).toEqual(['1:leased'])
})

test('rows for later become ready when the database says so', async () => {
  const ping = safe()
  const { rows } = await stage.database.owner.query<{ later: Date }>(
    `select app_now() + interval '1 hour' as later`,
  )
  const [time] = rows
  if (!time) throw new Error('the database tells the time')
  const { id } = await stage.enqueue(requestsOf(ping, [1], { notBefore: time.later }))
  const { engine } = stage.engine([handle(ping)])
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:scheduled'])
  await stage.database.advanceClock(61 * MINUTE)
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('rows that lost a lease are claimed one at a time, and the lanes take turns', async () => {
  const left = safe()
  const right = safe()
  for (const each of [left, right]) await stage.enqueue(requestsOf(each, [1, 2, 3]))
  await stage.claimed(left, 10)
  await stage.claimed(right, 10)
  await stage.database.advanceClock(2 * MINUTE)
  const seen: string[] = []
  const together = { now: 0, most: 0 }
  const perform = (name: string) => async () => {
    together.most = Math.max(together.most, ++together.now)
    seen.push(name)
    await new Promise((resolve) => setImmediate(resolve))
    together.now--
    return done(undefined)
  }
  const { engine } = stage.engine([
    handle(left, { perform: perform('left') }),
    handle(right, { perform: perform('right') }),
  ])
  await engine.drain()
  expect(together.most).toBe(1)
  expect(seen).toEqual(['left', 'right', 'left', 'right', 'left', 'right'])
})

test('a row claimed alone is not in a batch, and a batch takes none of those', async () => {
  const ping = safe()
  const { dispatcher } = stage.database
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2]))
  await stage.database.owner.query(
    `update outbox set solo = true where aggregate_id = $1 and payload->>'n' = '1'`,
    [id],
  )
  const batch = await stage.claimed(ping, 10)
  const alone = await claimSoloRow(dispatcher, claimantOf(ping), [ping.lane])
  expect(batch.map(({ payload }) => payload)).toEqual([{ id, n: 2 }])
  expect(alone.rows.map(({ payload }) => payload)).toEqual([{ id, n: 1 }])
})

test('a claim names who holds the row and since when', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const claimant = { ...claimantOf(ping), replicaId: randomUUID() }
  await claimRows(stage.database.dispatcher, claimant, ping.lane, 1)
  const { rows } = await stage.database.owner.query(
    'select lease_owner, claimed_at = app_now() as now, lease_until > app_now() as held from outbox where aggregate_id = $1',
    [id],
  )
  expect(rows).toMatchObject([{ lease_owner: claimant.replicaId, held: true }])
})
