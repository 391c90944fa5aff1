import { gate, type TestDatabase } from '@aftercommit/testing'
import pg from 'pg'
import type { Sql } from './sql.ts'

/** A connection that a test steps through a transaction of its own, statement by statement, as the dispatcher. */
export interface Rival {
  readonly sql: Sql
  begin(tenant: string): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  end(): Promise<void>
}

export const rivalOf = async (database: TestDatabase): Promise<Rival> => {
  const client = new pg.Client({ connectionString: database.urls.dispatcher, application_name: 'test rival' })
  await client.connect()
  const sql: Sql = { query: (text, values = []) => client.query(text, [...values]) }
  return {
    sql,
    begin: async (tenant) => {
      await sql.query('begin')
      await sql.query(`select set_config('aftercommit.tenant', $1, true)`, [tenant])
    },
    commit: async () => {
      await sql.query('commit')
    },
    rollback: async () => {
      await sql.query('rollback')
    },
    end: () => client.end(),
  }
}

/** Resolves once that many connections of this database wait for a lock: that is when a race is where it should be. */
export const blocked = async (database: TestDatabase, count: number): Promise<void> => {
  for (;;) {
    const { rows } = await database.owner.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if ((rows[0]?.waiting ?? 0) >= count) return
  }
}

/** Nobody leaves before the last one has come. */
export const meetingOf = (people: number): (() => Promise<void>) => {
  const full = gate()
  let came = 0
  return () => {
    if (++came >= people) full.open()
    return full.pass()
  }
}
