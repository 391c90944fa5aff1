/** What Google's refusals prove (Calendar API guide, "Handle API errors"). */
import { z } from 'zod'
import type { CallFailure, RefusalReason } from '../call.ts'
import { failureOfStatus, jsonOf, retryAfterMs, safeCode } from '../http.ts'
import type { Answered } from '../http.ts'

const Envelope = z.object({
  error: z.object({
    message: z.string().default(''),
    errors: z
      .array(
        z.object({ domain: z.string().default(''), reason: z.string(), message: z.string().default('') }),
      )
      .default([]),
  }),
})

export interface GoogleRefusal {
  readonly domain: string
  readonly reason: string
  readonly message: string
}

/** The first error of the envelope, or undefined when the body is not Google's: something on the way answered. */
export const googleRefusalOf = (answered: Answered): GoogleRefusal | undefined => {
  const parsed = Envelope.safeParse(jsonOf(answered.body))
  if (!parsed.success) return undefined
  const { errors, message } = parsed.data.error
  return errors[0] ?? { domain: '', reason: '', message }
}

/** 403 and 429 both mean "slower" under these names; the guide calls them functionally similar. */
const SLOW_DOWN = new Set(['rateLimitExceeded', 'userRateLimitExceeded'])

const REASONS = new Map<string, RefusalReason>([
  // An allowance that comes back after hours, not seconds: "Calendar usage limits exceeded."
  ['quotaExceeded', 'quota_exhausted'],
  ['dailyLimitExceeded', 'quota_exhausted'],
  ['authError', 'unauthenticated'],
  // Of the same domain as the limits, but it is a project without the API, and waiting does not help.
  ['accessNotConfigured', 'forbidden'],
  ['insufficientPermissions', 'forbidden'],
  ['forbiddenForNonOrganizer', 'forbidden'],
  ['forbiddenForServiceAccounts', 'forbidden'],
])

export const failureOfGoogle = (answered: Answered): CallFailure => {
  const { status } = answered
  const refusal = googleRefusalOf(answered)
  const code = safeCode(refusal?.reason, `http_${status}`)
  const byStatus = failureOfStatus(answered, code)
  if (byStatus.type !== 'refused' || refusal === undefined) return byStatus
  if (status === 403 && SLOW_DOWN.has(refusal.reason)) {
    return { type: 'throttled', code, retryAfterMs: retryAfterMs(answered.headers, new Date()) }
  }
  return { ...byStatus, reason: reasonOf(refusal) ?? byStatus.reason }
}

const reasonOf = (refusal: GoogleRefusal): RefusalReason | undefined => {
  if (namesAttendee(refusal)) return 'invalid_attendee'
  // New limits come under new names in the old domain.
  return REASONS.get(refusal.reason) ?? (refusal.domain === 'usageLimits' ? 'quota_exhausted' : undefined)
}

/** The answer never says which attendee, and only its sentence says that it was one ("Invalid attendee email."). */
const namesAttendee = ({ reason, message }: GoogleRefusal): boolean =>
  (reason === 'invalid' || reason === 'required') && /attendee email/i.test(message)
