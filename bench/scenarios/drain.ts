import {
  ENGINE,
  ENGINE_PREPARING,
  FLOOR,
  GRAPHILE,
  GRAPHILE_BATCHED,
  PG_BOSS,
  startContestant,
  type Contestant,
} from '../contestant.ts'
import { inTurns, recorder, type Recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const ROWS = { full: 20_000, quick: 3_000 }
const CONTENDERS = [ENGINE, ENGINE_PREPARING, FLOOR, GRAPHILE_BATCHED, GRAPHILE, PG_BOSS]

/** Adds rows, then has them drained, and notes what both cost. */
export const addAndDrain = async (
  server: Server,
  { url, ask, name }: Contestant,
  rows: number,
  { note }: Pick<Recorder, 'note'>,
): Promise<void> => {
  await ask({ type: 'clear' })
  const before = await server.usage(url)
  const added = await ask({ type: 'add', from: 0, count: rows })
  const between = await server.usage(url)
  await server.settle(url)
  const begun = await server.usage(url)
  const drained = await ask({ type: 'drain', rows, untilEmpty: true })
  const after = await server.usage(url)
  const perThousand = (childMs = 0, serverMs: number): number => ((childMs + serverMs) / rows) * 1_000
  note(name, 'drain', 'rows/s', rows / ((drained.ms ?? 0) / 1_000))
  note(name, 'enqueue in bulk', 'rows/s', rows / ((added.ms ?? 0) / 1_000))
  const wal = between.walBytes - before.walBytes + after.walBytes - begun.walBytes
  note(name, 'WAL, enqueue to end', 'B/row', wal / rows)
  note(name, 'dead tuples, enqueue to end', 'per row', (after.deadTuples - before.deadTuples) / rows)
  note(
    name,
    'processor time, enqueue',
    'ms per 1,000 rows',
    perThousand(added.cpuMs, between.cpuMs - before.cpuMs),
  )
  note(
    name,
    'processor time, drain',
    'ms per 1,000 rows',
    perThousand(drained.cpuMs, after.cpuMs - begun.cpuMs),
  )
}

export const drain: Scenario = {
  name: 'drain',
  title: 'Rows whose handler does nothing, from enqueue to the end',
  needsPeers: true,
  run: async ({ server, quick, repetitions, tell }) => {
    const rows = quick ? ROWS.quick : ROWS.full
    const { note, series } = recorder()
    const contestants: Contestant[] = []
    try {
      for (const [n, name] of CONTENDERS.entries()) {
        contestants.push(await startContestant(server, name, `drain_${n}`))
      }
      // Compilers and caches are warm before anything counts.
      for (const each of contestants) await addAndDrain(server, each, rows / 5, { note: () => undefined })
      await inTurns(repetitions, contestants, async (each, repetition) => {
        await addAndDrain(server, each, rows, { note })
        tell(`${repetition + 1}. ${each.name}: ${lastOf(series, each.name).toFixed(0)} rows/s`)
      })
    } finally {
      for (const each of contestants) await each.end()
    }
    return { scenario: 'drain', title: drain.title, series, notes: notesFor(rows) }
  },
}

const lastOf = (series: Recorder['series'], contender: string): number =>
  series.find((each) => each.contender === contender && each.measure === 'drain')?.values.at(-1) ?? Number.NaN

const notesFor = (rows: number): readonly string[] => [
  `${rows} rows of about 200 bytes; one process each, 25 connections; rows in hand: ours 2,000, graphile-worker 500, pg-boss four fetches of 500.`,
  `“${ENGINE}” is the whole engine with a handler that reads nothing first, as the peers': every row is started by its claim, settled under its fence, and leaves history, an attempt record and its identity behind.`,
  `“${ENGINE_PREPARING}” looks at each row again first, in a transaction of its tenant that Prisma opens: what every domain here does.`,
  `“${FLOOR}” runs the engine's own statements in a loop, without the engine: an upper bound for it.`,
  'graphile-worker deletes a job by its id, whoever completes it, and keeps nothing of it. pg-boss keeps the row, updated, and is given jobs as they were fetched, so that a lapsed claim completes nothing. Neither keeps a record of each attempt.',
]
