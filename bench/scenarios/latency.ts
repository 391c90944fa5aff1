import {
  ENGINE,
  GRAPHILE,
  GRAPHILE_BATCHED,
  PG_BOSS,
  startContestant,
  type Contestant,
} from '../contestant.ts'
import { percentile } from '../results.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'

const ROWS = { full: 500, quick: 40 }
const GAP_MS = 20

export const latency: Scenario = {
  name: 'latency',
  title: 'From commit to the start of the handler, idle',
  needsPeers: true,
  run: async ({ server, quick, repetitions, tell }) => {
    const rows = quick ? ROWS.quick : ROWS.full
    const { note, series } = recorder()
    const contestants: Contestant[] = []
    try {
      for (const [n, name] of [ENGINE, GRAPHILE, GRAPHILE_BATCHED, PG_BOSS].entries()) {
        contestants.push(await startContestant(server, name, `latency_${n}`))
      }
      await inTurns(repetitions, contestants, async ({ name, url, ask }, repetition) => {
        await ask({ type: 'clear' })
        await server.settle(url)
        const { samples = [] } = await ask({ type: 'latency', rows, gapMs: GAP_MS })
        const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)]
        note(name, 'p50', 'ms', p50)
        note(name, 'p99', 'ms', p99)
        tell(`${repetition + 1}. ${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
      })
    } finally {
      for (const each of contestants) await each.end()
    }
    const notes = [
      `${rows} rows per repetition, one at a time, ${GAP_MS} ms apart on average; the clock starts when nothing is left of the writing transaction but its commit.`,
      'Writer and worker share a process. The engine’s handler reads nothing first, as the peers’; the row is started by its claim.',
      'pg-boss: a worker woken by LISTEN/NOTIFY. Both peers notify inside the writing transaction, the engine after it.',
    ]
    return { scenario: 'latency', title: latency.title, series, notes }
  },
}
