/** The database of one run: migrated, with a clock that can be moved for the drain, and an observer of every hold. */
import { randomBytes } from 'node:crypto'
import { urlOf } from '@aftercommit/local-postgres'
import { makeClockMovable, markAsTestDatabase } from '@aftercommit/local-postgres/movable-clock'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { createTenant, type NewTenant } from '@aftercommit/platform/tenants'
import { installHoldLog } from './hold-log.ts'
import { openOwner, type OpenOwner } from './owner.ts'

export interface ChaosDatabase {
  readonly owner: OpenOwner
  readonly tenant: NewTenant
  /** Makes a login for one process. Answers its URL; the login is named after the process. */
  loginFor(name: string, role: 'aftercommit_api' | 'aftercommit_dispatcher'): Promise<string>
}

const NAME = 'aftercommit_chaos'

export const createChaosDatabase = async (serverUrl: string, migrations: string): Promise<ChaosDatabase> => {
  const server = openOwner(serverUrl)
  await server.query(`create database ${NAME}`)
  await server.close()
  const ownerUrl = urlOf(serverUrl, { database: NAME })
  const owner = openOwner(ownerUrl)
  await markAsTestDatabase(owner)
  await migrate(ownerUrl, migrations)
  await makeClockMovable(owner)
  await installHoldLog(owner)
  const tenant = await createTenant(ownerUrl, 'Chaos')
  return {
    owner,
    tenant,
    loginFor: async (name, role) => {
      const url = urlOf(ownerUrl, { user: name, password: randomBytes(18).toString('base64url') })
      await ensureLogin(ownerUrl, url, role)
      return url
    },
  }
}
