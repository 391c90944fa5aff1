import { done, go, type Outcome, type Settled } from './index.ts'
import { claimSoloRow, markStarted, takeOverLostRows } from './sql.ts'
import {
  askable,
  changeThing,
  claimantOf,
  giveUp,
  handle,
  handleAskable,
  inTurn,
  MINUTE,
  requestsOf,
  resend,
  safe,
  upTo,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

type AnyTestAction = ReturnType<typeof safe> | ReturnType<typeof askable> | ReturnType<typeof giveUp>

/** A dispatcher dies with the rows it claimed: before it called anybody, or while it did. */
const dieHolding = async (
  action: AnyTestAction | ReturnType<typeof resend>,
  when: 'before_start' | 'after_start',
  ns: readonly number[] = [1],
) => {
  const { id } = await stage.enqueue(requestsOf(action, ns))
  await crash(action, when)
  return id
}

const crash = async (
  action: { readonly name: string; readonly lane: string; readonly leaseMs: number },
  when: 'before_start' | 'after_start',
): Promise<void> => {
  const rows = await stage.claimed(action, 100)
  if (when === 'after_start') await markStarted(stage.database.dispatcher, rows)
  await stage.database.advanceClock(2 * MINUTE)
}

test.each([
  ['safe', safe],
  ['give_up', giveUp],
  ['resend', resend],
] as const)(
  'an unstarted row of a %s action comes back, alone, and has spent no attempt',
  async (_rule, make) => {
    const action = make()
    const id = await dieHolding(action, 'before_start')
    const { engine, events } = stage.engine([handle(action)])
    const { rows } = await stage.database.owner.query(
      'select lost_leases from outbox where aggregate_id = $1',
      [id],
    )
    expect(rows).toEqual([{ lost_leases: 0 }])
    await engine.drain()
    expect(events).toContainEqual({ type: 'lease_lost', action: action.name, started: false })
    expect(await stage.ended(id)).toEqual(['1:succeeded'])
    expect(await stage.attempts(id)).toEqual(['lease_lost:lease_lost', 'succeeded'])
  },
)

test('a started row that is safe to repeat is made again, and its attempt stays counted', async () => {
  const action = safe()
  const id = await dieHolding(action, 'after_start')
  const attempts: number[] = []
  const { engine } = stage.engine([
    handle(action, {
      prepare: (_tx, envelope) => {
        attempts.push(envelope.attempts)
        return Promise.resolve(go(envelope.payload))
      },
    }),
  ])
  await engine.drain()
  expect(attempts).toEqual([1])
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a started row that nobody can be asked about is sent again where its action says so', async () => {
  const action = resend()
  const id = await dieHolding(action, 'after_start')
  let sent = 0
  await stage.engine([handle(action, { perform: () => Promise.resolve(done(++sent)) })]).engine.drain()
  expect(sent).toBe(1)
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a started row that must rather be lost than doubled dies, and its domain is told without a plan', async () => {
  const action = giveUp()
  const id = await dieHolding(action, 'after_start')
  const told: [Settled<unknown>, unknown][] = []
  const { engine } = stage.engine([
    handle(action, {
      perform: () => Promise.reject(new Error('must not be called')),
      settle: async (tx, { payload }, outcome, plan) => {
        told.push([outcome, plan])
        await changeThing(tx, payload.id, 'uncertain')
        return []
      },
    }),
  ])
  await engine.drain()
  expect(told).toEqual([
    [{ type: 'dead', class: 'uncertain', code: 'lease_lost', owner: 'operations' }, undefined],
  ])
  expect(await stage.dead(id)).toMatchObject([
    { class: 'uncertain', code: 'lease_lost', checkpoint: 'started' },
  ])
  expect((await stage.thing(id)).state).toBe('uncertain')
})

test('a started row that can be asked about is asked about, and never repeated blindly', async () => {
  const action = askable()
  const id = await dieHolding(action, 'after_start')
  const told: string[] = []
  let performed = 0
  const { engine } = stage.engine([
    handleAskable(action, {
      perform: () => Promise.resolve(done(++performed)),
      ask: inTurn({ type: 'found', facts: 'it is there' }),
      settle: (_tx, _envelope, outcome) => {
        told.push(outcome.type)
        return Promise.resolve([])
      },
    }),
  ])
  await engine.drain()
  expect(performed).toBe(0)
  expect(told).toEqual(['unknown', 'done'])
  expect(await stage.ended(id)).toEqual(['1:succeeded', '1:succeeded'])
})

test('started rows that are safe to repeat die when their attempts are spent, though no attempt ever answers', async () => {
  const action = safe({ attemptsMax: 3 })
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  let performed = 0
  for (let lives = 0; lives < 4; lives++) {
    await stage.untilDeath((mortal) => [
      handle(action, {
        perform: () => {
          performed++
          mortal.die()
          return Promise.resolve(done(undefined))
        },
      }),
    ])
    await stage.database.advanceClock(2 * MINUTE)
  }
  expect(performed).toBe(3)
  expect(await stage.dead(id)).toMatchObject([{ class: 'uncertain', code: 'lease_lost', attempts: 3 }])
})

test('a row that kills its worker, first of a batch of a hundred, kills none of the others', async () => {
  const action = safe({ attemptsMax: 3 })
  const { id } = await stage.enqueue(requestsOf(action, upTo(100)))
  for (let lives = 0; lives < 5; lives++) {
    await stage.untilDeath((mortal) => [
      handle(action, {
        perform: ({ n }) => {
          if (n === 0) mortal.die()
          return Promise.resolve(done(undefined))
        },
      }),
    ])
    await stage.database.advanceClock(2 * MINUTE)
  }
  expect(await stage.dead(id)).toMatchObject([{ n: 0, class: 'uncertain', attempts: 3 }])
  expect(await stage.live(id)).toEqual([])
  expect(new Set(await stage.ended(id))).toEqual(
    new Set(
      upTo(100)
        .slice(1)
        .map((n) => `${n}:succeeded`),
    ),
  )
})

/** A row that loses one more lease, unstarted, after so many. */
const loseLeaseAfter = async (action: AnyTestAction, lostBefore: number): Promise<string> => {
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  await stage.database.owner.query(
    'update outbox set lost_leases = $2, solo = true where aggregate_id = $1',
    [id, lostBefore],
  )
  await claimSoloRow(stage.database.dispatcher, claimantOf(action), [action.lane])
  await stage.database.advanceClock(2 * MINUTE)
  return id
}

test('a row that has lost nineteen leases is tried once more', async () => {
  const action = safe()
  const id = await loseLeaseAfter(action, 18)
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a row that kills its worker before it starts exhausts too, and its domain is told', async () => {
  const action = safe({ keyed: true })
  const id = await loseLeaseAfter(action, 19)
  const told: Settled<unknown>[] = []
  const { engine } = stage.engine([
    handle(action, {
      settle: (_tx, _envelope, outcome) => {
        told.push(outcome)
        return Promise.resolve([])
      },
    }),
  ])
  await engine.drain()
  expect(told).toEqual([{ type: 'dead', class: 'transient', code: 'crash_loop', owner: 'operations' }])
  expect(await stage.dead(id)).toMatchObject([
    { code: 'crash_loop', checkpoint: 'claimed', uncertain: false },
  ])
})

test('a row whose ending itself fails for ever is buried without its domain, so that a person sees it', async () => {
  const action = giveUp()
  const id = await dieHolding(action, 'after_start')
  await stage.database.owner.query('update outbox set lost_leases = 21 where aggregate_id = $1', [id])
  let told = 0
  const { engine } = stage.engine([
    handle(action, {
      settle: () => {
        told++
        return Promise.reject(new Error('the domain cannot take it'))
      },
    }),
  ])
  await engine.drain()
  expect(told).toBe(0)
  expect(await stage.dead(id)).toMatchObject([
    { class: 'uncertain', code: 'crash_loop', checkpoint: 'started' },
  ])
})

test('an outcome that was settled forgets the leases lost before it', async () => {
  const action = safe()
  const id = await dieHolding(action, 'before_start')
  const { engine } = stage.engine([
    handle(action, { perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy' }) }),
  ])
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([
    { state: 'scheduled', lost_leases: 0, solo: false, attempts: 1 },
  ])
})

test('a lost row whose rescuer dies as well is taken over again', async () => {
  const action = safe()
  const id = await dieHolding(action, 'before_start')
  const taken = await takeOverLostRows(stage.database.dispatcher, claimantOf(action), 10)
  expect(taken).toHaveLength(1)
  const { engine } = stage.engine([handle(action)])
  expect(await engine.drain()).toEqual({ rescued: 0, claimed: 0 })
  await stage.database.advanceClock(2 * MINUTE)
  await engine.drain()
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a row that may have had its effect keeps its key: nobody overtakes it', async () => {
  const action = askable({ keyed: true })
  const id = await dieHolding(action, 'after_start', [1, 2])
  const { engine } = stage.engine([handleAskable(action, { ask: inTurn({ type: 'absent' }) })])
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:outcome_unknown', '2:waiting', '1:scheduled'])
})
