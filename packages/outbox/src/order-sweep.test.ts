import { orderSweepOf } from './order-sweep.ts'
import type { EngineEvent } from './engine.ts'
import { done, type Outcome } from './index.ts'
import { findBrokenKeys, mendKey } from './sql.ts'
import { handle, HOUR, inTurn, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

/** A sweep over everything, and what it reports. */
const swept = async (): Promise<{ readonly mended: number; readonly events: readonly EngineEvent[] }> => {
  const events: EngineEvent[] = []
  const sweep = orderSweepOf({
    db: stage.database.dispatcher,
    report: (event) => void events.push(event),
  })
  return { mended: await sweep(), events }
}

/** What no statement of the engine does: only a defect, or a hand in the tables. */
const put = (id: string, n: number, state: string) =>
  stage.database.owner.query(
    `update outbox set state = $3::outbox_state where aggregate_id = $1 and payload->>'n' = $2`,
    [id, String(n), state],
  )

test('after waiting, holding, dying, retrying and replaying, the sweep finds every key in order', async () => {
  const action = safe({ keyed: true })
  const other = safe({ keyed: true, onPredecessorDead: 'run' })
  for (let i = 0; i < 10; i++) {
    const at = await stage.enqueue(requestsOf(action, [1, 2, 3]))
    await stage.enqueue(requestsOf(other, [4, 5]), at)
  }
  const answers: readonly Outcome<unknown>[] = [
    { type: 'dead', class: 'terminal', code: 'no' },
    { type: 'retry', code: 'busy' },
    { type: 'throttled', code: 'slow_down', afterMs: HOUR },
    done(undefined),
  ]
  let turn = 0
  const perform = () => Promise.resolve(answers[turn++ % answers.length] ?? done(undefined))
  const { engine } = stage.engine([handle(action, { perform }), handle(other, { perform })])
  for (let round = 0; round < 5; round++) {
    await engine.tick()
    await stage.database.advanceClock(10_000)
  }
  expect(await swept()).toEqual({ mended: 0, events: [] })
})

test('a key whose first row waits for nobody is freed, and the repair is reported', async () => {
  const action = safe({ keyed: true })
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  await put(at.id, 1, 'waiting')
  expect(await swept()).toEqual({ mended: 1, events: [{ type: 'order_mended', rows: 1 }] })
  expect(await stage.states(at.id)).toEqual(['1:ready', '2:waiting'])
  expect((await swept()).mended).toBe(0)
})

test('rows that run ahead of their predecessor wait again, but for one that somebody has in hand', async () => {
  const action = safe({ keyed: true })
  const at = await stage.enqueue(requestsOf(action, [1, 2, 3]))
  await put(at.id, 2, 'ready')
  await put(at.id, 3, 'ready')
  await put(at.id, 3, 'leased')
  expect((await swept()).mended).toBe(1)
  expect(await stage.states(at.id)).toEqual(['1:ready', '2:waiting', '3:leased'])
})

test('rows held for a letter that is no longer there go on', async () => {
  const action = safe({ keyed: true })
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  await stage
    .engine([
      handle(action, { perform: inTurn<Outcome<unknown>>({ type: 'dead', class: 'terminal', code: 'no' }) }),
    ])
    .engine.drain()
  expect(await stage.states(at.id)).toEqual(['2:held'])
  expect((await swept()).mended).toBe(0)
  await stage.database.owner.query(
    `update outbox_dead set resolution = 'superseded' where aggregate_id = $1`,
    [at.id],
  )
  expect((await swept()).mended).toBe(1)
  expect(await stage.states(at.id)).toEqual(['2:ready'])
})

test('a repair of a key that has come into order meanwhile moves nothing', async () => {
  const action = safe({ keyed: true })
  const at = await stage.enqueue(requestsOf(action, [1, 2]))
  expect(await mendKey(stage.database.dispatcher, { tenantId: at.tenant, key: `thing:${at.id}` })).toEqual({
    mended: 0,
    lane: undefined,
  })
})

test('a look is bounded, goes on behind its last key, and comes round', async () => {
  const action = safe({ keyed: true })
  const tenant = await stage.database.createTenant()
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await stage.enqueue(requestsOf(action, [1, 2]), { tenant })).id)
  for (const id of ids) await put(id, 1, 'waiting')
  const seen: string[] = []
  let after: Parameters<typeof findBrokenKeys>[1]
  do {
    const { broken, last } = await findBrokenKeys(stage.database.dispatcher, after, 2)
    expect(broken.length).toBeLessThanOrEqual(2)
    seen.push(...broken.map(({ key }) => key))
    after = last
  } while (after)
  expect(new Set(seen)).toEqual(new Set(ids.map((id) => `thing:${id}`)))
  expect(seen).toHaveLength(5)
})
