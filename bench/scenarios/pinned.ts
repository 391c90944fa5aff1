import { ENGINE, FLOOR, GRAPHILE_BATCHED, PG_BOSS, startContestant, type Contestant } from '../contestant.ts'
import { median } from '../results.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const SECONDS = { full: { free: 10, pinned: 40 }, quick: { free: 2, pinned: 4 } }
const SAMPLE_MS = 1_000
const BACKLOG = 5_000
/** The rate at the end is that of this part of the pinned time. */
const LAST_PART = 0.25

export const pinned: Scenario = {
  name: 'pinned',
  title: 'While an old snapshot is open, so that nothing can be cleared away',
  needsPeers: true,
  run: async ({ server, quick, repetitions, tell }) => {
    const seconds = quick ? SECONDS.quick : SECONDS.full
    const { note, series } = recorder()
    const contestants: Contestant[] = []
    try {
      for (const [n, name] of [ENGINE, FLOOR, GRAPHILE_BATCHED, PG_BOSS].entries()) {
        contestants.push(await startContestant(server, name, `pinned_${n}`))
      }
      // One repetition is long enough to show that it runs.
      await inTurns(quick ? 1 : repetitions, contestants, async (each) => {
        const { free, late } = await freeAndPinned(server, each, seconds)
        note(each.name, 'free', 'rows/s', free)
        note(each.name, `after ${seconds.pinned} s pinned`, 'rows/s', late)
        note(each.name, 'kept', '×', late / free)
        tell(`${each.name}: ${free.toFixed(0)} → ${late.toFixed(0)} rows/s, ${(late / free).toFixed(2)}×`)
      })
    } finally {
      for (const each of contestants) await each.end()
    }
    const notes = [
      `A producer in the same process keeps ${BACKLOG} rows ahead of the workers; rates are medians of seconds, “pinned” those of the last quarter of ${seconds.pinned} s in which a REPEATABLE READ transaction with a transaction id stays open.`,
      'The engine’s own work per row hides part of what its claims lose, and the bare statements wait for their producer; read the rates as well.',
      'The bar is on what each keeps of its own rate; who is faster is another table.',
    ]
    return { scenario: 'pinned', title: pinned.title, series, notes }
  },
}

const freeAndPinned = async (
  server: Server,
  { url, ask }: Contestant,
  seconds: { readonly free: number; readonly pinned: number },
): Promise<{ free: number; late: number }> => {
  await ask({ type: 'clear' })
  await server.settle(url)
  const steady = { type: 'steady', sampleMs: SAMPLE_MS, backlog: BACKLOG } as const
  const first = await ask({ ...steady, seconds: seconds.free, from: 0 })
  const late = await server.on(url, (sql) =>
    withOldSnapshot(sql, async () => {
      const { samples = [] } = await ask({ ...steady, seconds: seconds.pinned, from: first.written ?? 0 })
      return samples.slice(-Math.ceil(samples.length * LAST_PART))
    }),
  )
  return { free: median((first.samples ?? []).slice(1)), late: median(late) }
}

/** As a long report would, and one that has written. */
const withOldSnapshot = async <R>(
  sql: { query(text: string): Promise<unknown> },
  work: () => Promise<R>,
): Promise<R> => {
  await sql.query('begin isolation level repeatable read')
  await sql.query('select pg_current_xact_id(), (select count(*) from pg_class)')
  try {
    return await work()
  } finally {
    await sql.query('commit')
  }
}
