import { ENGINE, FLOOR, startOnOutbox, type Contestant } from '../contestant.ts'
import type { Urls } from '../contenders/outbox-tables.ts'
import { insertEnded, insertRows } from '../outbox-sql.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const ROWS = { full: 10_000, quick: 2_000 }

/** What stands in the tables while other rows are drained; `size` is that of a full run. */
const fillings = [
  { measure: 'empty tables', size: 0, state: undefined },
  { measure: '200k ready', size: 200_000, state: 'ready' },
  { measure: '1M for later', size: 1_000_000, state: 'scheduled' },
  { measure: '1M ended', size: 1_000_000, state: 'ended' },
  { measure: '100k behind one key', size: 100_000, state: 'waiting' },
] as const
type Filling = (typeof fillings)[number]

interface Filled {
  readonly filling: Filling
  readonly contestant: Contestant
}

export const tables: Scenario = {
  name: 'tables',
  title: 'What stands in the tables, and how much it slows',
  needsPeers: false,
  run: async ({ server, quick, repetitions, tell }) => {
    const rows = quick ? ROWS.quick : ROWS.full
    const { note, series } = recorder()
    const filled: Filled[] = []
    try {
      for (const [n, filling] of fillings.entries()) {
        const urls = await server.createOutbox(`tables_${n}`)
        await fill(server, urls, filling, quick ? filling.size / 10 : filling.size)
        for (const name of [ENGINE, FLOOR] as const) {
          filled.push({ filling, contestant: await startOnOutbox(name, urls) })
        }
        tell(`ready: ${filling.measure}`)
      }
      let from = 0
      await inTurns(repetitions, filled, async ({ filling, contestant }, repetition) => {
        // A backlog has rows enough of its own.
        if (filling.state !== 'ready')
          await contestant.ask({ type: 'add', from: (from += rows), count: rows })
        await server.settle(contestant.url)
        const { ms = 0 } = await contestant.ask({ type: 'drain', rows, untilEmpty: false })
        note(contestant.name, filling.measure, 'rows/s', rows / (ms / 1_000))
        tell(
          `${repetition + 1}. ${contestant.name}, ${filling.measure}: ${(rows / (ms / 1_000)).toFixed(0)} rows/s`,
        )
      })
    } finally {
      for (const { contestant } of filled) await contestant.end()
    }
    const notes = [
      `The rate at which ${rows} rows are handled${quick ? '; everything else a tenth of what its name says' : ''}.`,
      'The engine’s own work per row hides part of what its claims cost; the bare statements show it, so the bars are on both.',
    ]
    return { scenario: 'tables', title: tables.title, series, notes }
  },
}

const fill = (server: Server, { owner, tenantId }: Urls, { state }: Filling, size: number): Promise<void> =>
  server.on(owner, async (sql) => {
    const common = { prefix: 'standing', tenants: [tenantId] }
    switch (state) {
      case undefined:
        return
      case 'ready':
      case 'scheduled':
        return insertRows(sql, { ...common, state, count: size })
      case 'ended':
        return insertEnded(sql, tenantId, size)
      case 'waiting':
        // The first of them is due tomorrow.
        await insertRows(sql, { ...common, prefix: 'head', state: 'scheduled', count: 1, orderingKey: 'one' })
        return insertRows(sql, { ...common, state, count: size, orderingKey: 'one' })
    }
  })
