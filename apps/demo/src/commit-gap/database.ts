/** A server with one migrated template, and a database for each of the cases that are played at the same time. */
import { randomBytes } from 'node:crypto'
import { startLocalPostgres, urlOf } from '@aftercommit/local-postgres'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import pg from 'pg'

export interface Databases {
  /** A new one. Copied from the template, which is copied once at a time. */
  create(): Promise<Database>
  drop(): Promise<void>
}

export interface Database {
  /** As the login of the booking application. */
  readonly url: string
  /** Takes away what the case before has left: nobody works on it any more. */
  empty(): Promise<void>
}

const BOOKING = `
  create table booking (
    key       uuid primary key,
    calendar  text not null,
    starts_at timestamptz not null,
    state     text not null check (state in ('pending', 'confirmed', 'failed')),
    event_id  text);
  grant select, insert, update on booking to aftercommit_dispatcher`

/** On the server of `DATABASE_URL`, beside what that holds, or on one that is started for it. */
export const openDatabases = async (migrations: string): Promise<Databases> => {
  const outside = process.env.DATABASE_URL
  const local = outside === undefined ? await startLocalPostgres({ durability: 'fast' }) : undefined
  const adminUrl = outside ?? local?.url ?? ''
  const name = `aftercommit_gap_${randomBytes(5).toString('hex')}`
  const loginUrl = urlOf(adminUrl, { user: name, password: randomBytes(18).toString('base64url') })
  const admin = new pg.Pool({ connectionString: adminUrl, max: 1 })
  const made: string[] = []
  const create = async (how: string): Promise<string> => {
    const database = `${name}_${made.length}`
    made.push(database)
    await admin.query(`create database ${database} ${how}`)
    return database
  }
  const drop = async (): Promise<void> => {
    if (!local) {
      for (const database of made) await admin.query(`drop database if exists ${database} with (force)`)
      await admin.query(`drop role if exists ${name}`)
    }
    await admin.end()
    await local?.stop()
  }
  try {
    const template = await create('')
    const templateUrl = urlOf(adminUrl, { database: template })
    await migrate(templateUrl, migrations)
    await ensureLogin(templateUrl, loginUrl, 'aftercommit_dispatcher')
    await withOwner(templateUrl, (owner) => owner.query(BOOKING))
    return {
      create: async () => {
        const database = await create(`template ${template} strategy file_copy`)
        const url = urlOf(adminUrl, { database })
        return {
          url: urlOf(loginUrl, { database }),
          empty: () => withOwner(url, (owner) => owner.query('truncate booking')),
        }
      },
      drop,
    }
  } catch (error) {
    await drop()
    throw error
  }
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
