/**
 * A job goes into a queue in the process, and a worker beside the request takes it out: p-queue, fastq, an event bus in
 * memory, a Celery or BullMQ whose broker is a Redis without persistence. Bounded, in order, with retries; and gone with
 * the memory that it lives in.
 */
import { insertBooking, inTransaction, readBooking, recordEvent, type Booking } from '../store.ts'
import { withRetries, type Tools, type Way } from '../way.ts'

export const memoryQueue = ({ pool, calendar, at }: Tools): Way => {
  const jobs: Booking[] = []
  let worker: Promise<void> | undefined
  const work = async (): Promise<void> => {
    for (let booking = jobs.shift(); booking; booking = jobs.shift()) {
      const job = booking
      await withRetries(() => makeEvent(job))
    }
    worker = undefined
  }
  const push = (booking: Booking): void => {
    jobs.push(booking)
    worker ??= work()
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
      if (isNew) push(booking)
      return readBooking(pool, booking.key)
    },
    settled: async () => {
      await worker
    },
  }
}
