import { gate } from '@aftercommit/testing'
import { enqueue } from './enqueue.ts'
import { done, go, type ActionRequest } from './index.ts'
import { meetingOf } from './rivals.testing.ts'
import { finishUnkeyedRows } from './settle.ts'
import { finishRows, markStarted, releaseRow, restUnknown, takeOverLostRows } from './sql.ts'
import { changeThing, claimantOf, handle, MINUTE, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

test('the domain change, the row’s end and what follows commit together', async () => {
  const first = safe()
  const next = safe()
  const { id } = await stage.enqueue(requestsOf(first, [1]))
  const { engine } = stage.engine([
    handle(first, {
      settle: async (tx, { payload }) => {
        await changeThing(tx, payload.id, 'settled')
        return [next.request({ id: payload.id, n: 2 })]
      },
    }),
  ])
  await engine.drain()
  expect(await stage.thing(id)).toEqual({ state: 'settled', changes: 1 })
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
  expect(await stage.states(id)).toEqual(['2:ready'])
})

test('a rollback leaves neither the domain change nor the row', async () => {
  const ping = safe()
  const { tenant, id } = await stage.enqueue(requestsOf(ping, [1]))
  const failed = stage.database.api.transact(tenant, async (tx) => {
    await changeThing(tx, id, 'never')
    await enqueue(tx, [ping.request({ id, n: 2 })])
    throw new Error('changed my mind')
  })
  await expect(failed).rejects.toThrow('changed my mind')
  expect(await stage.thing(id)).toEqual({ state: 'new', changes: 0 })
  expect(await stage.states(id)).toEqual(['1:ready'])
})

test('a holder whose lease ran out settles nothing, and its domain change is rolled back', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const calling = gate()
  const holders: string[] = []
  const registration = (name: string, perform: () => Promise<void>) =>
    handle(ping, {
      perform: async () => {
        await perform()
        return done(undefined)
      },
      settle: async (tx, { payload }) => {
        holders.push(name)
        await changeThing(tx, payload.id, name)
        return []
      },
    })
  const slow = stage.engine([registration('slow', () => calling.pass())])
  const slowTick = slow.engine.tick()
  await calling.arrived
  await stage.database.advanceClock(2 * MINUTE)
  await stage.engine([registration('quick', () => Promise.resolve())]).engine.drain()
  calling.open()
  await slowTick
  expect(holders).toEqual(['quick', 'slow'])
  expect(await stage.thing(id)).toEqual({ state: 'quick', changes: 1 })
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
  expect(slow.events).toContainEqual({ type: 'stale', action: ping.name, step: 'settle' })
})

test('a stale holder’s Prisma statements are rolled back with the rest', async () => {
  const ping = safe()
  const { tenant, id } = await stage.enqueue(requestsOf(ping, [1]))
  const calling = gate()
  const seen: (string | undefined)[] = []
  const { engine } = stage.engine([
    handle(ping, {
      perform: () => calling.pass().then(() => done(undefined)),
      settle: async (tx, { payload }) => {
        await tx.prisma.$executeRaw`update thing set state = 'by prisma' where thing_id = ${payload.id}::uuid`
        seen.push((await tx.prisma.tenant.findFirst())?.tenantId)
        return []
      },
    }),
  ])
  const tick = engine.tick()
  await calling.arrived
  await stage.database.owner.query('update outbox set fence = fence + 1 where aggregate_id = $1', [id])
  calling.open()
  await tick
  expect(seen).toEqual([tenant])
  expect((await stage.thing(id)).state).toBe('new')
  expect(await stage.states(id)).toEqual(['1:leased'])
})

test('a holder whose start is not accepted calls nobody', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const preparing = gate()
  let calls = 0
  const { engine, events } = stage.engine([
    handle(ping, {
      prepare: async (_tx, { payload }) => {
        await preparing.pass()
        return go(payload)
      },
      perform: () => {
        calls++
        return Promise.resolve(done(undefined))
      },
    }),
  ])
  const tick = engine.tick()
  await preparing.arrived
  await stage.database.advanceClock(2 * MINUTE)
  preparing.open()
  await tick
  expect(calls).toBe(0)
  expect(events).toContainEqual({ type: 'stale', action: ping.name, step: 'start' })
  expect(await stage.live(id)).toMatchObject([{ state: 'leased', attempts: 0 }])
})

test('a start that is noted twice, because the first answer was lost, counts one attempt', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const row = await stage.claimedOne(ping)
  for (let i = 0; i < 2; i++)
    expect([...(await markStarted(stage.database.dispatcher, [row])).keys()]).toEqual([row.id])
  expect(await stage.live(id)).toMatchObject([{ attempts: 1 }])
})

