/** The same through Prisma: the clinic's own client, and its own `$transaction`. */
import { bindTenant, enqueue, throughPrisma } from '@aftercommit/outbox/enqueue'
import { clinicActions } from './actions.ts'
import type { NewAppointment } from './appointment.ts'
import type { PrismaClient } from './generated/client.ts'

export const bookWithPrisma = (
  prisma: PrismaClient,
  clinicId: string,
  appointment: NewAppointment,
): Promise<void> =>
  prisma.$transaction(async (tx) => {
    const sql = throughPrisma(tx)
    await bindTenant(sql, clinicId)
    await tx.appointment.create({ data: { clinicId, ...appointment } })
    await enqueue({ sql }, [
      clinicActions.sendConfirmation.request({ appointmentId: appointment.appointmentId }),
    ])
  })
