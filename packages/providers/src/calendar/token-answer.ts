/** A token endpoint's answer to a refresh (RFC 6749, 5.1 and 5.2), judged from the wire. */
import { z } from 'zod'
import { failureOfStatus, jsonOf, retryAfterMs, safeCode } from '../http.ts'
import type { Exchange } from '../http.ts'
import type { RefreshAnswer } from './tokens.ts'

const Granted = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive() })
const Refused = z.object({ error: z.string() })

/**
 * What a refresh came to. `isRevoked` says which of the endpoint's error words mean that only a person can help; every
 * other failure leaves the grant as it is.
 */
export const judgeTokenAnswer = (made: Exchange, isRevoked: (error: string) => boolean): RefreshAnswer => {
  if (made.type === 'lost') return { type: 'unavailable', code: made.failure.code }
  const body = jsonOf(made.body)
  if (made.status === 200) {
    const granted = Granted.safeParse(body)
    if (!granted.success) return { type: 'unavailable', code: 'token_shape' }
    const { access_token: accessToken, expires_in: lifetimeS } = granted.data
    return { type: 'refreshed', accessToken, lifetimeMs: lifetimeS * 1000 }
  }
  const error = Refused.safeParse(body).data?.error
  const code = safeCode(error, `http_${made.status}`)
  const refused = failureOfStatus(made, code).type === 'refused'
  if (refused && error !== undefined && isRevoked(error)) return { type: 'revoked', code }
  const waitMs = retryAfterMs(made.headers, new Date())
  return { type: 'unavailable', code, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) }
}
