/**
 * How a call to a provider can fail, seen by what it proves about the effect. Every adapter maps its client's
 * errors onto these and nothing else.
 */
export type CallFailure =
  /** Proved that no request left this machine (refused connection, unknown host, no token). Safe to send again. */
  | { readonly type: 'not_sent'; readonly code: string; readonly retryAfterMs?: number }
  /** The provider answered no, and nothing was written. A refusal known to lie about that is `uncertain` instead. */
  | {
      readonly type: 'refused'
      readonly reason: RefusalReason
      readonly code: string
      readonly status: number
    }
  /** The provider answered "not now". Nothing was done. */
  | { readonly type: 'throttled'; readonly code: string; readonly retryAfterMs: number | undefined }
  /**
   * The request may have arrived and may have taken effect: lost answer, deadline, 5xx, refusal that is known to lie.
   * `claimed` is what such a refusal said, for the day a read proves that nothing was written.
   */
  | { readonly type: 'uncertain'; readonly code: string; readonly claimed?: RefusalReason }
  /** A success status with a body that is not what the contract promises (HTML, truncated JSON, missing fields). */
  | { readonly type: 'malformed'; readonly code: string }

export type RefusalReason =
  | 'unauthenticated'
  | 'grant_revoked'
  | 'forbidden'
  | 'not_found'
  | 'invalid'
  | 'invalid_attendee'
  | 'conflict'
  | 'stale'
  | 'quota_exhausted'

/** One attempt's leave to call out: a deadline per call, and a notebook for what was called. */
export interface CallContext {
  /** Aborts every call of the attempt, e.g. on shutdown after the grace period or when the lease nears its end. */
  readonly signal: AbortSignal
  /** Bound of one HTTP exchange including its body, in milliseconds. */
  readonly timeoutMs: number
  /**
   * The trace this attempt belongs to, in the form of W3C Trace Context's `traceparent`; sent with every exchange. Judged
   * where it came in, and never again.
   */
  readonly traceParent?: string
  /** Receives one redacted record per HTTP exchange: no address, no token, no body. */
  readonly record: (call: ProviderCall) => void
}

/** One HTTP exchange as the trace may show it. Holds nothing personal. */
export interface ProviderCall {
  readonly provider: string
  /** e.g. `events.insert` */
  readonly operation: string
  readonly startedAt: Date
  readonly durationMs: number
  /** HTTP status, or undefined when no answer came. */
  readonly status: number | undefined
  /** What the exchange came to: the answer's type, for failures with its code, e.g. `written`, `refused:notFound`. */
  readonly outcome: string
  /** The provider's own request id, where it gives one. */
  readonly requestId: string | undefined
}
