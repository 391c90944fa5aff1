/**
 * One HTTP exchange, and what can be said of it without knowing the provider. Every client library of this package
 * sends through here, so that timing, redirects, lost answers and the notebook are the same for all of them.
 */
import type { CallContext, CallFailure } from './call.ts'

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: string | undefined
}

interface Timing {
  readonly startedAt: Date
  readonly durationMs: number
}

/** An answer that arrived whole, whatever its status. */
export interface Answered extends Timing {
  readonly type: 'answered'
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export type Exchange = Answered | (Timing & { readonly type: 'lost'; readonly failure: CallFailure })

/** More than any answer we ask for; a larger one is not what we asked for. */
const BODY_BYTES_MAX = 16 * 1024 * 1024

/**
 * Sends one request and reads its whole answer within the context's deadline. Follows no redirect: a redirected write
 * is not the write that was asked for, and a bearer token does not travel to a host that was not.
 */
export const exchange = async (request: HttpRequest, context: CallContext): Promise<Exchange> => {
  const startedAt = new Date()
  const startedMs = performance.now()
  const timing = () => ({ startedAt, durationMs: Math.round(performance.now() - startedMs) })
  const deadline = openDeadline(context)
  try {
    if (deadline.cutBy() !== undefined) {
      return { type: 'lost', failure: { type: 'not_sent', code: 'aborted' }, ...timing() }
    }
    const headers = new Headers(request.headers)
    for (const [name, value] of Object.entries(traceHeaders(context))) headers.set(name, value)
    // A connection of its own: a kept one that the server has just closed makes the answer look lost, and a write of
    // which nothing is known costs far more than a handshake.
    headers.set('connection', 'close')
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      body: request.body ?? null,
      redirect: 'manual',
      signal: deadline.signal,
    })
    const body = await readCapped(response.body ?? [], BODY_BYTES_MAX)
    if (body === undefined) {
      return { type: 'lost', failure: { type: 'malformed', code: 'body_too_large' }, ...timing() }
    }
    return { type: 'answered', status: response.status, headers: response.headers, body, ...timing() }
  } catch (error) {
    const cutBy = deadline.cutBy()
    const failure: CallFailure =
      cutBy === undefined ? networkFailure(error) : { type: 'uncertain', code: cutBy }
    return { type: 'lost', failure, ...timing() }
  } finally {
    deadline.close()
  }
}

/** The headers by which the other side can join its records to our trace; none when there is none. */
export const traceHeaders = ({
  traceParent,
}: Pick<CallContext, 'traceParent'>): { readonly traceparent?: string } =>
  traceParent === undefined ? {} : { traceparent: traceParent }

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Lets a client library make its one request through `exchange`, and answers with what really happened on the wire
 * instead of with what the library made of it. A library that tries again behind our back is refused the second time,
 * so a hidden retry cannot happen.
 *
 * Throws when the library failed before it sent anything: that is a defect, not the world's behaviour.
 */
export const exchangeThrough = async (
  context: CallContext,
  send: (fetch: Fetch) => Promise<unknown>,
): Promise<Exchange> => {
  const seen: Exchange[] = []
  const fetchOnce: Fetch = async (url, init) => {
    if (seen.length > 0) throw new Error('one call may make one request')
    const made = await exchange(requestOf(url, init), context)
    seen.push(made)
    if (made.type === 'lost') throw new Error(`no answer: ${made.failure.code}`)
    return responseOf(made)
  }
  try {
    await send(fetchOnce)
  } catch (error) {
    // After an exchange the library only repeats in its own words what the exchange already says.
    if (seen.length === 0) throw error
  }
  const [made] = seen
  if (made === undefined) throw new Error('the client library sent nothing')
  return made
}

const requestOf = (url: string | URL | Request, init: RequestInit | undefined): HttpRequest => {
  const body = init?.body ?? undefined
  return {
    url: typeof url === 'string' ? url : 'href' in url ? url.href : url.url,
    method: init?.method ?? 'GET',
    headers: new Headers(init?.headers),
    body: body instanceof URLSearchParams ? body.toString() : body === undefined ? undefined : textOf(body),
  }
}

const textOf = (body: unknown): string => {
  if (typeof body !== 'string') throw new TypeError('only text is sent')
  return body
}

const responseOf = ({ status, headers, body }: Answered): Response =>
  // A Response refuses a body beside these statuses, even an empty one.
  new Response([204, 205, 304].includes(status) ? null : body, { status, headers })

export interface Deadline {
  readonly signal: AbortSignal
  /** Why the signal fired, or undefined while it has not. `aborted` is ours (shutdown, lease), not the provider's doing. */
  readonly cutBy: () => 'deadline_exceeded' | 'aborted' | undefined
  readonly close: () => void
}

/** A signal that fires with the context's own or when its time for one exchange is over. Must be closed. */
export const openDeadline = (context: Pick<CallContext, 'signal' | 'timeoutMs'>): Deadline => {
  const controller = new AbortController()
  let cutBy: 'deadline_exceeded' | 'aborted' | undefined
  const cut = (by: 'deadline_exceeded' | 'aborted') => {
    cutBy ??= by
    controller.abort()
  }
  const onAbort = () => cut('aborted')
  const timer = setTimeout(() => cut('deadline_exceeded'), context.timeoutMs)
  context.signal.addEventListener('abort', onAbort)
  if (context.signal.aborted) onAbort()
  return {
    signal: controller.signal,
    cutBy: () => cutBy,
    close: () => {
      clearTimeout(timer)
      context.signal.removeEventListener('abort', onAbort)
    },
  }
}

