import { gate } from '@aftercommit/testing'
import { done } from './index.ts'
import { claimRows, finishRows, markStarted, resumePaused, type ClaimedRow } from './sql.ts'
import { blocked, rivalOf } from './rivals.testing.ts'
import {
  askable,
  claimantOf,
  giveUp,
  handle,
  handleAskable,
  HOUR,
  inTurn,
  MINUTE,
  requestsOf,
  safe,
  upTo,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

const bounded = (accountConcurrencyMax = 2, lane?: string) =>
  safe({ accountConcurrencyMax, ...(lane !== undefined && { lane }) })
const accountOf = (action: ReturnType<typeof safe>): string => `account of ${action.name}`

/** Rows of an account that run: leased, for as long as the lease lasts. */
const runningOf = async (account: string): Promise<number> => {
  const { rows } = await stage.database.owner.query<{ running: number }>(
    `select count(*)::int as running from outbox
     where account = $1 and state = 'leased' and lease_until > app_now()`,
    [account],
  )
  return rows[0]?.running ?? -1
}

/** Ends a row as a dispatcher does: settled, and another one of its account called. */
const end = async ({ id, fence, account }: ClaimedRow): Promise<readonly string[]> => {
  const { dispatcher } = stage.database
  await finishRows(dispatcher, [{ id, fence, outcome: 'succeeded', reason: undefined, calls: [] }])
  return resumePaused(dispatcher, account === null ? [] : [account])
}

const first = <T>(all: readonly T[]): T => {
  const [one] = all
  if (one === undefined) throw new Error('there is none')
  return one
}

test('over all dispatchers, no more rows of an account run at a time than its action allows', async () => {
  const action = bounded(3)
  const at = await stage.enqueue(requestsOf(action, upTo(40), { account: accountOf(action) }))
  const together = { now: 0, most: 0, ran: 0 }
  const registration = handle(action, {
    perform: async () => {
      together.most = Math.max(together.most, ++together.now)
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
      together.now--
      together.ran++
      return done(undefined)
    },
  })
  const engines = [1, 2, 3].map(() => stage.engine([registration], { pollMs: 20 }))
  await Promise.all(engines.map(({ engine }) => engine.start()))
  while ((await stage.ended(at.id)).length < 40) await new Promise((resolve) => setImmediate(resolve))
  await Promise.all(engines.map(({ engine }) => engine.stop(MINUTE)))
  expect(together).toEqual({ now: 0, most: 3, ran: 40 })
  expect(await runningOf(accountOf(action))).toBe(0)
  expect(engines.flatMap(({ events }) => events.filter(({ type }) => type === 'error'))).toEqual([])
})

test('rows that may not run leave the claim, spend nothing, and delay no other account', async () => {
  const action = bounded(2)
  const at = await stage.enqueue(requestsOf(action, upTo(30), { account: accountOf(action) }))
  const holding = gate()
  const { engine } = stage.engine(
    [
      handle(action, {
        perform: ({ id }) => (id === at.id ? holding.pass() : Promise.resolve()).then(() => done(0)),
      }),
    ],
    { laneByName: { [action.lane]: { concurrency: 10, claimMax: 10 } }, pollMs: 20 },
  )
  await engine.start()
  await holding.arrived
  const other = await stage.enqueue(requestsOf(action, [1], { account: 'a free one' }))
  while ((await stage.ended(other.id)).length < 1) await new Promise((resolve) => setImmediate(resolve))
  const rows = await stage.live(at.id)
  expect(rows.filter(({ state }) => state === 'leased')).toHaveLength(2)
  const waiting = rows.filter(({ state }) => state === 'paused')
  expect(waiting.length).toBeGreaterThan(0)
  expect(waiting.every(({ attempts, lost_leases }) => attempts === 0 && lost_leases === 0)).toBe(true)
  holding.open()
  while ((await stage.ended(at.id)).length < 30) await new Promise((resolve) => setImmediate(resolve))
  await engine.stop(MINUTE)
})

test('rows without an account, and of actions that bound nothing, are not counted', async () => {
  const action = bounded(1)
  const free = safe()
  const without = await stage.enqueue(requestsOf(action, [1, 2, 3]))
  const unbounded = await stage.enqueue(requestsOf(free, [1, 2, 3], { account: 'any' }))
  const { engine } = stage.engine([handle(action), handle(free)])
  expect((await engine.tick()).claimed).toBe(6)
  expect(await stage.ended(without.id)).toHaveLength(3)
  expect(await stage.ended(unbounded.id)).toHaveLength(3)
})

test('a row whose holder died takes no place when its lease has run out', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3, 4], { account }))
  expect(await stage.claimed(action, 10)).toHaveLength(2)
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:leased', '3:paused', '4:paused'])
  const { dispatcher } = stage.database
  await resumePaused(dispatcher, [account, account])
  expect(await stage.claimed(action, 10)).toEqual([])
  await stage.database.advanceClock(MINUTE + 1)
  await resumePaused(dispatcher, [account, account])
  expect(await stage.claimed(action, 10)).toHaveLength(2)
})

