/**
 * Sends one signed webhook to a URL that a customer chose. The URL is hostile until proved otherwise: whatever it
 * resolves to must be public, and the connection goes to the very address that was checked.
 */
import { lookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import type { CallContext } from '../call.ts'
import { beforeCut, networkFailure, openDeadline, readCapped, retryAfterMs, traceHeaders } from '../http.ts'
import type { Deadline } from '../http.ts'
import {
  addressFault,
  allowedOrigins,
  isLoopbackAddress,
  isPublicAddress,
  type AddressFault,
} from './address.ts'
import { signedHeaders } from './signature.ts'

export interface WebhookMessage {
  readonly url: string
  /** The same for every delivery of one message; receivers dedupe by it. */
  readonly id: string
  /** Of this attempt; receivers refuse old ones. */
  readonly timestamp: Date
  /** JSON, sent as it is: the signature covers its bytes. */
  readonly body: string
  /** Standard Webhooks form, `whsec_<base64>`. */
  readonly secret: string
}

export type WebhookAnswer =
  | { readonly type: 'accepted'; readonly status: number }
  /**
   * The receiver said no. `gone` (410) means that it wants no more of them (Standard Webhooks specification); a redirect
   * is not followed, for it leads to an address that nobody checked.
   */
  | { readonly type: 'refused'; readonly reason: WebhookRefusal; readonly status: number }
  | { readonly type: 'throttled'; readonly status: number; readonly retryAfterMs: number | undefined }
  /** It may have arrived. Safe to send again: the receiver knows the id. */
  | { readonly type: 'uncertain'; readonly code: string }
  | { readonly type: 'not_sent'; readonly code: string }
  /** The URL is not one we send to. Nothing was sent, and nothing will be until the URL or its DNS changes. */
  | { readonly type: 'forbidden_address'; readonly code: ForbiddenCode }

export type WebhookRefusal = 'gone' | 'redirect' | 'client_error'
export type ForbiddenCode = AddressFault | 'not_loopback'

export interface WebhookSender {
  deliver(message: WebhookMessage, context: CallContext): Promise<WebhookAnswer>
}

export interface WebhookOptions {
  /**
   * Exact origins on this machine that may be called over http, e.g. `http://127.0.0.1:4003`; empty in production.
   * Throws when one is not the origin of a loopback host.
   */
  readonly allowLoopback: readonly string[]
  /** How names are resolved; default: the operating system's way. */
  readonly resolve?: Resolve
}
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** Receivers answer with a status; what they write beyond this is not read. */
const ANSWER_BYTES_MAX = 64 * 1024

export const webhookSender = ({ allowLoopback, resolve = resolveAll }: WebhookOptions): WebhookSender => {
  const allowed = allowedOrigins(allowLoopback)
  return {
    deliver: async (message, context) => {
      const target = targetOf(message.url, allowed)
      if (target.type === 'forbidden_address') return target
      // Signed before anything is awaited: a malformed secret is a defect and must not look like a lost answer.
      const letter = { body: message.body, headers: headersOf(message, context) }
      const startedAt = new Date()
      const startedMs = performance.now()
      const deadline = openDeadline(context)
      try {
        const { answer, status, called } = await sendTo(target, letter, resolve, deadline)
        if (called) {
          const durationMs = Math.round(performance.now() - startedMs)
          const outcome = outcomeOf(answer)
          context.record({ ...WEBHOOK_CALL, startedAt, durationMs, status, outcome, requestId: undefined })
        }
        return answer
      } finally {
        deadline.close()
      }
    },
  }
}

const WEBHOOK_CALL = { provider: 'webhook', operation: 'webhook.deliver' } as const

const outcomeOf = (answer: WebhookAnswer): string => {
  if ('code' in answer) return `${answer.type}:${answer.code}`
  return answer.type === 'refused' ? `refused:${answer.reason}` : answer.type
}

interface Letter {
  readonly body: string
  readonly headers: Readonly<Record<string, string | number>>
}

const headersOf = (message: WebhookMessage, context: CallContext): Letter['headers'] => ({
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(message.body),
  'user-agent': 'Aftercommit-Webhooks',
  ...traceHeaders(context),
  ...signedHeaders(message),
})

interface Target {
  readonly type: 'target'
  readonly url: URL
  readonly loopback: boolean
}
type Forbidden = Extract<WebhookAnswer, { type: 'forbidden_address' }>

const forbidden = (code: ForbiddenCode): Forbidden => ({ type: 'forbidden_address', code })

const targetOf = (given: string, allowed: ReadonlySet<string>): Target | Forbidden => {
  const fault = addressFault(given, allowed)
  if (fault !== undefined) return forbidden(fault)
  const url = new URL(given)
  return { type: 'target', url, loopback: allowed.has(url.origin) }
}

interface Delivery {
  readonly answer: WebhookAnswer
  readonly status: number | undefined
  /** Whether a connection was tried at all. */
  readonly called: boolean
}

const sendTo = async (
  { url, loopback }: Target,
  letter: Letter,
  resolve: Resolve,
  deadline: Deadline,
): Promise<Delivery> => {
  let called = false
  try {
    // The signal cannot stop a name lookup, so the wait for it is what ends.
    const addresses = await beforeCut(resolveHost(url.hostname, resolve), deadline)
    if (addresses === undefined) {
      return { answer: { type: 'not_sent', code: deadline.cutBy() ?? 'aborted' }, status: undefined, called }
    }
    // One inside address among public ones is enough to refuse: nobody may choose which one is taken.
    const acceptable = loopback ? isLoopbackAddress : isPublicAddress
    if (addresses.length === 0 || !addresses.every(({ address }) => acceptable(address))) {
      return { answer: forbidden(loopback ? 'not_loopback' : 'not_public'), status: undefined, called }
    }
    called = true
    const response = await post(url, letter, pinnedTo(addresses), deadline.signal)
    const answer = answerOf(response)
    await drain(response)
    return { answer, status: response.statusCode, called }
  } catch (error) {
    const cutBy = deadline.cutBy()
    const { type, code } = cutBy === undefined ? networkFailure(error) : { type: 'uncertain', code: cutBy }
    // A name that did not resolve was never called, whatever the resolver's error is named.
    const sent = called && type !== 'not_sent'
    return { answer: { type: sent ? 'uncertain' : 'not_sent', code }, status: undefined, called }
  }
}

const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true })