/** The work's result, or undefined when the deadline came first. What the work does later is then nobody's concern. */
export const beforeCut = async <T>(work: Promise<T>, { signal }: Deadline): Promise<T | undefined> => {
  const cut = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined))
    if (signal.aborted) resolve(undefined)
  })
  return Promise.race([cut, work])
}

/** The bytes as UTF-8, or undefined when there are more than `bytesMax`; the rest is then not read. */
export const readCapped = async (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<string | undefined> => {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return undefined
    read.push(chunk)
  }
  return Buffer.concat(read).toString('utf8')
}

/** Errors of name resolution and of opening a connection, whatever the call: no byte of the request was sent. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The server's certificate was refused, which happens before the request is written. */
const CERTIFICATE_REFUSED = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/

type NetworkFailure = { readonly type: 'not_sent' | 'uncertain'; readonly code: string }

/**
 * What a thrown network error proves. Only an error known to come before the request is `not_sent`; a reset, a closed
 * socket or a cut body may all follow a request that took effect.
 */
export const networkFailure = (error: unknown): NetworkFailure => {
  const cause = causeOf(error)
  const code = codeOf(cause)
  const neverSent =
    NEVER_CONNECTED.has(code) || CERTIFICATE_REFUSED.test(code) || failedToConnect(cause, code)
  return neverSent ? { type: 'not_sent', code } : { type: 'uncertain', code }
}

/** fetch wraps the socket's error; the innermost error that carries a code is the one that says what happened. */
const causeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'cause' in error && codeOf(error.cause) !== 'network_error'
    ? causeOf(error.cause)
    : error

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? safeCode(error.code, 'network_error')
    : 'network_error'

/** ETIMEDOUT and the unreachable codes also break open connections, so the system call decides. */
const failedToConnect = (cause: unknown, code: string): boolean => {
  if (typeof cause !== 'object' || cause === null) return false
  if ('errors' in cause && Array.isArray(cause.errors) && cause.errors.length > 0) {
    return cause.errors.every((each: unknown) => failedToConnect(each, code))
  }
  return 'syscall' in cause && cause.syscall === 'connect'
}

/** A provider's own code word as a code of ours: short, plain, and never a sentence that could name somebody. */
export const safeCode = (given: unknown, otherwise: string): string =>
  typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : otherwise

/**
 * How long the answer asks us to wait, in milliseconds: seconds or an HTTP date (RFC 9110, Retry-After). A date is
 * measured against the server's own clock where it tells it. Undefined when absent or unreadable.
 */
export const retryAfterMs = (headers: Headers, now: Date): number | undefined => {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse takes almost anything for a date; an HTTP date ends in GMT.
  const until = value.endsWith('GMT') ? Date.parse(value) : Number.NaN
  if (Number.isNaN(until)) return undefined
  const serverNow = Date.parse(headers.get('date') ?? '')
  return Math.max(0, until - (Number.isNaN(serverNow) ? now.getTime() : serverNow))
}

/** What a status says by itself, for a provider whose error body says nothing more. Not for success statuses. */
export const failureOfStatus = ({ status, headers }: Answered, code: string): CallFailure => {
  if (status === 429) return { type: 'throttled', code, retryAfterMs: retryAfterMs(headers, new Date()) }
  // A redirect is not followed and proves nothing; 408 and 5xx may come after the effect.
  if (status < 400 || status === 408 || status >= 500) return { type: 'uncertain', code }
  switch (status) {
    case 401:
      return { type: 'refused', reason: 'unauthenticated', code, status }
    case 403:
      return { type: 'refused', reason: 'forbidden', code, status }
    case 404:
    case 410:
      return { type: 'refused', reason: 'not_found', code, status }
    case 409:
    case 423:
      return { type: 'refused', reason: 'conflict', code, status }
    case 412:
      return { type: 'refused', reason: 'stale', code, status }
    default:
      return { type: 'refused', reason: 'invalid', code, status }
  }
}

/** A body as JSON, or undefined when it is none: a sign-in page, half a document, nothing. */
export const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const FAILURE_TYPES = new Set(['not_sent', 'refused', 'throttled', 'uncertain', 'malformed'])

/** Writes one exchange into the attempt's notebook. */
export const recordExchange = (
  context: CallContext,
  call: { readonly provider: string; readonly operation: string },
  made: Exchange,
  answer: { readonly type: string; readonly code?: unknown },
): void => {
  const headers = made.type === 'answered' ? made.headers : undefined
  context.record({
    ...call,
    startedAt: made.startedAt,
    durationMs: made.durationMs,
    status: made.type === 'answered' ? made.status : undefined,
    outcome: FAILURE_TYPES.has(answer.type)
      ? `${answer.type}:${safeCode(answer.code, 'other')}`
      : answer.type,
    requestId: headers?.get('request-id') ?? headers?.get('x-request-id') ?? undefined,
  })
}
