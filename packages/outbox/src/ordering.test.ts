import { gate } from '@aftercommit/testing'
import { done, type Outcome, type Settled } from './index.ts'
import {
  askable,
  handle,
  handleAskable,
  HOUR,
  inTurn,
  MINUTE,
  requestsOf,
  safe,
  type Shape,
  useStage,
} from './stage.testing.ts'

const stage = useStage()
const keyed = (shape: Shape = {}) => safe({ keyed: true, ...shape })
const terminal: Outcome<unknown> = { type: 'dead', class: 'terminal', code: 'refused' }

test('rows of one key run in the order in which they were written, one at a time', async () => {
  const action = keyed()
  const { id, tenant } = await stage.enqueue(requestsOf(action, [3, 1]))
  await stage.enqueue(requestsOf(action, [2]), { tenant, id })
  expect(await stage.states(id)).toEqual(['3:ready', '1:waiting', '2:waiting'])
  const seen: number[] = []
  const { engine } = stage.engine([
    handle(action, {
      perform: ({ n }) => {
        seen.push(n)
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  await engine.drain()
  expect(seen).toEqual([3, 1, 2])
})

test('a row that retries keeps its place: its successors wait', async () => {
  const action = keyed()
  const { id } = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine } = stage.engine([
    handle(action, { perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy' }, done(undefined)) }),
  ])
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:scheduled', '2:waiting'])
  await stage.database.advanceClock(MINUTE)
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('a stuck key delays no other key', async () => {
  const action = keyed()
  const stuck = await stage.enqueue(requestsOf(action, [1, 2]))
  const free = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine } = stage.engine([
    handle(action, {
      perform: ({ id }) =>
        Promise.resolve(id === stuck.id ? { type: 'retry', code: 'busy' } : done(undefined)),
    }),
  ])
  await engine.drain()
  expect(await stage.states(stuck.id)).toEqual(['1:scheduled', '2:waiting'])
  expect(await stage.ended(free.id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('a promoted row still waits for its own time', async () => {
  const action = keyed()
  const { id, tenant } = await stage.enqueue(requestsOf(action, [1]))
  const { rows } = await stage.database.owner.query<{ at: Date }>(
    `select app_now() + interval '2 hours' as at`,
  )
  const notBefore = rows[0]?.at
  if (!notBefore) throw new Error('the database tells the time')
  await stage.enqueue(requestsOf(action, [2], { notBefore }), { tenant, id })
  const { engine } = stage.engine([handle(action)])
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([{ n: 2, state: 'scheduled' }])
  await stage.database.advanceClock(2 * HOUR)
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('a row that waited long is not hidden by its age when it is promoted', async () => {
  const action = keyed()
  const { id } = await stage.enqueue(requestsOf(action, [1, 2]))
  await stage.database.advanceClock(HOUR)
  await stage.engine([handle(action)]).engine.tick()
  expect(await stage.live(id)).toMatchObject([{ n: 2, state: 'ready', due_in_s: 0 }])
})

test('a promoted row of a resting account rests', async () => {
  const action = keyed()
  const { id, tenant } = await stage.enqueue(requestsOf(action, [1]))
  const account = 'an account that rests'
  await stage.enqueue(requestsOf(action, [2], { account }), { tenant, id })
  await stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')`,
    [account],
  )
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.live(id)).toMatchObject([{ n: 2, state: 'paused', due_in_s: 3_600 }])
})

describe('when a predecessor dies', () => {
  const head = () => keyed({ lane: 'family' })

  const family = async (rule: 'run' | 'die' | 'hold') => {
    const first = head()
    const then = keyed({ lane: 'family', onPredecessorDead: rule })
    const told: Settled<unknown>[] = []
    const { id, tenant } = await stage.enqueue(requestsOf(first, [1]))
    await stage.enqueue(requestsOf(then, [2, 3]), { tenant, id })
    const { engine } = stage.engine([
      handle(first, { perform: inTurn(terminal) }),
      handle(then, {
        settle: (_tx, _envelope, outcome) => {
          told.push(outcome)
          return Promise.resolve([])
        },
      }),
    ])
    await engine.drain()
    return { id, tenant, then, told, engine }
  }

  test('a successor that runs all the same runs', async () => {
    const { id } = await family('run')
    expect(await stage.ended(id)).toEqual(['2:succeeded', '3:succeeded'])
  })

  test('a successor that dies with it is ended without contact, and its domain is told', async () => {
    const { id, told } = await family('die')
    const death = { type: 'dead', class: 'terminal', code: 'predecessor_dead', owner: 'operations' }
    expect(told).toEqual([death, death])
    expect(await stage.dead(id)).toMatchObject([
      { n: 1, code: 'refused' },
      { n: 2, code: 'predecessor_dead', attempts: 0, checkpoint: 'claimed' },
      { n: 3, code: 'predecessor_dead', attempts: 0, checkpoint: 'claimed' },
    ])
  })

  test('a successor that waits for a person is held, and those behind it wait', async () => {
    const { id } = await family('hold')
    expect(await stage.states(id)).toEqual(['2:held', '3:waiting'])
  })

  test.each([
    ['run', ['4:ready'], []],
    ['die', ['4:ready'], ['4']],
    ['hold', ['4:held'], []],
  ] as const)(
    'a row written behind the dead letter follows its own rule: %s',
    async (rule, states, dying) => {
      const first = head()
      const { id, tenant } = await stage.enqueue(requestsOf(first, [1]))
      await stage.engine([handle(first, { perform: inTurn(terminal) })]).engine.drain()
      const later = keyed({ onPredecessorDead: rule })
      await stage.enqueue(requestsOf(later, [4]), { tenant, id })
      expect(await stage.states(id)).toEqual(states)
      await stage.engine([handle(later)]).engine.drain()
      const dead = await stage.dead(id)
      expect(dead.filter(({ code }) => code === 'predecessor_dead').map(({ n }) => `${n}`)).toEqual(dying)
    },
  )

  test('a row that is to die with a dead letter does not wait for its own time to do so', async () => {
    const first = head()
    const { id, tenant } = await stage.enqueue(requestsOf(first, [1]))
    await stage.engine([handle(first, { perform: inTurn(terminal) })]).engine.drain()
    const later = keyed({ onPredecessorDead: 'die' })
    const notBefore = new Date(Date.now() + 1_000 * HOUR)
    await stage.enqueue(requestsOf(later, [2], { notBefore }), { tenant, id })
    await stage.engine([handle(later)]).engine.drain()
    expect(await stage.dead(id)).toMatchObject([{}, { n: 2, code: 'predecessor_dead' }])
  })
})

test('a question about an unknown row runs, though the row blocks its key', async () => {
  const action = askable({ keyed: true })
  const { id } = await stage.enqueue(requestsOf(action, [1, 2]))
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: inTurn<Outcome<unknown>>(
        { type: 'unknown', code: 'timed_out', correlation: {} },
        done(undefined),
      ),
      ask: inTurn({ type: 'found', facts: 1 }),
    }),
  ])
  await engine.drain()
  expect(await stage.live(id)).toEqual([])
  expect((await stage.ended(id)).filter((end) => end === '2:succeeded')).toHaveLength(1)
})

test('a successor in another lane is picked up by a hint when its predecessor ends', async () => {
  const action = keyed()
  const other = keyed()
  const ran = gate()
  const { id, tenant } = await stage.enqueue(requestsOf(action, [1]))
  await stage.enqueue(requestsOf(other, [2]), { tenant, id })
  const { engine } = stage.engine(
    [handle(action), handle(other, { perform: () => ran.pass().then(() => done(undefined)) })],
    { pollMs: HOUR },
  )
  await engine.start()
  await ran.arrived
  ran.open()
  await engine.stop(MINUTE)
  expect(await stage.ended(id)).toEqual(['1:succeeded', '2:succeeded'])
})
