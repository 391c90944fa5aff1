import { randomUUID } from 'node:crypto'
import { urlOf } from '@aftercommit/local-postgres'
import { moveClock } from '@aftercommit/local-postgres/movable-clock'
import { openDb, type Db } from '@aftercommit/platform/db'
import { afterAll, beforeAll } from '@jest/globals'
import pg from 'pg'
import { TEMPLATE, testCluster } from './test-cluster.ts'

/** One fresh database for one test file, seen through the logins of the real processes. */
export interface TestDatabase {
  readonly api: Db
  readonly dispatcher: Db
  readonly operator: Db
  /** As the owner, past row-level security: for looking at what happened, and for setting traps. */
  readonly owner: pg.Pool
  readonly urls: {
    readonly owner: string
    readonly api: string
    readonly dispatcher: string
    readonly operator: string
  }
  /** A new tenant, so that tests of one file do not meet. */
  createTenant(): Promise<string>
  /** Moves the database's clock on. */
  advanceClock(ms: number): Promise<void>
}

/** Registers set-up and tear-down with Jest, and answers a handle that is filled before the first test. */
export const useDatabase = (): TestDatabase => {
  const opened: Partial<Opened> = {}
  beforeAll(async () => {
    Object.assign(opened, await open())
  })
  afterAll(async () => {
    await Promise.all([opened.api?.close(), opened.dispatcher?.close(), opened.operator?.close()])
    await opened.owner?.end()
  })
  const part = <K extends keyof Opened>(key: K): Opened[K] => {
    const value = opened[key] as Opened[K] | undefined
    if (value === undefined) throw new Error('the database is opened in beforeAll')
    return value
  }
  return {
    get api() {
      return part('api')
    },
    get dispatcher() {
      return part('dispatcher')
    },
    get operator() {
      return part('operator')
    },
    get owner() {
      return part('owner')
    },
    get urls() {
      return part('urls')
    },
    createTenant: async () => {
      const tenantId = randomUUID()
      await part('owner').query('insert into tenant (tenant_id, name) values ($1, $2)', [
        tenantId,
        'Test tenant',
      ])
      return tenantId
    },
    advanceClock: async (ms) => {
      await moveClock(part('owner'), ms)
    },
  }
}

type Opened = Pick<TestDatabase, 'api' | 'dispatcher' | 'operator' | 'owner' | 'urls'>

/** A fresh database outside the life of a test file; `suffix` tells several of one worker apart. */
export const openTestDatabase = async (
  suffix: string,
): Promise<Opened & { readonly close: () => Promise<void> }> => {
  const opened = await open(suffix)
  const { api, dispatcher, operator, owner } = opened
  return {
    ...opened,
    close: async () => {
      await Promise.all([api.close(), dispatcher.close(), operator.close(), owner.end()])
    },
  }
}

const open = async (suffix = ''): Promise<Opened> => {
  const cluster = testCluster()
  const database = `aftercommit_test_${process.env.JEST_WORKER_ID ?? '0'}${suffix}`
  const admin = new pg.Client({ connectionString: cluster.ownerUrl })
  await admin.connect()
  await admin.query(`drop database if exists ${database} with (force)`)
  await admin.query(`create database ${database} template ${TEMPLATE} strategy file_copy`)
  await admin.end()
  const urls = {
    owner: urlOf(cluster.ownerUrl, { database }),
    api: urlOf(cluster.apiUrl, { database }),
    dispatcher: urlOf(cluster.dispatcherUrl, { database }),
    operator: urlOf(cluster.operatorUrl, { database }),
  }
  return {
    urls,
    owner: new pg.Pool({ connectionString: urls.owner, max: 5 }),
    api: openDb({ url: urls.api, applicationName: 'test api' }),
    dispatcher: openDb({ url: urls.dispatcher, applicationName: 'test dispatcher', connectionsMax: 20 }),
    operator: openDb({ url: urls.operator, applicationName: 'test operator' }),
  }
}
