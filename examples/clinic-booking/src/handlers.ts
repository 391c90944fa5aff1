/** What the worker does to the world: the only code that calls out. */
import { done, go, handlerOf, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { clinicActions } from './actions.ts'
import { readAppointment, recordConfirmation } from './appointment.ts'

const CALL_MAX_MS = 10_000
const REST_MS = 30_000

export const clinicHandlers = (gatewayUrl: string) => [
  handlerOf<Tx>()(clinicActions.sendConfirmation, {
    prepare: async (tx, { payload, operationId }) => {
      const appointment = await readAppointment(tx.sql, payload.appointmentId)
      return appointment ? go({ appointment, operationId }) : { type: 'obsolete', reason: 'appointment_gone' }
    },
    perform: async ({ appointment, operationId }, { signal }): Promise<Outcome<undefined>> => {
      const answer = await fetch(gatewayUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': operationId },
        body: JSON.stringify({ to: appointment.patientRef, startsAt: appointment.startsAt.toISOString() }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MAX_MS)]),
      }).catch(() => undefined)
      if (!answer) return { type: 'unknown', code: 'no_answer', correlation: {} }
      if (answer.ok) return done(undefined)
      if (answer.status === 429) return { type: 'throttled', code: 'throttled', afterMs: REST_MS }
      if (answer.status >= 500) return { type: 'unknown', code: 'server_error', correlation: {} }
      return { type: 'dead', class: 'terminal', code: 'refused' }
    },
    settle: async (tx, { payload }, outcome) => {
      if (outcome.type === 'done') await recordConfirmation(tx.sql, payload.appointmentId, 'sent')
      if (outcome.type === 'dead') await recordConfirmation(tx.sql, payload.appointmentId, 'failed')
      return []
    },
  }),
]
