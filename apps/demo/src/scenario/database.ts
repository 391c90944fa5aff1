/** A database for one scenario, with a clock that can be moved, and gone when the scenario is over. */
import { randomBytes } from 'node:crypto'
import { startLocalPostgres, urlOf } from '@aftercommit/local-postgres'
import { makeClockMovable, markAsTestDatabase } from '@aftercommit/local-postgres/movable-clock'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import pg from 'pg'

export interface ScenarioDatabase {
  readonly ownerUrl: string
  readonly apiUrl: string
  readonly dispatcherUrl: string
  /** Drops it, and what was made for it. */
  readonly drop: () => Promise<void>
}

/** On the server of `DATABASE_URL`, beside what that holds, or on one that is started for it. */
export const createScenarioDatabase = async (migrations: string): Promise<ScenarioDatabase> => {
  const outside = process.env.DATABASE_URL
  const local = outside === undefined ? await startLocalPostgres({ durability: 'fast' }) : undefined
  const adminUrl = outside ?? local?.url ?? ''
  const name = `aftercommit_scenario_${randomBytes(5).toString('hex')}`
  const login = (role: string): string =>
    urlOf(adminUrl, {
      database: name,
      user: `${name}_${role}`,
      password: randomBytes(18).toString('base64url'),
    })
  const urls = {
    ownerUrl: urlOf(adminUrl, { database: name }),
    apiUrl: login('api'),
    dispatcherUrl: login('dispatcher'),
  }
  const drop = async (): Promise<void> => {
    if (local) return local.stop()
    await withOwner(adminUrl, async (admin) => {
      await admin.query(`drop database if exists ${name} with (force)`)
      for (const role of ['api', 'dispatcher']) await admin.query(`drop role if exists ${name}_${role}`)
    })
  }
  try {
    await withOwner(adminUrl, (admin) => admin.query(`create database ${name}`))
    await withOwner(urls.ownerUrl, markAsTestDatabase)
    await migrate(urls.ownerUrl, migrations)
    await withOwner(urls.ownerUrl, makeClockMovable)
    await ensureLogin(urls.ownerUrl, urls.apiUrl, 'aftercommit_api')
    await ensureLogin(urls.ownerUrl, urls.dispatcherUrl, 'aftercommit_dispatcher')
  } catch (error) {
    await drop()
    throw error
  }
  return { ...urls, drop }
}

const withOwner = async (url: string, work: (owner: pg.Client) => Promise<unknown>): Promise<void> => {
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  try {
    await work(owner)
  } finally {
    await owner.end()
  }
}
