/** What Graph's refusals prove (Microsoft Graph docs, "Error responses and resource types"). */
import { z } from 'zod'
import type { CallFailure, RefusalReason } from '../call.ts'
import { failureOfStatus, jsonOf, safeCode } from '../http.ts'
import type { Answered } from '../http.ts'

const Envelope = z.object({
  error: z.object({ code: z.string(), '@event.existingEventId': z.string().optional() }),
})

/** Graph's error word, or undefined when the body is not Graph's: something on the way answered. */
export const graphCodeOf = (answered: Answered): string | undefined => errorOf(answered)?.code

/** The id of the event that used a transactionId first, where the refusal tells it. */
export const existingEventIdOf = (answered: Answered): string | undefined =>
  errorOf(answered)?.['@event.existingEventId']

const errorOf = (answered: Answered): z.infer<typeof Envelope>['error'] | undefined =>
  Envelope.safeParse(jsonOf(answered.body)).data?.error

const REASONS = new Map<string, RefusalReason>([
  ['InvalidAuthenticationToken', 'unauthenticated'],
  ['ErrorAccessDenied', 'forbidden'],
  ['Authorization_RequestDenied', 'forbidden'],
  ['ErrorInvalidRecipients', 'invalid_attendee'],
  ['ErrorItemNotFound', 'not_found'],
  ['ErrorInvalidUser', 'not_found'],
  ['ErrorIrresolvableConflict', 'stale'],
  ['ErrorQuotaExceeded', 'quota_exhausted'],
])

export const failureOfGraph = (answered: Answered): CallFailure => {
  const graphCode = graphCodeOf(answered)
  const failure = failureOfStatus(answered, safeCode(graphCode, `http_${answered.status}`))
  if (failure.type !== 'refused') return failure
  return { ...failure, reason: REASONS.get(graphCode ?? '') ?? failure.reason }
}

/**
 * The same of a write, where one refusal lies: ErrorInvalidRecipients has been seen while the event was created all the
 * same (msgraph-sdk-php#280), so it proves nothing until the calendar has been read.
 */
export const failureOfGraphWrite = (answered: Answered): CallFailure => {
  const failure = failureOfGraph(answered)
  return failure.type === 'refused' && failure.reason === 'invalid_attendee'
    ? { type: 'uncertain', code: failure.code, claimed: failure.reason }
    : failure
}
