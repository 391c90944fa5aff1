/** Makes a tenant with one API key, and prints both. The key is not kept and cannot be shown again. */
import { createTenant } from '@aftercommit/platform/tenants'
import { readEnv } from '@aftercommit/platform/env'
import { z } from 'zod'

const { DATABASE_URL } = readEnv(z.object({ DATABASE_URL: z.url() }))
const name = process.argv[2]
if (name === undefined) {
  process.stderr.write('usage: npm run tenant:create -- NAME\n')
  process.exit(2)
}
process.stdout.write(`${JSON.stringify(await createTenant(DATABASE_URL, name), null, 2)}\n`)
