import { gate } from '@aftercommit/testing'
import { supersede } from './enqueue.ts'
import { done, go, type Outcome } from './index.ts'
import {
  askable,
  giveUp,
  handle,
  handleAskable,
  inTurn,
  MINUTE,
  requestsOf,
  safe,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

const supersedeAll = (
  { tenant, id }: { readonly tenant: string; readonly id: string },
  ...actions: readonly { readonly name: string }[]
) =>
  stage.database.api.transact(tenant, (tx) =>
    supersede(
      tx,
      { type: 'thing', id },
      actions.map(({ name }) => name),
      'edited',
    ),
  )

test('pending rows end as superseded with their reason, and none of them is ever run', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  expect(await supersedeAll(at, action)).toEqual({ ended: 2, inFlight: 0 })
  expect(await stage.engine([handle(action)]).engine.drain()).toEqual({ rescued: 0, claimed: 0 })
  expect(await stage.ended(at.id)).toEqual(['1:superseded:edited', '2:superseded:edited'])
})

test('only the named actions of only this aggregate end', async () => {
  const action = safe()
  const other = safe()
  const at = await stage.enqueue(requestsOf(action, [1]))
  await stage.enqueue(requestsOf(other, [2]), at)
  const elsewhere = await stage.enqueue(requestsOf(action, [1]), { tenant: at.tenant })
  await supersedeAll(at, action)
  expect(await stage.states(at.id)).toEqual(['2:ready'])
  expect(await stage.states(elsewhere.id)).toEqual(['1:ready'])
})

test('a leased row keeps row and fence, and is counted as in flight', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  const [held] = await stage.claimed(action, 1)
  expect(await supersedeAll(at, action)).toEqual({ ended: 1, inFlight: 1 })
  expect(await stage.live(at.id)).toMatchObject([{ n: 1, state: 'leased', fence: held?.fence }])
})

test('a call in flight that succeeds after the supersede is known, and its correction runs behind it', async () => {
  const create = safe({ keyed: true, lane: 'listing' })
  const withdraw = safe({ keyed: true, lane: 'listing' })
  const calling = gate()
  const provider: string[] = []
  const at = await stage.enqueue(requestsOf(create, [1]))
  const { engine } = stage.engine([
    handle(create, {
      perform: async () => {
        await calling.pass()
        provider.push('created')
        return done(undefined)
      },
    }),
    handle(withdraw, {
      perform: () => {
        provider.push('withdrawn')
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  const tick = engine.tick()
  await calling.arrived
  expect(await supersedeAll(at, create)).toEqual({ ended: 0, inFlight: 1 })
  await stage.enqueue(requestsOf(withdraw, [2]), at)
  calling.open()
  await tick
  await engine.drain()
  expect(provider).toEqual(['created', 'withdrawn'])
  expect(await stage.ended(at.id)).toEqual(['1:succeeded', '2:succeeded'])
})

test('an unknown row and its question are left alone, and counted once', async () => {
  const action = askable()
  const at = await stage.enqueue(requestsOf(action, [1]))
  const unknown: Outcome<unknown> = { type: 'unknown', code: 'timed_out', correlation: {} }
  await stage
    .engine([handleAskable(action, { perform: inTurn(unknown), ask: inTurn({ type: 'absent' }) })])
    .engine.tick()
  expect(await supersedeAll(at, action, { name: `${action.name}#reconcile` })).toEqual({
    ended: 0,
    inFlight: 1,
  })
  expect(await stage.states(at.id)).toEqual(['1:outcome_unknown', '1:ready'])
})

test('a row with an unanswered attempt in its past is in flight, though nobody holds it', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [1]))
  let stands = true
  const { engine } = stage.engine([
    handle(action, {
      prepare: (_tx, { payload }) =>
        Promise.resolve(stands ? go(payload) : { type: 'obsolete', reason: 'edited' }),
      perform: () => Promise.reject(new Error('the connection broke')),
    }),
  ])
  await engine.drain()
  expect(await stage.live(at.id)).toMatchObject([{ state: 'scheduled', uncertain: true }])
  expect(await supersedeAll(at, action)).toEqual({ ended: 0, inFlight: 1 })
  stands = false
  await stage.database.advanceClock(MINUTE)
  await engine.drain()
  expect(await stage.ended(at.id)).toEqual(['1:superseded:edited'])
})

test.each([
  ['head', [1], ['2:ready', '3:waiting']],
  ['middle', [2], ['1:ready', '3:waiting']],
  ['tail', [3], ['1:ready', '2:waiting']],
  ['head and middle', [1, 2], ['3:ready']],
] as const)('superseding the %s of a key leaves the rest in order and moving', async (_place, gone, left) => {
  const action = safe({ keyed: true, lane: 'chain' })
  const other = safe({ keyed: true, lane: 'chain' })
  const at = await stage.enqueue((id) =>
    [1, 2, 3].map((n) => ((gone as readonly number[]).includes(n) ? other : action).request({ id, n })),
  )
  expect((await supersedeAll(at, other)).ended).toBe(gone.length)
  expect(await stage.states(at.id)).toEqual(left)
  await stage.engine([handle(action)]).engine.drain()
  expect(await stage.live(at.id)).toEqual([])
})

test('rows held behind a dead letter go on when the domain supersedes what died', async () => {
  const first = safe({ keyed: true, lane: 'held' })
  const then = safe({ keyed: true, lane: 'held' })
  const at = await stage.enqueue(requestsOf(first, [1]))
  await stage.enqueue(requestsOf(then, [2, 3]), at)
  const { engine } = stage.engine([
    handle(first, {
      perform: inTurn<Outcome<unknown>>({ type: 'dead', class: 'validation', code: 'bad_address' }),
    }),
    handle(then),
  ])
  await engine.drain()
  expect(await stage.states(at.id)).toEqual(['2:held', '3:waiting'])
  expect(await supersedeAll(at, first)).toEqual({ ended: 0, inFlight: 0 })
  expect(await stage.dead(at.id)).toMatchObject([{ code: 'bad_address', resolution: 'superseded' }])
  await engine.drain()
  expect(await stage.ended(at.id)).toEqual(['2:succeeded', '3:succeeded'])
})

test('a dead letter whose effect may exist is left to a person', async () => {
  const action = giveUp({ keyed: true })
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  await stage
    .engine([handle(action, { perform: () => Promise.reject(new Error('the connection broke')) })])
    .engine.drain()
  expect(await stage.states(at.id)).toEqual(['2:held'])
  expect(await supersedeAll(at, action)).toEqual({ ended: 1, inFlight: 1 })
  expect(await stage.dead(at.id)).toMatchObject([{ class: 'uncertain', resolution: null }])
})
