/**
 * The PostgreSQL server of one test run: a migrated template database, and one login per process role. Run as a
 * process; prints where it is and lives until its standard input closes.
 */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startLocalPostgres, urlOf } from '@aftercommit/local-postgres'
import { makeClockMovable, markAsTestDatabase } from '@aftercommit/local-postgres/movable-clock'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import pg from 'pg'
import { TEMPLATE, type TestCluster } from './test-cluster.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

const main = async (): Promise<void> => {
  const outside = process.env.DATABASE_URL
  const local = outside === undefined ? await startLocalPostgres({ durability: 'fast' }) : undefined
  const url = outside ?? local?.url ?? ''
  const login = (user: string): string =>
    urlOf(url, { user, password: randomBytes(18).toString('base64url') })
  const cluster: TestCluster = {
    ownerUrl: url,
    apiUrl: login('aftercommit_test_api'),
    dispatcherUrl: login('aftercommit_test_dispatcher'),
    operatorUrl: login('aftercommit_test_operator'),
  }
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`drop database if exists ${TEMPLATE} with (force)`)
  await admin.query(`create database ${TEMPLATE}`)
  await admin.end()
  const templateUrl = urlOf(url, { database: TEMPLATE })
  const template = new pg.Client({ connectionString: templateUrl })
  await template.connect()
  await markAsTestDatabase(template)
  await migrate(templateUrl, MIGRATIONS)
  await ensureLogin(templateUrl, cluster.apiUrl, 'aftercommit_api')
  await ensureLogin(templateUrl, cluster.dispatcherUrl, 'aftercommit_dispatcher')
  await ensureLogin(templateUrl, cluster.operatorUrl, 'aftercommit_operator')
  await makeClockMovable(template)
  await template.end()
  process.stdout.write(`${JSON.stringify(cluster)}\n`)
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.on('close', resolve))
  await local?.stop()
}

await main()
