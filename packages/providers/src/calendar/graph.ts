/**
 * Microsoft's Graph client with a middleware chain of our own. Its default chain repeats POSTs after 429, 503 and 504,
 * drops the Authorization header for hosts it does not know, and loses the cause of a lost answer, its headers and any
 * body that is not JSON; this one does none of that.
 */
import { Client, ResponseType } from '@microsoft/microsoft-graph-client'
import type { Context, GraphRequest, Middleware } from '@microsoft/microsoft-graph-client'
import type { CallContext, CallFailure } from '../call.ts'
import { exchangeThrough } from '../http.ts'
import type { Answered, Fetch } from '../http.ts'
import type { TokenSource } from './calendar.ts'
import { callAuthorised } from './tokens.ts'

export interface GraphOptions {
  /** Where Graph lives, without the version. Default: https://graph.microsoft.com/ */
  readonly baseUrl?: string
  readonly tokens: TokenSource
}

export interface GraphCall<T> {
  readonly operation: string
  readonly context: CallContext
  /** Below the version, with every segment and value already percent-encoded; the client encodes nothing. */
  readonly path: string
  /** The etag that the event must still have. */
  readonly ifMatch?: string | undefined
  readonly send: (request: GraphRequest) => Promise<unknown>
  readonly judge: (answered: Answered) => T
}
export type GraphCalls = <T extends { readonly type: string }>(call: GraphCall<T>) => Promise<T | CallFailure>

export const GRAPH_URL = 'https://graph.microsoft.com/'
export const GRAPH_VERSION = 'v1.0'

/**
 * Asked of every call. Default ids change when an item moves to another folder (Microsoft Graph docs, "Get immutable
 * identifiers"), and times come without an offset, so their zone must be one that needs none.
 */
const PREFER = 'IdType="ImmutableId", outlook.timezone="UTC"'

export const graphCalls =
  ({ baseUrl = GRAPH_URL, tokens }: GraphOptions): GraphCalls =>
  ({ operation, context, path, ifMatch, send, judge }) =>
    callAuthorised({
      provider: 'microsoft',
      operation,
      tokens,
      context,
      judge,
      send: (accessToken) =>
        exchangeThrough(context, (fetch) =>
          send(
            Client.initWithMiddleware({
              baseUrl,
              defaultVersion: GRAPH_VERSION,
              middleware: [authentication(accessToken), lastMiddleware(fetch)],
            })
              .api(path)
              .headers({ Prefer: PREFER, ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }) })
              // Raw: the client hands the answer on as it is, errors included, and reads no body.
              .responseType(ResponseType.RAW),
          ),
        ),
    })

/** Sends the token wherever the base URL points. The client's own handler knows only Microsoft's hosts, and only https. */
const authentication = (accessToken: string): Middleware => {
  let next: Middleware | undefined
  return {
    execute: async (context: Context) => {
      const headers = new Headers(context.options?.headers)
      headers.set('authorization', `Bearer ${accessToken}`)
      context.options = { ...context.options, headers }
      await next?.execute(context)
    },
    setNext: (middleware: Middleware) => {
      next = middleware
    },
  }
}

const lastMiddleware = (fetch: Fetch): Middleware => ({
  execute: async (context: Context) => {
    const url: unknown = context.request
    if (typeof url !== 'string') throw new TypeError('the client names its request by a URL')
    context.response = await fetch(url, context.options)
  },
})
