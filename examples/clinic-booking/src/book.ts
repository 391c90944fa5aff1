/** Booking through `pg`: the clinic's own transaction, and one more statement in it. */
import { bindTenant, enqueue } from '@aftercommit/outbox/enqueue'
import type pg from 'pg'
import { clinicActions } from './actions.ts'
import { insertAppointment, type NewAppointment } from './appointment.ts'

export const book = async (pool: pg.Pool, clinicId: string, appointment: NewAppointment): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await bindTenant(client, clinicId)
    await insertAppointment(client, clinicId, appointment)
    await enqueue({ sql: client }, [
      clinicActions.sendConfirmation.request({ appointmentId: appointment.appointmentId }),
    ])
    await client.query('commit')
  } catch (error) {
    // Closes the connection, and with it whatever of the transaction is open.
    client.release(true)
    throw error
  }
  client.release()
}
