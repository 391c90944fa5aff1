/**
 * pg-boss. For throughput four loops that fetch and complete batches of 500 through its public API, which is faster than its
 * polling workers; for latency its worker, woken by LISTEN/NOTIFY.
 */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { payloadOf, serve } from '../contenders/contender.ts'

const QUEUE = 'nothing'
/** Always empty: asking it opens connections and takes no row. */
const WARMING = 'warming'
const CONNECTIONS = 25
const LOOPS = 4
const BATCH = 500
const CHUNK = 5_000
const EMPTY_PAUSE_MS = 2

serve((argument) => {
  const { url } = JSON.parse(argument)
  const owner = new pg.Pool({ connectionString: url, max: 2 })
  const bossWith = (options) => {
    const boss = new PgBoss({
      connectionString: url,
      max: CONNECTIONS,
      supervise: false,
      schedule: false,
      ...options,
    })
    boss.on('error', (error) => process.stderr.write(`pg-boss: ${error}\n`))
    return boss
  }
  // Only writes; it has no workers and keeps no house.
  let writer
  const writing = async () => {
    if (!writer) {
      writer = bossWith({ max: 4 })
      await writer.start()
    }
    return writer
  }

  const fetching = async (boss, stopping, handled) => {
    while (!stopping.aborted) {
      const jobs = await boss.fetch(QUEUE, { batchSize: BATCH })
      if (jobs.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, EMPTY_PAUSE_MS))
        continue
      }
      for (const { data } of jobs) handled(data.n)
      // Jobs as they were fetched, and not their ids: so a claim that has lapsed completes nothing.
      await boss.complete(QUEUE, jobs)
    }
  }

  return {
    prepare: async () => {
      const boss = await writing()
      await boss.createQueue(QUEUE, { notify: true })
      await boss.createQueue(WARMING)
    },
    add: async (from, count) => {
      const boss = await writing()
      for (let at = from; at < from + count; at += CHUNK) {
        const size = Math.min(CHUNK, from + count - at)
        await boss.insert(
          QUEUE,
          Array.from({ length: size }, (_, i) => ({ data: payloadOf(at + i) })),
        )
      }
    },
    addOne: async (n, committing) => {
      const boss = await writing()
      const client = await owner.connect()
      await client.query('begin')
      const db = { executeSql: (text, values) => client.query(text, values) }
      await boss.send(QUEUE, payloadOf(n), { db })
      committing()
      await client.query('commit')
      client.release()
    },
    open: async (mode) => {
      const boss = bossWith({ useListenNotify: mode === 'latency' })
      await boss.start()
      await Promise.all(Array.from({ length: LOOPS }, () => boss.fetch(WARMING, { batchSize: 1 })))
      return {
        start: async (handled) => {
          if (mode === 'latency') {
            await boss.work(QUEUE, { pollingIntervalSeconds: 0.5 }, ([job]) =>
              Promise.resolve(handled(job.data.n)),
            )
            return () => boss.offWork(QUEUE)
          }
          const stopping = new AbortController()
          const loops = Array.from({ length: LOOPS }, () => fetching(boss, stopping.signal, handled))
          return async () => {
            stopping.abort()
            await Promise.all(loops)
          }
        },
        isEmpty: async () =>
          (await owner.query(`select from pgboss.job where state < 'completed' limit 1`)).rowCount === 0,
        close: () => boss.stop({ graceful: false }),
      }
    },
    clear: () => owner.query('truncate pgboss.job'),
    end: async () => {
      await writer?.stop({ graceful: false })
      await owner.end()
    },
  }
})