test.each(['a rescuer that took it over', 'the question about it', 'nobody, after a retry'] as const)(
  'once a row is with %s, its former holder neither starts nor ends it',
  async (heir) => {
    const action = safe()
    const { dispatcher } = stage.database
    const { id } = await stage.enqueue(requestsOf(action, [1]))
    const held = await stage.claimedOne(action)
    const settled = { id: held.id, fence: held.fence, code: 'test', calls: [] }
    switch (heir) {
      case 'a rescuer that took it over':
        await stage.database.advanceClock(2 * MINUTE)
        expect(await takeOverLostRows(dispatcher, claimantOf(action), 1)).toHaveLength(1)
        break
      case 'the question about it': {
        const question = { correlation: {}, reconcileAction: `${action.name}#reconcile` }
        expect(await restUnknown(dispatcher, { ...settled, ...question })).toBe(true)
        await stage.database.owner.query(
          `update outbox set lease_until = app_now() + interval '1 hour' where aggregate_id = $1`,
          [id],
        )
        break
      }
      case 'nobody, after a retry': {
        const back = { delayMs: 0, attemptsChange: 0, solo: false, uncertain: undefined } as const
        expect(await releaseRow(dispatcher, { ...settled, ...back, outcome: 'retrying' })).toBe(true)
        break
      }
    }
    const before = await stage.live(id)
    const ending = { ...settled, outcome: 'succeeded', reason: undefined } as const
    expect((await markStarted(dispatcher, [held])).size).toBe(0)
    expect((await finishRows(dispatcher, [ending])).size).toBe(0)
    expect((await stage.live(id)).map(({ state, attempts }) => [state, attempts])).toEqual(
      before.map(({ state, attempts }) => [state, attempts]),
    )
  },
)

test('of a batch of endings, exactly those under the right fence are accepted', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2, 3, 4]))
  const rows = await stage.claimed(ping, 4)
  const finishes = rows.map((row, index) => ({
    id: row.id,
    fence: index % 2 === 0 ? row.fence : String(BigInt(row.fence) - 1n),
    outcome: 'succeeded' as const,
    reason: undefined,
    calls: [],
  }))
  const accepted = await finishRows(stage.database.dispatcher, finishes)
  expect([...accepted.keys()]).toEqual([rows[0]?.id, rows[2]?.id])
  expect(await stage.states(id)).toEqual(['2:leased', '4:leased'])
})

test('a holder that is too late and its successor may settle in one batch, and each is told its own', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const late = await stage.claimedOne(ping)
  await stage.database.advanceClock(2 * MINUTE)
  const [heir] = await takeOverLostRows(stage.database.dispatcher, claimantOf(ping), 1)
  if (!heir) throw new Error('the lease has run out')
  const items = [late, heir, late].map((row) => ({
    row,
    finish: { id: row.id, fence: row.fence, outcome: 'succeeded' as const, reason: undefined, calls: [] },
  }))
  expect(await finishUnkeyedRows(stage.database.dispatcher, items)).toEqual(['stale', 'settled', 'stale'])
  expect(await stage.ended(id)).toEqual(['1:succeeded'])
})

test('a settle that loses a deadlock is made again, and its effect is not', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  let performed = 0
  let settles = 0
  const { engine, events } = stage.engine([
    handle(ping, {
      perform: () => {
        performed++
        return Promise.resolve(done(undefined))
      },
      settle: async (tx, { payload }): Promise<readonly ActionRequest[]> => {
        await changeThing(tx, payload.id, 'settled')
        if (++settles === 1)
          await tx.sql.query(`do $$ begin raise exception 'chosen' using errcode = '40P01'; end $$`)
        return []
      },
    }),
  ])
  await engine.drain()
  expect({ performed, settles }).toEqual({ performed: 1, settles: 2 })
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  expect(await stage.thing(id)).toEqual({ state: 'settled', changes: 1 })
})

test('two settles that free each other’s keys do not deadlock', async () => {
  const left = safe({ keyed: true })
  const right = safe({ keyed: true })
  const one = await stage.enqueue(requestsOf(left, [1]))
  const two = await stage.enqueue(requestsOf(right, [1]), { tenant: one.tenant })
  const meet = meetingOf(2)
  let settles = 0
  const follow = (other: typeof left, id: string) => async () => {
    settles++
    await meet()
    return [other.request({ id, n: 2 })]
  }
  const { engine } = stage.engine([
    handle(left, { settle: follow(right, two.id) }),
    handle(right, { settle: follow(left, one.id) }),
  ])
  await engine.tick()
  expect(settles).toBe(2)
  expect(await stage.states(one.id)).toEqual(['2:ready'])
  expect(await stage.states(two.id)).toEqual(['2:ready'])
})