/** An address literal is its own answer; URL has already turned odd spellings (octal, hexadecimal, one number) plain. */
const resolveHost = async (hostname: string, resolve: Resolve): Promise<readonly LookupAddress[]> => {
  const literal = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  return family === 0 ? resolve(hostname) : [{ address: literal, family }]
}

/** A lookup that answers what was checked, so that DNS cannot answer differently a moment later. */
const pinnedTo =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, done) => {
    const [first] = addresses
    if (options.all === true) done(null, [...addresses])
    else if (first !== undefined) done(null, first.address, first.family)
  }

const post = (
  url: URL,
  letter: Letter,
  pinned: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: letter.headers,
      // No pool: a pooled connection would be reused by host name, without asking the pinned lookup.
      agent: false,
      lookup: pinned,
      signal,
    })
    request.once('response', resolve)
    // Not `once`: an error after the answer (a reset while it is drained) must find a listener as well.
    request.on('error', reject)
    request.end(letter.body)
  })

const answerOf = (response: IncomingMessage): WebhookAnswer => {
  // Node types the status as optional because the same class serves requests; an answer always has one.
  const status = response.statusCode ?? 0
  if (status >= 200 && status < 300) return { type: 'accepted', status }
  if (status === 429) {
    const headers = new Headers()
    for (const name of ['retry-after', 'date']) headers.set(name, response.headers[name]?.toString() ?? '')
    return { type: 'throttled', status, retryAfterMs: retryAfterMs(headers, new Date()) }
  }
  if (status === 410) return { type: 'refused', reason: 'gone', status }
  if (status >= 300 && status < 400) return { type: 'refused', reason: 'redirect', status }
  if (status >= 400 && status < 500 && status !== 408)
    return { type: 'refused', reason: 'client_error', status }
  return { type: 'uncertain', code: `http_${status}` }
}

/**
 * Reads what the receiver still has to say, within the cap and the deadline, so that it sees no broken connection. Its
 * status is its answer: nothing that happens to the body changes that.
 */
const drain = async (response: IncomingMessage): Promise<void> => {
  try {
    await readCapped(response, ANSWER_BYTES_MAX)
  } catch {
    // The answer stands.
  } finally {
    response.destroy()
  }
}
