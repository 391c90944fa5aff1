/** The command before the first start: makes the database of DATABASE_URL ready, and the logins that the other two URLs name. */
import { z } from 'zod'
import { setUp } from './set-up.ts'

const env = z
  .object({ DATABASE_URL: z.string(), APP_DATABASE_URL: z.string(), WORKER_DATABASE_URL: z.string() })
  .parse(process.env)

await setUp(env.DATABASE_URL, { app: env.APP_DATABASE_URL, worker: env.WORKER_DATABASE_URL })
process.stdout.write('The database is ready.\n')
