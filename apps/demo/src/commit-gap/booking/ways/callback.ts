/**
 * The call hangs on the commit: Django's `transaction.on_commit`, Rails' `after_commit`, Spring's
 * `@TransactionalEventListener(AFTER_COMMIT)` with `@Async`, FastAPI's background tasks. Nothing is called for what was
 * rolled back, and the customer does not wait. The booking itself is the appointment, so it is confirmed by its commit.
 */
import { insertBooking, inTransaction, readBooking, recordEvent, type Booking } from '../store.ts'
import { withRetries, type Tools, type Way } from '../way.ts'

export const callback = ({ pool, calendar, at }: Tools): Way => {
  const running = new Set<Promise<void>>()
  const afterCommit = (work: () => Promise<void>): void => {
    const run = withRetries(work).finally(() => running.delete(run))
    running.add(run)
  }
  const makeEvent = async (booking: Booking): Promise<void> => {
    await at('before_call')
    const eventId = await calendar.insert(booking)
    await at('after_answer')
    await recordEvent(pool, booking.key, eventId)
  }
  return {
    book: async (booking) => {
      const isNew = await inTransaction(pool, async (sql) => {
        const inserted = await insertBooking(sql, booking, 'confirmed')
        await at('before_commit')
        return inserted
      })
      if (isNew) afterCommit(() => makeEvent(booking))
      return readBooking(pool, booking.key)
    },
    settled: async () => {
      await Promise.all(running)
    },
  }
}
