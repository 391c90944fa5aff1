/**
 * What the token sources of all providers share: a refreshed token is kept until shortly before it expires, and callers
 * who ask at the same time wait for the same refresh.
 */
import type { CallContext, CallFailure } from '../call.ts'
import { beforeCut, openDeadline, recordExchange } from '../http.ts'
import type { Answered, Exchange } from '../http.ts'
import type { TokenAnswer, TokenSource } from './calendar.ts'

/** A token this close to its end is not handed out: it could expire on its way to the provider. */
const EXPIRY_MARGIN_MS = 60_000

export type RefreshAnswer =
  | { readonly type: 'refreshed'; readonly accessToken: string; readonly lifetimeMs: number }
  | Exclude<TokenAnswer, { readonly type: 'token' }>

/** A token source over one way to refresh. `now` reads the clock by which tokens age. */
export const cachedTokens = (
  refresh: (context: CallContext) => Promise<RefreshAnswer>,
  now: () => Date,
): TokenSource => {
  let kept: { readonly accessToken: string; readonly usableUntilMs: number } | undefined
  let running: Promise<RefreshAnswer> | undefined

  const refreshAndKeep = async (context: CallContext): Promise<RefreshAnswer> => {
    // Lifetimes count from before the request, so that a slow answer never makes a token look younger than it is.
    const askedAtMs = now().getTime()
    const answer = await refresh(context)
    if (answer.type === 'refreshed') {
      const usableUntilMs = askedAtMs + answer.lifetimeMs - EXPIRY_MARGIN_MS
      kept = { accessToken: answer.accessToken, usableUntilMs }
    }
    return answer
  }
  const start = (context: CallContext): Promise<RefreshAnswer> => {
    const started = refreshAndKeep(context).finally(() => {
      running = undefined
    })
    running = started
    return started
  }

  const ask = async (context: CallContext): Promise<TokenAnswer> => {
    if (kept !== undefined && now().getTime() < kept.usableUntilMs) {
      return { type: 'token', accessToken: kept.accessToken }
    }
    const shared = running
    const answer = await (shared === undefined ? start(context) : follow(shared, context))
    if (answer === undefined) return { type: 'unavailable', code: 'deadline_exceeded' }
    if (answer.type === 'refreshed') return { type: 'token', accessToken: answer.accessToken }
    // The refresh was cut short by the caller who led it. That says nothing to one whose own time is not over.
    return shared !== undefined && wasCut(answer) ? ask(context) : answer
  }
  const forget = (accessToken: string) => {
    if (kept?.accessToken === accessToken) kept = undefined
  }
  return Object.assign(ask, { forget })
}

const wasCut = (answer: RefreshAnswer): boolean =>
  answer.type === 'unavailable' && (answer.code === 'aborted' || answer.code === 'deadline_exceeded')

/** Waits for another caller's refresh, but no longer than this caller may: undefined when its own time was over first. */
const follow = async (
  shared: Promise<RefreshAnswer>,
  context: CallContext,
): Promise<RefreshAnswer | undefined> => {
  const deadline = openDeadline(context)
  try {
    return await beforeCut(shared, deadline)
  } finally {
    deadline.close()
  }
}

export interface AuthorisedCall<T extends { readonly type: string }> {
  readonly provider: string
  readonly operation: string
  readonly tokens: TokenSource
  readonly context: CallContext
  /** Makes the one request. */
  readonly send: (accessToken: string) => Promise<Exchange>
  /** What an answer means, success statuses and refusals alike. */
  readonly judge: (answered: Answered) => T
}

/** One call with one bearer token: no token, no call; a token that was refused is forgotten. */
export const callAuthorised = async <T extends { readonly type: string }>(
  call: AuthorisedCall<T>,
): Promise<T | CallFailure> => {
  const { tokens, context } = call
  const token = await tokens(context)
  switch (token.type) {
    case 'revoked':
      // The status with which token endpoints answer invalid_grant (RFC 6749, 5.2).
      return { type: 'refused', reason: 'grant_revoked', code: token.code, status: 400 }
    case 'unavailable': {
      const { code, retryAfterMs } = token
      return { type: 'not_sent', code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    }
    case 'token': {
      const made = await call.send(token.accessToken)
      const answer = made.type === 'answered' ? call.judge(made) : made.failure
      recordExchange(context, { provider: call.provider, operation: call.operation }, made, answer)
      if (made.type === 'answered' && made.status === 401) tokens.forget?.(token.accessToken)
      return answer
    }
  }
}