test('a lost row that comes to its end without running lets one that waits run', async () => {
  const action = giveUp({ accountConcurrencyMax: 1 })
  const account = `account of ${action.name}`
  const at = await stage.enqueue(requestsOf(action, [1, 2], { account }))
  await markStarted(stage.database.dispatcher, await stage.claimed(action, 10))
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:paused'])
  await stage.database.advanceClock(MINUTE + 1)
  await stage.database.owner.query(
    `update outbox set available_at = app_now() + interval '1 hour' where account = $1 and state = 'paused'`,
    [account],
  )
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.dead(at.id)).toMatchObject([{ n: 1, class: 'uncertain' }])
  expect(await stage.ended(at.id)).toEqual(['2:succeeded'])
})

test('a row that a claim is just pausing is seen by whoever ends meanwhile', async () => {
  const { database } = stage
  const action = bounded(1)
  const at = await stage.enqueue(requestsOf(action, [1, 2], { account: accountOf(action) }))
  const running = first(await stage.claimed(action, 1))
  const rival = await rivalOf(database)
  await rival.begin(at.tenant)
  expect((await claimRows(rival.sql, claimantOf(action), action.lane, 10)).paused).toBe(1)
  const ended = end(running)
  await blocked(database, 1)
  await rival.commit()
  expect(await ended).toEqual([action.lane])
  expect(await stage.states(at.id)).toEqual(['2:ready'])
  await rival.end()
})

test('of one claim, the rows of tight accounts beyond their bound are paused, and no others', async () => {
  const action = bounded(2)
  const counts = { tight: 5, full: 2, free: 1 }
  const at = await Promise.all(
    Object.entries(counts).map(([account, rows]) =>
      stage.enqueue(requestsOf(action, upTo(rows), { account: `${account} of ${action.name}` })),
    ),
  )
  expect(await stage.claimed(action, 10)).toHaveLength(5)
  const states = await Promise.all(at.map(({ id }) => stage.states(id)))
  expect(states).toEqual([
    ['0:leased', '1:leased', '2:paused', '3:paused', '4:paused'],
    ['0:leased', '1:leased'],
    ['0:leased'],
  ])
})

test('of an account with several bounds, rows with the larger one are given places first', async () => {
  const narrow = bounded(1)
  const wide = bounded(3, narrow.lane)
  const account = accountOf(narrow)
  const narrowAt = await stage.enqueue(requestsOf(narrow, [1], { account }))
  const wideAt = await stage.enqueue(requestsOf(wide, [1, 2, 3], { account }))
  const { rows } = await claimRows(stage.database.dispatcher, claimantOf(narrow, wide), narrow.lane, 10)
  expect(rows).toHaveLength(3)
  expect(await stage.states(narrowAt.id)).toEqual(['1:paused'])
  expect(await stage.states(wideAt.id)).toEqual(['1:leased', '2:leased', '3:leased'])
})

test('rows of actions that only another dispatcher knows are counted, and those known to be unbounded are not', async () => {
  const { dispatcher } = stage.database
  const [mine, theirs, free] = [bounded(1), bounded(1), safe()]
  const account = accountOf(mine)
  const at = await stage.enqueue(requestsOf(mine, [1], { account }))
  await stage.enqueue(requestsOf(free, [1], { account }))
  await stage.enqueue(requestsOf(theirs, [1], { account }))
  expect(await stage.claimed(free, 1)).toHaveLength(1)
  const theirClaim = await claimRows(dispatcher, claimantOf(theirs, free), theirs.lane, 1)
  const running = first(theirClaim.rows)
  const claim = () => claimRows(dispatcher, claimantOf(mine, free), mine.lane, 1)
  expect(await claim()).toMatchObject({ rows: [], paused: 1 })
  await end(running)
  expect(await claim()).toMatchObject({ rows: [{ account }], paused: 0 })
  expect(await stage.states(at.id)).toEqual(['1:leased'])
})

test('a busy row that is claimed alone does not hide another one', async () => {
  const action = bounded(1)
  const at = await stage.enqueue(requestsOf(action, [1, 2], { account: accountOf(action) }))
  const other = await stage.enqueue(requestsOf(action, [1], { account: 'a free one' }))
  expect(await stage.claimed(action, 1)).toHaveLength(1)
  await stage.database.owner.query(`update outbox set solo = true where action = $1 and state = 'ready'`, [
    action.name,
  ])
  expect(await stage.engine([handle(action)]).engine.tick()).toMatchObject({ claimed: 1 })
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:paused'])
  expect(await stage.ended(other.id)).toEqual(['1:succeeded'])
})

