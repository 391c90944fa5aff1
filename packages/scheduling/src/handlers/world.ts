import type { Attempt, Outcome, Prepared } from '@aftercommit/outbox'
import type { CallContext, CallFailure } from '@aftercommit/providers/call'
import type { Calendar, CalendarBusy } from '@aftercommit/providers/calendar'
import type { WebhookSender } from '@aftercommit/providers/webhook'
import type { CalendarConnection, WebhookEndpoint } from '../store.ts'
import type { Post } from './mail.ts'

/**
 * A sealed credential that cannot be opened: its key has left the ring, or it was sealed for another place. Trying
 * again does not change that, so it is an answer and no error.
 */
export interface Unreadable {
  readonly type: 'unreadable'
}
export type OpenedCalendar = { readonly type: 'opened'; readonly calendar: Calendar } | Unreadable
export type OpenedSecret = { readonly type: 'opened'; readonly secret: string } | Unreadable

/** The parts of the world that scheduling's handlers may touch. Credentials are opened behind these, never here. */
export interface World {
  readonly calendarOf: (tenantId: string, connection: CalendarConnection) => OpenedCalendar
  readonly webhooks: WebhookSender
  readonly webhookSecretOf: (tenantId: string, endpoint: WebhookEndpoint) => OpenedSecret
  /** Undefined where no mail server was named: then nobody can be written to, and it is said so. */
  readonly post: Post | undefined
  /** Bound of one exchange with a provider. */
  readonly callTimeoutMs: number
}

export const callContext = (world: World, attempt: Attempt): CallContext => ({
  signal: attempt.signal,
  timeoutMs: world.callTimeoutMs,
  record: attempt.record,
  ...(attempt.traceParent !== undefined && { traceParent: attempt.traceParent }),
})

export interface OutOfReach {
  readonly type: 'out_of_reach'
  readonly code: 'grant_revoked' | 'credential_unreadable'
}
export type CalendarAccess =
  | {
      readonly type: 'in_reach'
      readonly calendar: Calendar
      readonly address: string
      /** The account that its provider may ask to rest. */
      readonly account: string
    }
  | OutOfReach

/** A connection's calendar, or why nobody but a person can reach it. */
export const reachCalendar = (
  world: World,
  tenantId: string,
  connection: CalendarConnection | undefined,
): CalendarAccess => {
  if (connection?.state !== 'active') return { type: 'out_of_reach', code: 'grant_revoked' }
  const opened = world.calendarOf(tenantId, connection)
  return opened.type === 'opened'
    ? { type: 'in_reach', calendar: opened.calendar, address: connection.address, account: connection.id }
    : { type: 'out_of_reach', code: 'credential_unreadable' }
}

/** Who can put it right: a grant comes back from its calendar's owner, a key from whoever keeps the ring. */
const ownerByCode = {
  grant_revoked: 'calendar_owner',
  credential_unreadable: 'operations',
} as const satisfies Record<OutOfReach['code'], string>

export const deadOutOfReach = ({
  code,
}: Pick<OutOfReach, 'code'>): Extract<Prepared<never>, { type: 'dead' }> => ({
  type: 'dead',
  class: 'permission',
  code,
  owner: ownerByCode[code],
})

/** Trouble with this one calendar that is the provider's and passes. The other reasons do not, without a person. */
export const passes = ({ reason }: Extract<CalendarBusy, { type: 'unknown' }>): boolean =>
  reason === 'internal' || reason === 'missing'

/** How long an account rests when its provider throttles without saying for how long. */
const THROTTLE_DEFAULT_MS = 60_000
/** Google's invitation quota recovers over hours; see "Calendar usage limits exceeded" in its error guide. */
const QUOTA_PAUSE_MS = 60 * 60_000

/** What a failure can come to: anything but success. */
export type Failed = Exclude<Outcome<never>, { type: 'done' }>

/**
 * What a failed call means for an action that only reads, or that provably did not write. An uncertain read is a
 * read that can be made again.
 */
export const outcomeOfFailedRead = (failure: CallFailure): Failed => {
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
export const outcomeOfFailedWrite = (failure: CallFailure): Failed => {
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

const outcomeOfRefusal = (failure: Extract<CallFailure, { type: 'refused' }>): Failed => {
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
