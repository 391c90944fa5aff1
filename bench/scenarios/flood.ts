import { setTimeout as pause } from 'node:timers/promises'
import { done, go, handlerOf, type Registration } from '@aftercommit/outbox'
import { createEngine } from '@aftercommit/outbox/engine'
import { enqueue } from '@aftercommit/outbox/enqueue'
import { openDb, type Db, type Tx } from '@aftercommit/platform/db'
import { noOpIn } from '../contenders/action.ts'
import { payloadOf } from '../contenders/contender.ts'
import type { Urls } from '../contenders/outbox-tables.ts'
import { insertRows } from '../outbox-sql.ts'
import { median, percentile } from '../results.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const ROWS = { full: 500, quick: 40 }
const FLOOD = { full: 100_000, quick: 10_000 }
const DYING = 45
/** How long a call to a model takes here, and how many run at a time. */
const MODEL_CALL_MS = 250
const MODEL_CALLS_MAX = 20
const GAP_MS = 20

/** The rows of outbox-sql.ts bear this action's name. */
const model = noOpIn({ name: 'bench.do_nothing', lane: 'ai' })
const calendar = noOpIn({ name: 'bench.touch_calendar', lane: 'calendar' })

export const flood: Scenario = {
  name: 'flood',
  title: 'Another lane, while one is flooded',
  needsPeers: false,
  run: async ({ server, quick, repetitions, tell }) => {
    const rows = quick ? ROWS.quick : ROWS.full
    const size = quick ? FLOOD.quick : FLOOD.full
    const { note, series } = recorder()
    const urls = await server.createOutbox('flood')
    const db = openDb({ url: urls.dispatcher, applicationName: 'bench', connectionsMax: 25 })
    try {
      const sides = ['without a flood', 'under the flood'] as const
      await inTurns(repetitions, sides, async (side, repetition) => {
        await fill(server, urls, side === 'under the flood' ? size : 0)
        const samples = await commitToHandler(db, urls.tenantId, rows)
        const [p50, p99] = [median(samples), percentile(samples, 0.99)]
        note(side, 'p50', 'ms', p50)
        note(side, 'p99', 'ms', p99)
        tell(`${repetition + 1}. ${side}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
      })
    } finally {
      await db.close()
    }
    const notes = [
      `Commit to handler start of ${rows} rows in one lane. In the other, of the same engine and process, ${size} rows are ready; ${MODEL_CALLS_MAX} at a time take ${MODEL_CALL_MS} ms each, and the first ${DYING} die.`,
    ]
    return { scenario: 'flood', title: flood.title, series, notes }
  },
}

const fill = async (server: Server, { owner, tenantId }: Urls, size: number): Promise<void> => {
  await server.on(owner, async (sql) => {
    await sql.query(
      'truncate outbox, outbox_identity, outbox_history, outbox_attempt, outbox_dead, outbox_lane',
    )
    if (size > 0) {
      await insertRows(sql, {
        prefix: 'flood',
        state: 'ready',
        count: size,
        tenants: [tenantId],
        lanes: ['ai'],
      })
    }
  })
  await server.settle(owner)
}

const modelCalls = (): Registration<Tx> =>
  handlerOf<Tx>()(model, {
    prepare: (_tx, { payload }) => Promise.resolve(go(payload.n)),
    perform: async (n) => {
      await pause(MODEL_CALL_MS)
      return n < DYING ? { type: 'dead', class: 'terminal', code: 'bench' } : done(undefined)
    },
  })

const commitToHandler = async (db: Db, tenantId: string, rows: number): Promise<readonly number[]> => {
  const begun = new Map<number, () => void>()
  const touches = handlerOf<Tx>()(calendar, {
    prepare: (_tx, { payload }) => Promise.resolve(go(payload.n)),
    perform: (n) => {
      begun.get(n)?.()
      return Promise.resolve(done(undefined))
    },
  })
  const engine = createEngine<Tx>({
    db,
    registrations: [touches, modelCalls()],
    laneByName: { ai: { concurrency: MODEL_CALLS_MAX, claimMax: MODEL_CALLS_MAX } },
  })
  await engine.start()
  // The first model calls are under way, and the dying ones are dead.
  await pause(1_000)
  const samples: number[] = []
  for (let n = 0; n < rows; n++) {
    const started = new Promise<number>((resolve) => begun.set(n, () => resolve(performance.now())))
    let committingAt = 0
    await db.transact(tenantId, async (tx) => {
      await enqueue(tx, [calendar.request(payloadOf(n))])
      committingAt = performance.now()
    })
    samples.push((await started) - committingAt)
    await pause(GAP_MS * (0.5 + Math.random()))
  }
  await engine.stop(10_000)
  return samples
}
