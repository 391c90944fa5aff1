import type { Attempt, Outcome } from '@aftercommit/outbox'
import type { CallContext, CallFailure } from '@aftercommit/providers/call'
import type { Calendar } from '@aftercommit/providers/calendar'
import type { WebhookSender } from '@aftercommit/providers/webhook'
import type { CalendarConnection, WebhookEndpoint } from '../store.ts'

/** The parts of the world that scheduling's handlers may touch. Credentials are opened behind these, never here. */
export interface World {
  readonly calendarOf: (tenantId: string, connection: CalendarConnection) => Calendar
  readonly webhooks: WebhookSender
  readonly webhookSecretOf: (tenantId: string, endpoint: WebhookEndpoint) => string
  /** Bound of one exchange with a provider. */
  readonly callTimeoutMs: number
}

export const callContext = (world: World, attempt: Attempt): CallContext => ({
  signal: attempt.signal,
  timeoutMs: world.callTimeoutMs,
  record: attempt.record,
})

/** How long an account rests when its provider throttles without saying for how long. */
const THROTTLE_DEFAULT_MS = 60_000
/** Google's invitation quota recovers over hours; see "Calendar usage limits exceeded" in its error guide. */
const QUOTA_PAUSE_MS = 60 * 60_000

/**
 * What a failed call means for an action that only reads, or that provably did not write. An uncertain read is a
 * read that can be made again.
 */
export const outcomeOfFailedRead = (failure: CallFailure): Outcome<never> => {
  switch (failure.type) {
    case 'not_sent':
      return {
        type: 'retry',
        code: failure.code,
        ...(failure.retryAfterMs !== undefined && { afterMs: failure.retryAfterMs }),
      }
    case 'uncertain':
    case 'malformed':
      return { type: 'retry', code: failure.code }
    case 'throttled':
      return { type: 'throttled', code: failure.code, afterMs: failure.retryAfterMs ?? THROTTLE_DEFAULT_MS }
    case 'refused':
      return outcomeOfRefusal(failure)
  }
}

/** The same for an action that may have written: what is not proved undone is unknown. */
export const outcomeOfFailedWrite = (failure: CallFailure): Outcome<never> => {
  switch (failure.type) {
    case 'uncertain':
      return {
        type: 'unknown',
        code: failure.code,
        correlation: failure.claimed === undefined ? {} : { claimed: failure.claimed },
      }
    case 'malformed':
      return { type: 'unknown', code: failure.code, correlation: {} }
    case 'not_sent':
    case 'throttled':
    case 'refused':
      return outcomeOfFailedRead(failure)
  }
}

const outcomeOfRefusal = (failure: Extract<CallFailure, { type: 'refused' }>): Outcome<never> => {
  const { reason, code } = failure
  switch (reason) {
    case 'grant_revoked':
    case 'forbidden':
      return { type: 'dead', class: 'permission', code: reason, owner: 'calendar_owner' }
    case 'unauthenticated':
      // The token was just issued, so a second one may be better; the budget ends it if not.
      return { type: 'retry', code: 'unauthenticated' }
    case 'invalid_attendee':
      return { type: 'dead', class: 'validation', code: 'invalid_attendee', owner: 'organizer' }
    case 'invalid':
    case 'not_found':
      return { type: 'dead', class: 'validation', code }
    case 'conflict':
    case 'stale':
      return { type: 'retry', code }
    case 'quota_exhausted':
      return { type: 'retry', code, afterMs: QUOTA_PAUSE_MS }
  }
}
