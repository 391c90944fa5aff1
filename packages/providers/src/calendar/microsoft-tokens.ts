import { ConfidentialClientApplication } from '@azure/msal-node'
import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node'
import { z } from 'zod'
import { exchangeThrough, jsonOf, recordExchange } from '../http.ts'
import type { Exchange, Fetch } from '../http.ts'
import type { TokenSource } from './calendar.ts'
import { judgeTokenAnswer } from './token-answer.ts'
import { cachedTokens } from './tokens.ts'

export interface MicrosoftRefreshOptions {
  readonly clientId: string
  readonly clientSecret: string
  /** Directory id or domain, or `common` or `organizations`. */
  readonly tenant: string
  readonly refreshToken: string
  /** Default: https://login.microsoftonline.com. Plain http is taken for loopback hosts only. */
  readonly loginUrl?: string
  /** The clock by which tokens age. */
  readonly now?: () => Date
  /**
   * Told of the refresh token that replaces the one in use. The old one still works until its own end, but that end does
   * not move: a grant lives on only if the new token is kept. Never called twice at once. Awaited before the access
   * token is handed out; what it throws reaches whoever asked, no access token is kept, and the next ask refreshes with
   * the old token again, so that a replacement which could not be kept is told anew.
   */
  readonly onRotated?: (refreshToken: string) => Promise<void> | void
}

/** Everything the person consented to at Graph. */
const SCOPES = ['https://graph.microsoft.com/.default']

/** Access tokens for one Microsoft grant, refreshed when they near their end. */
export const microsoftRefreshTokenSource = (options: MicrosoftRefreshOptions): TokenSource => {
  const loginUrl = loginUrlOf(options.loginUrl ?? AUTHORITY)
  let refreshToken = options.refreshToken
  return cachedTokens(
    async (context) => {
      const made = await exchangeThrough(context, (fetch) =>
        signIn(options, loginUrl, fetch).acquireTokenByRefreshToken({ refreshToken, scopes: SCOPES }),
      )
      const answer = judgeTokenAnswer(made, isRevoked)
      recordExchange(context, { provider: 'microsoft', operation: 'token' }, made, answer)
      const rotated = answer.type === 'refreshed' ? rotatedTokenIn(made) : undefined
      if (rotated !== undefined && rotated !== refreshToken) {
        await options.onRotated?.(rotated)
        refreshToken = rotated
      }
      return answer
    },
    options.now ?? (() => new Date()),
  )
}

/**
 * Expired, revoked, password changed, consent withdrawn, or a policy that wants to see the person (MSAL's
 * interaction-required errors).
 */
const isRevoked = (error: string): boolean =>
  ['invalid_grant', 'interaction_required', 'login_required', 'consent_required'].includes(error)

const Rotated = z.object({ refresh_token: z.string().min(1) })
const rotatedTokenIn = (made: Exchange): string | undefined =>
  made.type === 'answered' ? Rotated.safeParse(jsonOf(made.body)).data?.refresh_token : undefined

/** An authority whose endpoints MSAL knows without asking, so that a refresh is one request. */
const AUTHORITY = 'https://login.microsoftonline.com'

const loginUrlOf = (given: string): string => {
  const url = new URL(given)
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) {
    throw new TypeError('secrets go to a sign-in URL over https, or to this machine')
  }
  return given.replace(/\/+$/, '')
}

/**
 * A fresh application for every refresh: one that lives on answers from memory for a minute after a 429 or 5xx, as if
 * the endpoint had said it again.
 */
const signIn = (
  { clientId, clientSecret, tenant }: MicrosoftRefreshOptions,
  loginUrl: string,
  fetch: Fetch,
): ConfidentialClientApplication =>
  new ConfidentialClientApplication({
    auth: { clientId, clientSecret, authority: `${AUTHORITY}/${tenant}` },
    system: { networkClient: networkTo(loginUrl, fetch) },
  })

/** MSAL refuses authorities that are not https or not Microsoft's; its requests are led to `loginUrl` underneath. */
const networkTo = (loginUrl: string, fetch: Fetch): INetworkModule => {
  const send = async (method: string, url: string, { headers = {}, body }: NetworkRequestOptions = {}) => {
    const target = url.startsWith(AUTHORITY) ? `${loginUrl}${url.slice(AUTHORITY.length)}` : url
    const response = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) })
    // What MSAL makes of the body decides nothing here, and it must not trip over a page of HTML.
    const parsed = jsonOf(await response.text()) ?? {}
    return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed }
  }
  // The type parameter is MSAL's claim about a body that it reads field by field.
  return {
    sendGetRequestAsync: async <T>(url: string, options?: NetworkRequestOptions) =>
      (await send('GET', url, options)) as NetworkResponse<T>,
    sendPostRequestAsync: async <T>(url: string, options?: NetworkRequestOptions) =>
      (await send('POST', url, options)) as NetworkResponse<T>,
  }
}
