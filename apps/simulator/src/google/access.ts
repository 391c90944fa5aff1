import { randomBytes } from 'node:crypto'
import type { Person } from '../contract.ts'
import type { Answer, Call } from '../exchange.ts'
import type { World } from '../state.ts'
import { badCredentials, insufficientPermissions, notFound } from './errors.ts'

const lifetimeS = 3599

/** The token endpoint: refresh tokens only. The JWT-bearer grant of service accounts is not simulated. */
export const grantToken = (world: World, call: Call): Answer => {
  const form = new URLSearchParams(call.text)
  const refuse = (error: string, description: string, status = 400): Answer => ({
    status,
    body: { error, error_description: description },
  })
  if (form.get('grant_type') !== 'refresh_token') {
    return refuse('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type') ?? ''}`)
  }
  if (!form.get('client_id')) return refuse('invalid_request', 'Could not determine client ID from request.')
  const person = personOfRefreshToken(world, call)
  if (!person) return refuse('invalid_grant', 'Token has been expired or revoked.')
  const accessToken = randomBytes(48).toString('base64url')
  const expiresAt = new Date(call.at.getTime() + lifetimeS * 1000)
  world.accessTokens.set(accessToken, { provider: 'google', address: person.address, expiresAt })
  return {
    status: 200,
    body: {
      access_token: accessToken,
      expires_in: lifetimeS,
      scope: 'https://www.googleapis.com/auth/calendar',
      token_type: 'Bearer',
    },
  }
}

export const personOfRefreshToken = (world: World, call: Call): Person | undefined => {
  const address = world.grants.get(new URLSearchParams(call.text).get('refresh_token') ?? '')
  const person = address === undefined ? undefined : world.people.get(address)
  return person?.provider === 'google' ? person : undefined
}

/**
 * Whose access token the call carries; undefined for none, unknown, expired, revoked or another provider's.
 */
export const callerOf = (world: World, call: Call): Person | undefined => {
  const token = world.accessTokens.get(call.bearer ?? '')
  if (token?.provider !== 'google' || token.address === undefined || token.expiresAt <= call.at)
    return undefined
  return world.people.get(token.address)
}

/** The calendar a path names, in lower case: `primary` is the caller's own. */
export const calendarAddressOf = (world: World, call: Call): string | undefined => {
  const { calendarId } = call.params
  return calendarId === 'primary' ? callerOf(world, call)?.address : calendarId?.toLowerCase()
}

/**
 * Runs `act` with the calendar's owner; another's calendar is as good as absent. Scopes come first: a grant that does
 * not cover events is refused whatever the calendar.
 */
export const onCalendar = (world: World, call: Call, act: (person: Person) => Answer): Answer => {
  const caller = callerOf(world, call)
  if (!caller) return badCredentials()
  if (caller.granted !== 'calendar') return insufficientPermissions()
  return calendarAddressOf(world, call) === caller.address ? act(caller) : notFound()
}
