/** Every statement on the clinic's table that is not Prisma's. */
import type { Sql } from '@aftercommit/outbox'

export interface NewAppointment {
  readonly appointmentId: string
  /** The patient's number in the clinic's own records. */
  readonly patientRef: string
  readonly startsAt: Date
}

export const insertAppointment = async (
  sql: Sql,
  clinicId: string,
  { appointmentId, patientRef, startsAt }: NewAppointment,
): Promise<void> => {
  await sql.query(
    `insert into clinic.appointment (appointment_id, clinic_id, patient_ref, starts_at) values ($1, $2, $3, $4)`,
    [appointmentId, clinicId, patientRef, startsAt],
  )
}

export const readAppointment = async (
  sql: Sql,
  appointmentId: string,
): Promise<NewAppointment | undefined> => {
  const { rows } = await sql.query<NewAppointment>(
    `select appointment_id as "appointmentId", patient_ref as "patientRef", starts_at as "startsAt"
     from clinic.appointment where appointment_id = $1`,
    [appointmentId],
  )
  return rows[0]
}

export const recordConfirmation = async (
  sql: Sql,
  appointmentId: string,
  confirmation: 'sent' | 'failed',
): Promise<void> => {
  await sql.query('update clinic.appointment set confirmation = $2 where appointment_id = $1', [
    appointmentId,
    confirmation,
  ])
}
