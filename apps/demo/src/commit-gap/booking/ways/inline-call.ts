/**
 * The provider is called inside the request: commit the booking, call, record the event, answer. So does Cal.com's
 * booking handler with calendars, mails and webhooks, and most products begin so. This one is more careful than most:
 * it commits the booking as pending first, and a request that is repeated under its key takes up where the first one
 * was left.
 */
import { insertBooking, inTransaction, readBooking, recordEvent } from '../store.ts'
import type { Tools, Way } from '../way.ts'

export const inlineCall = ({ pool, calendar, at }: Tools): Way => ({
  book: async (booking) => {
    await inTransaction(pool, async (sql) => {
      await insertBooking(sql, booking, 'pending')
      await at('before_commit')
    })
    const stored = await readBooking(pool, booking.key)
    if (stored?.state !== 'pending') return stored
    await at('before_call')
    const eventId = await calendar.insert(booking)
    await at('after_answer')
    await recordEvent(pool, booking.key, eventId)
    return readBooking(pool, booking.key)
  },
  settled: () => Promise.resolve(),
})
