import { gate } from '@aftercommit/testing'
import { done } from './index.ts'
import { freeSlots, takeSlots, type ClaimedRow } from './sql.ts'
import {
  askable,
  handle,
  handleAskable,
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

/** Claims as a dispatcher would that then dies: its slots and leases stay. */
const claimWithSlots = async (
  action: ReturnType<typeof safe>,
  rowsMax: number,
): Promise<readonly ClaimedRow[]> => {
  const rows = await stage.claimed(action, rowsMax)
  const given = await takeSlots(stage.database.dispatcher, askingTwo(rows))
  return rows.filter(({ id }) => given.has(id))
}

const askingTwo = (rows: readonly ClaimedRow[]) => rows.map(({ id, fence }) => ({ id, fence, slotsMax: 2 }))

const slotsOf = async (account: string): Promise<number> => {
  const { rows } = await stage.database.owner.query<{ slots: number }>(
    'select count(*)::int as slots from outbox_account_slot where account = $1',
    [account],
  )
  return rows[0]?.slots ?? -1
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
  expect(await slotsOf(accountOf(action))).toBe(0)
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

test('rows without an account, and of actions that bound nothing, need no slot', async () => {
  const action = bounded(1)
  const free = safe()
  const without = await stage.enqueue(requestsOf(action, [1, 2, 3]))
  const unbounded = await stage.enqueue(requestsOf(free, [1, 2, 3], { account: 'any' }))
  const { engine } = stage.engine([handle(action), handle(free)])
  expect((await engine.tick()).claimed).toBe(6)
  expect(await stage.ended(without.id)).toHaveLength(3)
  expect(await stage.ended(unbounded.id)).toHaveLength(3)
})

test('a slot whose holder died is free when its lease has run out, and calls a row that waits for it', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3], { account }))
  expect(await claimWithSlots(action, 10)).toHaveLength(2)
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:leased', '3:paused'])
  await freeSlots(stage.database.dispatcher, [])
  expect(await slotsOf(account)).toBe(2)
  await stage.database.advanceClock(MINUTE + 1)
  await freeSlots(stage.database.dispatcher, [])
  expect(await slotsOf(account)).toBe(0)
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:leased', '3:ready'])
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.ended(at.id)).toHaveLength(3)
})

test('a holder that wakes after its lease takes no slot from those who hold the row, or wait for it, by then', async () => {
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
  expect(await slotsOf(account)).toBe(1)
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:paused'])
  again.open()
  await rescue
  await other.drain()
  expect(await stage.ended(at.id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('a holder that asks for its slot after its lease leaves the next holder theirs', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  await stage.enqueue(requestsOf(action, [1], { account }))
  const late = await stage.claimed(action, 1)
  await stage.database.owner.query(`update outbox set state = 'ready' where account = $1`, [account])
  expect(await claimWithSlots(action, 1)).toHaveLength(1)
  expect(await takeSlots(stage.database.dispatcher, askingTwo(late))).toEqual(new Set())
  expect(await slotsOf(account)).toBe(1)
})

test('a freed slot calls one row, which keeps its place, and none while the account rests', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3, 4], { account }))
  const [first, second] = await claimWithSlots(action, 10)
  expect(await freeSlots(stage.database.dispatcher, first ? [first] : [])).toEqual([action.lane])
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:leased', '3:ready', '4:paused'])
  await stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')`,
    [account],
  )
  expect(await freeSlots(stage.database.dispatcher, second ? [second] : [])).toEqual([])
  expect(await stage.states(at.id)).toEqual(['1:leased', '2:leased', '3:ready', '4:paused'])
})

test('two dispatchers that ask for the last slot at once do not both get it', async () => {
  const action = bounded(2)
  await stage.enqueue(requestsOf(action, upTo(20), { account: accountOf(action) }))
  const given = await Promise.all(upTo(10).map(() => claimWithSlots(action, 2)))
  expect(given.flat()).toHaveLength(2)
})

test('a row that nobody called comes back by itself', async () => {
  const action = bounded(2)
  const account = accountOf(action)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3], { account }))
  await claimWithSlots(action, 10)
  await stage.database.owner.query('delete from outbox_account_slot where account = $1', [account])
  await stage.database.advanceClock(2 * MINUTE)
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.ended(at.id)).toHaveLength(3)
})

test('time spent waiting for a slot is not taken from a row’s budget', async () => {
  const action = bounded(2)
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3], { account: accountOf(action) }))
  await stage.database.owner.query(
    `update outbox set budget_from = app_now() - interval '5 s' where aggregate_id = $1`,
    [at.id],
  )
  const [first] = await claimWithSlots(action, 10)
  await stage.database.advanceClock(10_000)
  await freeSlots(stage.database.dispatcher, first ? [first] : [])
  const { rows } = await stage.database.owner.query<{ spent: number }>(
    `select round(extract(epoch from app_now() - budget_from))::int as spent from outbox
     where aggregate_id = $1 and state = 'ready'`,
    [at.id],
  )
  expect(rows).toEqual([{ spent: 5 }])
})

test('a question about an unknown row needs a slot like any other row', async () => {
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
