import { OAuth2Client, gaxios } from 'google-auth-library'
import { exchangeThrough, recordExchange } from '../http.ts'
import type { Fetch } from '../http.ts'
import type { TokenSource } from './calendar.ts'
import { judgeTokenAnswer } from './token-answer.ts'
import { cachedTokens } from './tokens.ts'

export interface GoogleRefreshOptions {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  /** Default: Google's token endpoint. */
  readonly tokenUrl?: string
  /** The clock by which tokens age. */
  readonly now?: () => Date
}

/** Access tokens for one Google grant, refreshed when they near their end. Google's refresh tokens do not rotate. */
export const googleRefreshTokenSource = (options: GoogleRefreshOptions): TokenSource =>
  cachedTokens(
    async (context) => {
      const made = await exchangeThrough(context, (fetch) =>
        refreshClient(options, fetch).refreshAccessToken(),
      )
      const answer = judgeTokenAnswer(made, isRevoked)
      recordExchange(context, { provider: 'google', operation: 'token' }, made, answer)
      return answer
    },
    options.now ?? (() => new Date()),
  )

/** Revoked, expired (a test-mode app's tokens die after a week) or never ours: only consent brings a new one. */
const isRevoked = (error: string): boolean => error === 'invalid_grant'

const refreshClient = (
  { clientId, clientSecret, refreshToken, tokenUrl }: GoogleRefreshOptions,
  fetch: Fetch,
): OAuth2Client => {
  const client = new OAuth2Client({
    clientId,
    clientSecret,
    transporter: new OneRequest(fetch),
    // Its request logging, which the environment can switch on, would print tokens.
    useAuthRequestParameters: false,
    ...(tokenUrl === undefined ? {} : { endpoints: { oauth2TokenUrl: tokenUrl } }),
  })
  client.setCredentials({ refresh_token: refreshToken })
  return client
}

/** The client asks for four tries of every token request, in the request itself; this transport takes that back. */
class OneRequest extends gaxios.Gaxios {
  readonly #fetch: Fetch

  constructor(fetch: Fetch) {
    super()
    this.#fetch = fetch
  }

  override request<T>(options: gaxios.GaxiosOptions = {}): gaxios.GaxiosPromise<T> {
    return super.request<T>({
      ...options,
      retry: false,
      retryConfig: { retry: 0 },
      fetchImplementation: this.#fetch,
    })
  }
}
