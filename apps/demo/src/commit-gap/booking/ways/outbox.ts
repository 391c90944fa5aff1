/**
 * Aftercommit's own outbox: the action is a row of the same transaction, the engine makes it, and a call whose answer is
 * missing is asked about before it is made again. The same process takes bookings and runs the engine, so that what kills
 * the one kills the other.
 */
import { defineAction, done, go, handlerOf } from '@aftercommit/outbox'
import { createEngine } from '@aftercommit/outbox/engine'
import { enqueue } from '@aftercommit/outbox/enqueue'
import { openDb, type Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { insertBooking, pendingBookings, readBooking, recordEvent, recordFailure } from '../store.ts'
import type { Tools, Way } from '../way.ts'
import { makeEventPolicy } from './outbox-policy.ts'

const makeEvent = defineAction({
  name: 'booking.make_event',
  payload: z.object({ key: z.uuid() }),
  subject: ({ key }) => ({ type: 'booking', id: key }),
  identity: ({ key }) => key,
  repeat: 'reconcile_first',
  ...makeEventPolicy,
})

const handler = ({ calendar, at }: Tools) =>
  handlerOf<Tx>()(makeEvent, {
    prepare: async (tx, { payload, operationId }) => {
      const booking = await readBooking(tx.sql, payload.key)
      return booking ? go({ booking, operationId }) : { type: 'obsolete', reason: 'booking_gone' }
    },
    // A call that rejects counts as one whose effect is unknown.
    perform: async ({ booking, operationId }, { signal }) => {
      await at('before_call')
      const eventId = await calendar.insert(booking, { mark: operationId, signal })
      await at('after_answer')
      return done({ eventId })
    },
    reconcile: {
      load: async (tx, { payload, operationId }) => ({
        booking: await readBooking(tx.sql, payload.key),
        operationId,
      }),
      ask: async ({ booking, operationId }) => {
        const eventId = booking && (await calendar.find(booking, operationId))
        return eventId === undefined ? { type: 'absent' } : { type: 'found', facts: { eventId } }
      },
    },
    settle: async (tx, { payload }, outcome) => {
      if (outcome.type === 'done') await recordEvent(tx.sql, payload.key, outcome.facts.eventId)
      if (outcome.type === 'dead') await recordFailure(tx.sql, payload.key)
      return []
    },
  })

export const outbox = async (tools: Tools): Promise<Way> => {
  const db = openDb({ url: tools.databaseUrl, applicationName: 'booking' })
  const engine = createEngine({ db, registrations: [handler(tools)], pollMs: 100 })
  await engine.start()
  return {
    book: (booking) =>
      db.transact(tools.tenantId, async (tx) => {
        await insertBooking(tx.sql, booking, 'pending')
        await enqueue(tx, [makeEvent.request({ key: booking.key })])
        await tools.at('before_commit')
        return readBooking(tx.sql, booking.key)
      }),
    settled: async () => {
      while ((await pendingBookings(tools.pool)).length > 0)
        await new Promise((resolve) => setTimeout(resolve, 50))
    },
  }
}
