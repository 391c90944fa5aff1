/** Brings a database to the current schema, and gives each process its login. Safe to run from every replica at once. */
import { fileURLToPath } from 'node:url'
import { readEnv } from '@aftercommit/platform/env'
import { createLog } from '@aftercommit/platform/log'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { z } from 'zod'

const Env = z.object({
  /** As the owner of the schema. */
  DATABASE_URL: z.url(),
  MIGRATIONS: z.string().optional(),
  /** Each login named here is made, or given this password, and granted its role. */
  API_DATABASE_URL: z.url().optional(),
  DISPATCHER_DATABASE_URL: z.url().optional(),
  OPERATOR_DATABASE_URL: z.url().optional(),
})

const env = readEnv(Env)
const log = createLog('migrate')
// As a bundle it has to be told where they are; from source it knows.
const folder = env.MIGRATIONS ?? fileURLToPath(new URL('../../prisma/migrations', import.meta.url))
const { applied } = await migrate(env.DATABASE_URL, folder)
for (const [url, role] of [
  [env.API_DATABASE_URL, 'aftercommit_api'],
  [env.DISPATCHER_DATABASE_URL, 'aftercommit_dispatcher'],
  [env.OPERATOR_DATABASE_URL, 'aftercommit_operator'],
] as const) {
  if (url !== undefined) await ensureLogin(env.DATABASE_URL, url, role)
}
log.info('migrated', { applied: applied.length })
