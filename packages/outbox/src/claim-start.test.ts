import type { Db, Tx } from '@aftercommit/platform/db'
import { done, payloadHandlerOf, type Outcome } from './index.ts'
import { claimRows, claimSoloRow, type ClaimedRow } from './sql.ts'
import { claimantOf, giveUp, handle, HOUR, MINUTE, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()

type Action = ReturnType<typeof safe> | ReturnType<typeof giveUp>

const seesNothingFirst = (action: Action, perform: () => Promise<Outcome<unknown>>) =>
  payloadHandlerOf<Tx>()(action, { perform })

const claimantThatStarts = (action: Action) => {
  const { replicaId, terms } = claimantOf(action)
  return { replicaId, terms: terms.map((each) => ({ ...each, starts: true })) }
}

/** Claims as a worker that starts rows with the claim, and then dies. */
const claimedAndBegun = async (action: Action): Promise<readonly ClaimedRow[]> =>
  (await claimRows(stage.database.dispatcher, claimantThatStarts(action), action.lane, 10)).rows

/** The dispatcher's database, and a moment between the commit of a claim and its answer. */
const whenClaimed = (claimed: () => Promise<void>): Db => ({
  ...stage.database.dispatcher,
  query: async (text, values) => {
    const result = await stage.database.dispatcher.query(text, values)
    if (text.includes('outbox_pick(') && result.rows.length > 0) await claimed()
    return result as never
  },
})

const startedOf = async (id: string): Promise<boolean | undefined> => {
  const { rows } = await stage.database.owner.query<{ started: boolean }>(
    'select started_at is not null as started from outbox where aggregate_id = $1',
    [id],
  )
  return rows[0]?.started
}

const answersDone = () => Promise.resolve(done<unknown>(undefined))

test.each([
  ['a safe row whose handler sees nothing first', safe, seesNothingFirst, { started: true, attempts: 1 }],
  ['a row that may not be repeated', giveUp, seesNothingFirst, { started: false, attempts: 0 }],
  ['a row that is prepared', safe, (action: Action) => handle(action), { started: false, attempts: 0 }],
])('by its claim, %s is started or not', async (_, define, register, expected) => {
  const action = define()
  const { id } = await stage.enqueue(requestsOf(action, [1]))
  const seen: unknown[] = []
  const db = whenClaimed(async () => {
    const [row] = await stage.live(id)
    seen.push({ started: await startedOf(id), attempts: row?.attempts })
  })
  await stage.engine([register(action, answersDone)], { db }).engine.drain()
  expect(seen).toEqual([expected])
  expect(await stage.attempts(id)).toEqual(['succeeded'])
})

test('a row that was begun and not called about is handed back with its attempt', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  let calls = 0
  const db = whenClaimed(() => {
    void engine.stop(MINUTE)
    return Promise.resolve()
  })
  const perform = () => {
    calls += 1
    return answersDone()
  }
  const { engine } = stage.engine([seesNothingFirst(ping, perform)], { db })
  await engine.drain()
  expect(calls).toBe(0)
  expect(await stage.live(id)).toMatchObject([{ state: 'ready', attempts: 0, uncertain: false, solo: false }])
  expect(await startedOf(id)).toBe(false)
  const { rows } = await stage.database.owner.query(
    'select budget_from, first_started_at from outbox where aggregate_id = $1',
    [id],
  )
  expect(rows).toEqual([{ budget_from: null, first_started_at: null }])
  expect(await stage.attempts(id)).toEqual(['handed_back:shutdown'])
})

