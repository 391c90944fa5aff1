/**
 * A status column and a sweep: the outbox that a team builds in an afternoon. The booking is committed as pending, the
 * event is made after the commit, and whatever is still pending when the process starts is made then. Nothing is lost any
 * more. What it cannot know is whether the call that it repeats has had its effect.
 */
import {
  insertBooking,
  inTransaction,
  pendingBookings,
  readBooking,
  recordEvent,
  type Booking,
} from '../store.ts'
import { withRetries, type Tools, type Way } from '../way.ts'

export const sweptStatus = async ({ pool, calendar, at }: Tools): Promise<Way> => {
  const running = new Set<Promise<void>>()
  const begin = (booking: Booking): void => {
    const run = withRetries(() => makeEvent(booking)).finally(() => running.delete(run))
    running.add(run)
  }
  const makeEvent = async (booking: Booking): Promise<void> => {
    await at('before_call')
    const eventId = await calendar.insert(booking)
    await at('after_answer')
    await recordEvent(pool, booking.key, eventId)
  }
  for (const booking of await pendingBookings(pool)) begin(booking)
  return {
    book: async (booking) => {
      const isNew = await inTransaction(pool, async (sql) => {
        const inserted = await insertBooking(sql, booking, 'pending')
        await at('before_commit')
        return inserted
      })
      if (isNew) begin(booking)
      return readBooking(pool, booking.key)
    },
    settled: async () => {
      await Promise.all(running)
    },
  }
}
