/** Every statement of the booking application on its one table. */
import type { Sql } from '@aftercommit/outbox'
import type pg from 'pg'

export interface Booking {
  /** The customer's Idempotency-Key, a UUID: one booking, however often it is asked for. */
  readonly key: string
  /** In whose calendar it goes. */
  readonly calendar: string
  readonly startsAt: string
}

export type BookingState = 'pending' | 'confirmed' | 'failed'

export interface StoredBooking extends Booking {
  readonly state: BookingState
  readonly eventId: string | null
}

/** True if the booking is new; one that stands already stays as it is. */
export const insertBooking = async (
  sql: Sql,
  { key, calendar, startsAt }: Booking,
  state: BookingState,
): Promise<boolean> => {
  const { rowCount } = await sql.query(
    'insert into booking (key, calendar, starts_at, state) values ($1, $2, $3, $4) on conflict do nothing',
    [key, calendar, startsAt, state],
  )
  return rowCount === 1
}

const COLUMNS = `key, calendar, state, event_id as "eventId",
  to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "startsAt"`

export const readBooking = async (sql: Sql, key: string): Promise<StoredBooking | undefined> => {
  const { rows } = await sql.query<StoredBooking>(`select ${COLUMNS} from booking where key = $1`, [key])
  return rows[0]
}

/** What was promised and is not known to have been done. */
export const pendingBookings = async (sql: Sql): Promise<readonly StoredBooking[]> => {
  const { rows } = await sql.query<StoredBooking>(`select ${COLUMNS} from booking where state = 'pending'`)
  return rows
}

export const recordEvent = async (sql: Sql, key: string, eventId: string): Promise<void> => {
  await sql.query(`update booking set state = 'confirmed', event_id = $2 where key = $1`, [key, eventId])
}

export const recordFailure = async (sql: Sql, key: string): Promise<void> => {
  await sql.query(`update booking set state = 'failed' where key = $1 and state = 'pending'`, [key])
}

/** Commits when `work` returns. */
export const inTransaction = async <R>(pool: pg.Pool, work: (sql: Sql) => Promise<R>): Promise<R> => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
