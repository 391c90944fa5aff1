import { defineAction } from '@aftercommit/outbox'
import { z } from 'zod'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** All that the clinic may ask of the world. */
export const clinicActions = {
  /** An appointment is booked: have the message gateway tell the patient. */
  sendConfirmation: defineAction({
    name: 'clinic.send_confirmation',
    // A reference and nothing personal: the handler reads the rest when it is needed, and as it is then.
    payload: z.object({ appointmentId: z.uuid() }),
    payloadVersion: 1,
    policyVersion: 1,
    lane: 'clinic',
    subject: ({ appointmentId }) => ({ type: 'appointment', id: appointmentId }),
    identity: ({ appointmentId }) => appointmentId,
    // The gateway does nothing twice under one Idempotency-Key, so a call may simply be made again.
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: 30 * SECOND,
    attemptsMax: 20,
    elapsedMaxMs: 6 * HOUR,
    backoff: { baseMs: SECOND, maxMs: 600 * SECOND },
    repairOwner: 'reception',
  }),
} as const
