/** What becomes of rows that have ended. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

export const ensurePartitions = async (sql: Sql, monthsAhead: number): Promise<void> => {
  await sql.query('select outbox_ensure_partitions($1)', [monthsAhead])
}

/** For how many days ended rows are kept, by how they ended; without a number they are kept for ever. */
export interface Retention {
  readonly succeededDays?: number
  readonly suppressedDays?: number
  readonly supersededDays?: number
}

/** Deletes ended rows that are older than their state is kept, with their attempts. Answers how many. */
export const deleteEndedRows = async (
  sql: Sql,
  { succeededDays, suppressedDays, supersededDays }: Retention,
  limit: number,
): Promise<number> => {
  const { rows } = await sql.query<{ gone: number }>('select outbox_retain($1, $2, $3, $4) as gone', [
    succeededDays ?? null,
    suppressedDays ?? null,
    supersededDays ?? null,
    limit,
  ])
  return one(rows).gone
}

/**
 * Drops the oldest month of ended rows that is wholly older than so many days, if there is one. `busy`: somebody reads
 * there, and settles must not be made to wait behind it.
 */
export const dropEndedMonth = async (sql: Sql, days: number): Promise<'dropped' | 'none' | 'busy'> => {
  const { rows } = await sql.query<{ dropped: string | null; busy: boolean }>(
    'select dropped, busy from outbox_drop_month($1)',
    [days],
  )
  const { dropped, busy } = one(rows)
  if (busy) return 'busy'
  return dropped === null ? 'none' : 'dropped'
}