test('rows of a worker that died between claim and contact run alone, and have spent nothing', async () => {
  const ping = safe({ attemptsMax: 1, elapsedMaxMs: HOUR })
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2]))
  expect(await claimedAndBegun(ping)).toHaveLength(2)
  // Longer than all of their hours.
  await stage.database.advanceClock(2 * HOUR)
  const { engine } = stage.engine([seesNothingFirst(ping, answersDone)])
  // Both are taken over, and one of them runs.
  expect(await engine.tick()).toEqual({ rescued: 2, claimed: 1 })
  expect(await stage.live(id)).toMatchObject([{ state: 'ready', attempts: 0, solo: true, uncertain: true }])
  await engine.drain()
  expect([...(await stage.ended(id))].sort()).toEqual(['1:succeeded', '2:succeeded'])
})

test('a row that kills its worker each time ends, whatever its claim gives back', async () => {
  const ping = safe({ attemptsMax: 2 })
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  let lives = 0
  while ((await stage.live(id)).length > 0 && lives < 10) {
    lives += 1
    await stage.untilDeath(({ die }) => [
      seesNothingFirst(ping, () => {
        die()
        return new Promise(() => undefined)
      }),
    ])
    await stage.database.advanceClock(MINUTE + 1)
  }
  // Once beside others, which is not counted, then twice alone; the last look ends it.
  expect(lives).toBe(4)
  expect(await stage.dead(id)).toMatchObject([{ class: 'uncertain', attempts: 2 }])
})

test('a row that is claimed alone is not started by its claim', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  await stage.database.owner.query('update outbox set solo = true where aggregate_id = $1', [id])
  const { rows } = await claimSoloRow(stage.database.dispatcher, claimantThatStarts(ping), [ping.lane])
  expect(rows).toHaveLength(1)
  expect(await startedOf(id)).toBe(false)
})

test('a doomed row is not started: it is claimed only to be ended', async () => {
  const ping = safe({ keyed: true, onPredecessorDead: 'die' })
  const { id } = await stage.enqueue(requestsOf(ping, [1, 2]))
  const dies = () => Promise.resolve({ type: 'dead', class: 'terminal', code: 'gone' } as const)
  await stage.engine([seesNothingFirst(ping, dies)]).engine.drain()
  expect(await stage.dead(id)).toMatchObject([
    { n: 1, code: 'gone', attempts: 1, checkpoint: 'started' },
    { n: 2, code: 'predecessor_dead', attempts: 0, checkpoint: 'claimed' },
  ])
})

test('budgets of a begun row are counted like any other’s', async () => {
  const ping = safe({ attemptsMax: 2 })
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  const { engine } = stage.engine([
    seesNothingFirst(ping, () => Promise.resolve({ type: 'retry', code: 'busy' })),
  ])
  await engine.drain()
  expect(await stage.live(id)).toMatchObject([{ state: 'scheduled', attempts: 1 }])
  await stage.database.advanceClock(MINUTE)
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([{ attempts: 2, checkpoint: 'started' }])
})

test('a holder that comes to a begun row after its lease calls nobody', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  let calls = 0
  const db = whenClaimed(async () => {
    const woken = performance.now() + 2
    while (performance.now() < woken) await new Promise((resolve) => setImmediate(resolve))
  })
  const perform = () => {
    calls += 1
    return answersDone()
  }
  const { engine, events } = stage.engine([seesNothingFirst(ping, perform)], { db, leaseMs: 1 })
  await engine.tick()
  expect(calls).toBe(0)
  expect(events.filter(({ type }) => type === 'stale')).toEqual([
    { type: 'stale', action: ping.name, step: 'start' },
  ])
  expect(await stage.states(id)).toEqual(['1:leased'])
})

test('a begun row whose payload cannot be read is a dead letter that says it was started', async () => {
  const ping = safe()
  const { id } = await stage.enqueue(requestsOf(ping, [1]))
  await stage.database.owner.query(`update outbox set payload = '{"n": 1}' where aggregate_id = $1`, [id])
  await stage.engine([seesNothingFirst(ping, answersDone)]).engine.drain()
  expect(await stage.dead(id)).toMatchObject([
    { class: 'validation', code: 'payload_unreadable', checkpoint: 'started', attempts: 1 },
  ])
})
