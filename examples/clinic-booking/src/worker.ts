/** The worker process: runs the clinic's rows until it is told to stop. */
import { createEngine } from '@aftercommit/outbox/engine'
import { openDb } from '@aftercommit/platform/db'
import { z } from 'zod'
import { clinicHandlers } from './handlers.ts'

const { WORKER_DATABASE_URL, GATEWAY_URL } = z
  .object({ WORKER_DATABASE_URL: z.string(), GATEWAY_URL: z.url() })
  .parse(process.env)

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const db = openDb({ url: WORKER_DATABASE_URL, applicationName: 'clinic worker' })
const engine = createEngine({
  db,
  registrations: clinicHandlers(GATEWAY_URL),
  pollMs: 250,
  report: (event) => {
    if (event.type === 'error') process.stderr.write(`${event.where}: ${String(event.error)}\n`)
  },
})
await engine.start()
say({ type: 'working' })

process.once('SIGTERM', () => {
  void engine.stop(5_000).then(() => db.close())
})
