/** A thousand times: a holder whose lease ran out and its successor settle at the same moment. */
import { envelopeOf } from './envelope.ts'
import { settleRow, type SettleResult } from './settle.ts'
import { type ClaimedRow, finishRows, markStarted, takeOverLostRows } from './sql.ts'
import { changeThing, claimantOf, handle, MINUTE, requestsOf, safe, upTo, useStage } from './stage.testing.ts'

const stage = useStage()
const RACES = 1_000
/** Of those that carry a domain change, each of which is a transaction of its own. */
const DOMAIN_RACES = 200

/** Rows that one holder has started on and another has taken over: each pair holds one row under two fences. */
const takenOver = async (action: ReturnType<typeof safe>, rows: number) => {
  const { dispatcher } = stage.database
  const { id } = await stage.enqueue(requestsOf(action, upTo(rows)))
  const late = await stage.claimed(action, rows)
  await markStarted(dispatcher, late)
  await stage.database.advanceClock(2 * MINUTE)
  const heirs = await takeOverLostRows(dispatcher, claimantOf(action), rows)
  const heirById = new Map(heirs.map((row) => [row.id, row]))
  const pairs = late.flatMap((row) => {
    const heir = heirById.get(row.id)
    return heir ? [{ late: row, heir }] : []
  })
  expect(pairs).toHaveLength(rows)
  return { id, pairs }
}

test(`of ${DOMAIN_RACES} domain changes of holders that are too late, raced by their successors, none is accepted`, async () => {
  const action = safe()
  const { id, pairs } = await takenOver(action, DOMAIN_RACES)
  const { handler } = handle(action, {
    settle: async (tx, { payload }, outcome) => {
      if (outcome.type === 'done') await changeThing(tx, payload.id, String(outcome.facts))
      return []
    },
  })
  const settle = (row: ClaimedRow, holder: string): Promise<SettleResult> =>
    settleRow(stage.database.dispatcher, {
      row,
      action,
      handler,
      envelope: envelopeOf(row, action),
      outcome: { type: 'done', facts: holder },
      plan: undefined,
      calls: [],
      solo: false,
      uncertain: undefined,
      countAttempt: false,
    })
  const accepted = { late: 0, heir: 0 }
  const queue = [...pairs]
  const race = async (): Promise<void> => {
    for (let pair = queue.pop(); pair; pair = queue.pop()) {
      const [late, heir] = await Promise.all([settle(pair.late, 'late'), settle(pair.heir, 'heir')])
      if (late === 'settled') accepted.late++
      if (heir === 'settled') accepted.heir++
    }
  }
  await Promise.all(upTo(8).map(race))
  expect(accepted).toEqual({ late: 0, heir: DOMAIN_RACES })
  expect(await stage.ended(id)).toHaveLength(DOMAIN_RACES)
  expect(await stage.live(id)).toEqual([])
  expect(await stage.thing(id)).toEqual({ state: 'heir', changes: DOMAIN_RACES })
})

test(`of ${RACES} settles of holders that are too late, raced in batches by their successors, none is accepted`, async () => {
  const action = safe()
  const { id, pairs } = await takenOver(action, RACES)
  const ending = ({ id, fence }: ClaimedRow) =>
    ({ id, fence, outcome: 'succeeded', reason: undefined, calls: [] }) as const
  const accepted = { late: 0, heir: 0 }
  const batches = upTo(20).map((n) => pairs.slice(n * 50, (n + 1) * 50))
  await Promise.all(
    batches.flatMap((batch) => [
      finishRows(
        stage.database.dispatcher,
        batch.map(({ late }) => ending(late)),
      ).then(({ size }) => void (accepted.late += size)),
      finishRows(
        stage.database.dispatcher,
        batch.map(({ heir }) => ending(heir)),
      ).then(({ size }) => void (accepted.heir += size)),
    ]),
  )
  expect(accepted).toEqual({ late: 0, heir: RACES })
  expect(await stage.ended(id)).toHaveLength(RACES)
})

test('of a take-over and a settle at the same moment, exactly one is accepted', async () => {
  const action = safe()
  const { dispatcher } = stage.database
  const { id } = await stage.enqueue(requestsOf(action, upTo(200)))
  const held = await stage.claimed(action, 200)
  await stage.database.advanceClock(2 * MINUTE)
  const [taken, settled] = await Promise.all([
    Promise.all(upTo(20).map(() => takeOverLostRows(dispatcher, claimantOf(action), 10))),
    Promise.all(
      held.map(({ id, fence }) =>
        finishRows(dispatcher, [{ id, fence, outcome: 'succeeded', reason: undefined, calls: [] }]),
      ),
    ),
  ])
  const takenIds = taken.flat().map((row) => row.id)
  const settledIds = settled.flatMap((ids) => [...ids.keys()])
  expect(new Set([...takenIds, ...settledIds]).size).toBe(takenIds.length + settledIds.length)
  expect((await stage.ended(id)).length).toBe(settledIds.length)
})
