import { done } from './index.ts'
import { type ClaimedRow, claimRows, noteLaneTurn } from './sql.ts'
import { claimantOf, handle, HOUR, MINUTE, requestsOf, safe, upTo, useStage } from './stage.testing.ts'

const stage = useStage()

/** Claims like a dispatcher that tells the lane's turn after every batch. */
const claimed = async (action: ReturnType<typeof safe>, rowsMax: number): Promise<readonly ClaimedRow[]> => {
  const { dispatcher } = stage.database
  const rows = await stage.claimed(action, rowsMax)
  const last = rows.at(-1)
  if (last) await noteLaneTurn(dispatcher, action.lane, BigInt(last.turn) + 1n)
  return rows
}

/** How many of the flood’s rows are claimed before the other tenant’s row is. */
const claimedBefore = async (
  action: ReturnType<typeof safe>,
  tenant: string,
  batch: number,
): Promise<number> => {
  for (let before = 0; ;) {
    const rows = await claimed(action, batch)
    if (rows.length === 0) throw new Error('the row was never claimed')
    const index = rows.findIndex((row) => row.tenant_id === tenant)
    if (index >= 0) return before + index
    before += rows.length
  }
}

test('a flood of one tenant delays another tenant’s row by a row or two', async () => {
  const action = safe()
  await stage.enqueue(requestsOf(action, upTo(2_000)))
  const quiet = await stage.enqueue(requestsOf(action, [1]))
  expect(await claimedBefore(action, quiet.tenant, 1)).toBeLessThanOrEqual(1)
})

test('so it does in the middle of the flood, and however the flood was written', async () => {
  const action = safe()
  const flood = await stage.enqueue(requestsOf(action, upTo(1_000)))
  for (let n = 1_000; n < 1_050; n++) await stage.enqueue(requestsOf(action, [n]), flood)
  for (let batch = 0; batch < 5; batch++) await claimed(action, 100)
  const quiet = await stage.enqueue(requestsOf(action, [1]))
  expect(await claimedBefore(action, quiet.tenant, 1)).toBeLessThanOrEqual(1)
})

test('tenants that all have more than enough take turns', async () => {
  const action = safe()
  const tenants: string[] = []
  for (let i = 0; i < 4; i++)
    tenants.push((await stage.enqueue(requestsOf(action, upTo(50 * (i + 1))))).tenant)
  const first = await claimed(action, 40)
  const rowsOf = (tenant: string): number => first.filter((row) => row.tenant_id === tenant).length
  expect(tenants.map(rowsOf)).toEqual([10, 10, 10, 10])
})

test('a tenant that was quiet has saved nothing: its own flood takes turns with the others from now on', async () => {
  const action = safe()
  const flood = await stage.enqueue(requestsOf(action, upTo(500)))
  await claimed(action, 200)
  const late = await stage.enqueue(requestsOf(action, upTo(500)))
  const next = await claimed(action, 100)
  const share = next.filter((row) => row.tenant_id === late.tenant).length
  expect(share).toBeGreaterThanOrEqual(49)
  expect(share).toBeLessThanOrEqual(51)
  expect(next.some((row) => row.tenant_id === flood.tenant)).toBe(true)
})

test('rows of one tenant keep the order in which they became ready', async () => {
  const action = safe()
  const at = await stage.enqueue(requestsOf(action, [0, 1, 2]))
  await stage.enqueue(requestsOf(action, [3, 4]), at)
  const rows = await claimed(action, 10)
  expect(rows.map(({ payload }) => payload)).toEqual(upTo(5).map((n) => ({ id: at.id, n })))
})

test('a flood that falls due at once takes turns like one that was just written', async () => {
  const action = safe()
  const { rows } = await stage.database.owner.query<{ later: Date }>(
    `select app_now() + interval '1 hour' as later`,
  )
  const later = rows[0]?.later ?? new Date(Number.NaN)
  await stage.enqueue(requestsOf(action, upTo(300), { notBefore: later }))
  await stage.database.advanceClock(HOUR + MINUTE)
  const seen: string[] = []
  const { engine } = stage.engine(
    [
      handle(action, {
        perform: ({ id }) => {
          seen.push(id)
          return Promise.resolve(done(undefined))
        },
      }),
    ],
    { laneByName: { [action.lane]: { concurrency: 10, claimMax: 10 } } },
  )
  await engine.tick()
  const quiet = await stage.enqueue(requestsOf(action, [1]))
  await engine.tick()
  await engine.tick()
  expect(seen.indexOf(quiet.id)).toBeGreaterThan(0)
  expect(seen.indexOf(quiet.id)).toBeLessThan(40)
})

test('a row freed behind its predecessor takes its place behind what its tenant has ready', async () => {
  const keyed = safe({ keyed: true, lane: 'keyed_and_flooded' })
  const other = safe({ lane: 'keyed_and_flooded' })
  const at = await stage.enqueue(requestsOf(keyed, [1, 2]))
  const { engine } = stage.engine([handle(keyed)], { laneByName: {} })
  await stage.enqueue(requestsOf(other, upTo(20)), { tenant: at.tenant })
  await engine.tick()
  expect(await stage.states(at.id)).toEqual(['2:ready'])
  const { rows } = await claimRows(stage.database.dispatcher, claimantOf(keyed, other), other.lane, 30)
  expect(rows.at(-1)?.payload).toMatchObject({ id: at.id })
})
