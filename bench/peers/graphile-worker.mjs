/**
 * graphile-worker at the settings of its own performance test (graphile/worker, perfTest/graphile.config.js), and
 * without batching, as it is by default.
 */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { payloadOf, serve } from '../contenders/contender.ts'

const CONCURRENT_JOBS = 24
const CONNECTIONS = CONCURRENT_JOBS + 1
const batching = {
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
const logger = new Logger(() => () => undefined)
const CHUNK = 5_000

/** The pool's connections are open before the clock starts. */
const openPool = async (connectionString) => {
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS })
  pool.on('error', (error) => process.stderr.write(`graphile-worker: ${error}\n`))
  pool.on('connect', (client) => client.on('error', () => undefined))
  await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('select pg_sleep(0.02)')))
  return pool
}

serve((argument) => {
  const { url, batched } = JSON.parse(argument)
  const owner = new pg.Pool({ connectionString: url, max: 2 })
  const add = async (from, count) => {
    for (let at = from; at < from + count; at += CHUNK) {
      const size = Math.min(CHUNK, from + count - at)
      const specs = Array.from({ length: size }, (_, i) => payloadOf(at + i))
      await owner.query(
        `select from graphile_worker.add_jobs(array(
           select row('nothing', j, null, null, null, null, null, null)::graphile_worker.job_spec
           from json_array_elements($1::json) j))`,
        [JSON.stringify(specs)],
      )
    }
  }
  return {
    prepare: async () => {
      const utils = await makeWorkerUtils({ connectionString: url, logger })
      await utils.migrate()
      await utils.release()
    },
    add,
    addOne: async (n, committing) => {
      const client = await owner.connect()
      await client.query('begin')
      await client.query(`select from graphile_worker.add_job('nothing', $1::json)`, [
        JSON.stringify(payloadOf(n)),
      ])
      committing()
      await client.query('commit')
      client.release()
    },
    open: async () => {
      const pgPool = await openPool(url)
      return {
        start: async (handled) => {
          const runner = await run({
            pgPool,
            noHandleSignals: true,
            logger,
            preset: { worker: { concurrentJobs: CONCURRENT_JOBS, ...(batched && batching) } },
            taskList: { nothing: (payload) => handled(payload.n) },
          })
          return () => runner.stop()
        },
        isEmpty: async () =>
          (await owner.query('select from graphile_worker._private_jobs limit 1')).rowCount === 0,
        close: () => pgPool.end(),
      }
    },
    clear: () => owner.query('truncate graphile_worker._private_jobs'),
    end: () => owner.end(),
  }
})