test('a row of another lane that may run now is announced to it', async () => {
  const here = bounded(1)
  const there = bounded(1)
  const account = accountOf(here)
  const holding = gate()
  await stage.enqueue(requestsOf(here, [1], { account }))
  const { engine } = stage.engine([
    handle(here, { perform: () => holding.pass().then(() => done(0)) }),
    handle(there),
  ])
  const round = engine.tick()
  await holding.arrived
  const at = await stage.enqueue(requestsOf(there, [1], { account }))
  expect((await claimRows(stage.database.dispatcher, claimantOf(here, there), there.lane, 1)).paused).toBe(1)
  // Nothing polls here in the time that a test has: only a hint can tell the other lane.
  const { engine: listening } = stage.engine([handle(there)], { pollMs: HOUR })
  await listening.start()
  holding.open()
  await round
  while ((await stage.ended(at.id)).length < 1) await new Promise((resolve) => setImmediate(resolve))
  await listening.stop(MINUTE)
})

test('a holder that wakes after its lease takes no place from those who hold the row, or wait for it, by then', async () => {
  const action = bounded(1)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2], { account }))
  const [frozen, again] = [gate(), gate()]
  const { engine } = stage.engine([handle(action, { perform: () => frozen.pass().then(() => done(0)) })])
  const tick = engine.tick()
  await frozen.arrived
  await stage.database.advanceClock(MINUTE + 1)
  const { engine: other } = stage.engine([
    handle(action, { perform: ({ n }) => (n === 1 ? again.pass() : Promise.resolve()).then(() => done(0)) }),
  ])
  const rescue = other.tick()
  await again.arrived
  frozen.open()
  await tick
  // Its end calls the row that waits, and the next claim sends it back: the place is taken.
  expect(await stage.claimed(action, 10)).toEqual([])
  expect(await runningOf(account)).toBe(1)
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:paused'])
  again.open()
  await rescue
  await other.drain()
  expect(await stage.ended(at.id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('a row that ends calls one of its account, which keeps its place, and none while the account rests', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3, 4], { account }))
  const [one, other] = await stage.claimed(action, 10)
  if (!one || !other) throw new Error('two rows may run')
  expect(await end(one)).toEqual([action.lane])
  expect(await stage.states(at.id)).toEqual(['2:leased', '3:ready', '4:paused'])
  await stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')`,
    [account],
  )
  expect(await end(other)).toEqual([])
  expect(await stage.states(at.id)).toEqual(['3:ready', '4:paused'])
})

test('two dispatchers that claim for the last place at once do not both get it', async () => {
  const action = bounded(2)
  await stage.enqueue(requestsOf(action, upTo(20), { account: accountOf(action) }))
  const given = await Promise.all(upTo(10).map(() => stage.claimed(action, 2)))
  expect(given.flat()).toHaveLength(2)
})

test('a row that nobody called comes back by itself', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3], { account }))
  for (const { id, fence } of await stage.claimed(action, 10)) {
    await finishRows(stage.database.dispatcher, [
      { id, fence, outcome: 'succeeded', reason: undefined, calls: [] },
    ])
  }
  expect(await stage.states(at.id)).toEqual(['3:paused'])
  await stage.database.advanceClock(2 * MINUTE)
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.ended(at.id)).toHaveLength(3)
})

test('time spent waiting for a busy account is not taken from a row’s budget', async () => {
  const action = bounded(2)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3], { account: accountOf(action) }))
  await stage.database.owner.query(
    `update outbox set budget_from = app_now() - interval '5 s' where aggregate_id = $1`,
    [at.id],
  )
  const running = await stage.claimed(action, 10)
  await stage.database.advanceClock(10_000)
  await end(first(running))
  const { rows } = await stage.database.owner.query<{ spent: number }>(
    `select round(extract(epoch from app_now() - budget_from))::int as spent from outbox
     where aggregate_id = $1 and state = 'ready'`,
    [at.id],
  )
  expect(rows).toEqual([{ spent: 5 }])
})

test('a question about an unknown row is counted like any other row', async () => {
  const action = askable({ accountConcurrencyMax: 1 })
  const account = `account of ${action.name}`
  const holding = gate()
  const at = await stage.enqueue(requestsOf(action, [1], { account }))
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: ({ n }) =>
        n === 1
          ? Promise.resolve({ type: 'unknown', code: 'lost', correlation: {} })
          : holding.pass().then(() => done(undefined)),
      ask: inTurn({ type: 'found', facts: 1 }),
    }),
  ])
  await engine.tick()
  expect(await stage.states(at.id)).toEqual(['1:outcome_unknown', '1:ready'])
  const before = await stage.enqueue(requestsOf(action, [2], { account }))
  await stage.database.owner.query(`update outbox set turn = -1 where aggregate_id = $1`, [before.id])
  const tick = engine.tick()
  await holding.arrived
  expect(await stage.states(at.id)).toEqual(['1:outcome_unknown', '1:paused'])
  holding.open()
  await tick
  await engine.drain()
  expect(await stage.ended(at.id)).toEqual(['1:succeeded', '1:succeeded'])
})
