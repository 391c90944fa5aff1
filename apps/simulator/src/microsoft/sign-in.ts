/**
 * Microsoft's sign-in: the token endpoint and the metadata that MSAL reads first for an authority it does not
 * know.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Person } from '../contract.ts'
import type { Answer, Call } from '../exchange.ts'
import type { World } from '../state.ts'

const lifetimeS = 3599

export const grantToken = (world: World, call: Call): Answer => {
  const form = formOf(call)
  if (!form.get('client_id')) {
    return refuse(
      call,
      400,
      'invalid_request',
      900144,
      "The request body must contain the parameter: 'client_id'.",
    )
  }
  switch (form.get('grant_type') ?? '') {
    case 'refresh_token':
      return refresh(world, call, form)
    case 'client_credentials':
      return grantApplication(world, call, form)
    default:
      return refuse(
        call,
        400,
        'unsupported_grant_type',
        70003,
        'The app requested an unsupported grant type.',
      )
  }
}

export const personOfRefreshToken = (world: World, call: Call): Person | undefined => {
  const address = world.grants.get(formOf(call).get('refresh_token') ?? '')
  const person = address === undefined ? undefined : world.people.get(address)
  return person?.provider === 'microsoft' ? person : undefined
}

/** A refresh answers with the next refresh token; the one it came for stays good, as on the real platform. */
const refresh = (world: World, call: Call, form: URLSearchParams): Answer => {
  const person = personOfRefreshToken(world, call)
  if (!person) {
    return refuse(
      call,
      400,
      'invalid_grant',
      700082,
      'The refresh token has expired due to inactivity or was revoked.',
    )
  }
  const refreshToken = randomBytes(48).toString('base64url')
  world.grants.set(refreshToken, person.address)
  const scope = form.get('scope') ?? ''
  const tenantId = guidFrom(tenantOf(call))
  return {
    status: 200,
    body: {
      token_type: 'Bearer',
      scope: scope
        .replaceAll(/\b(openid|profile|offline_access)\b/g, '')
        .trim()
        .replaceAll(/\s+/g, ' '),
      expires_in: lifetimeS,
      ext_expires_in: lifetimeS,
      access_token: issue(world, call, person.address),
      refresh_token: refreshToken,
      ...(form.get('client_info') === '1'
        ? { client_info: base64url({ uid: guidFrom(person.address), utid: tenantId }) }
        : {}),
      ...(/\bopenid\b/.test(scope) ? { id_token: idToken(call, person, form.get('client_id') ?? '') } : {}),
    },
  }
}

const grantApplication = (world: World, call: Call, form: URLSearchParams): Answer => {
  if (!form.get('client_secret') && !form.get('client_assertion')) {
    return refuse(call, 401, 'invalid_client', 7000216, "'client_assertion' or 'client_secret' is required.")
  }
  if (!(form.get('scope') ?? '').split(' ').some((scope) => scope.endsWith('/.default'))) {
    return refuse(
      call,
      400,
      'invalid_scope',
      1002012,
      'The provided value for scope is not valid: it must end in /.default.',
    )
  }
  return {
    status: 200,
    body: {
      token_type: 'Bearer',
      expires_in: lifetimeS,
      ext_expires_in: lifetimeS,
      access_token: issue(world, call, undefined),
    },
  }
}

export const openidConfiguration = (_world: World, call: Call): Answer => {
  const tenant = `${call.origin}/${encodeURIComponent(tenantOf(call))}`
  return {
    status: 200,
    body: {
      // As the real service names itself, whatever address it is reached at: MSAL trusts an issuer by its
      // host.
      issuer: `https://login.microsoftonline.com/${guidFrom(tenantOf(call))}/v2.0`,
      authorization_endpoint: `${tenant}/oauth2/v2.0/authorize`,
      token_endpoint: `${tenant}/oauth2/v2.0/token`,
      end_session_endpoint: `${tenant}/oauth2/v2.0/logout`,
      jwks_uri: `${tenant}/discovery/v2.0/keys`,
      response_types_supported: ['code', 'id_token'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    },
  }
}

const formOf = (call: Call): URLSearchParams => new URLSearchParams(call.text)
const tenantOf = (call: Call): string => call.params.tenant ?? 'common'

const issue = (world: World, call: Call, address: string | undefined): string => {
  const token = randomBytes(48).toString('base64url')
  const expiresAt = new Date(call.at.getTime() + lifetimeS * 1000)
  world.accessTokens.set(token, { provider: 'microsoft', address, expiresAt })
  return token
}

const refuse = (call: Call, status: number, error: string, code: number, message: string): Answer => ({
  status,
  body: {
    error,
    // By this MSAL tells a grant that only the person can renew from a fault of the client's.
    ...(error === 'invalid_grant' ? { suberror: 'bad_token' } : {}),
    error_description: `AADSTS${code}: ${message} Trace ID: ${call.requestId} Timestamp: ${stamp(call.at)}`,
    error_codes: [code],
    timestamp: stamp(call.at),
    trace_id: call.requestId,
    correlation_id: call.header('client-request-id') ?? call.requestId,
    error_uri: `https://login.microsoftonline.com/error?code=${code}`,
  },
})

const stamp = (at: Date): string =>
  at
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d{3}/, '')

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The same name always gets the same GUID. */
const guidFrom = (name: string): string => {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name)) return name.toLowerCase()
  const hex = createHash('sha256').update(name).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}

/** An id token with the claims MSAL reads. It is not signed: MSAL trusts the channel and does not check. */
const idToken = (call: Call, person: Person, clientId: string): string => {
  const tenantId = guidFrom(tenantOf(call))
  const seconds = Math.floor(call.at.getTime() / 1000)
  const claims = {
    aud: clientId,
    iss: `https://login.microsoftonline.com/${tenantId}/v2.0`,
    iat: seconds,
    nbf: seconds,
    exp: seconds + lifetimeS,
    oid: guidFrom(person.address),
    sub: guidFrom(`${clientId}:${person.address}`),
    tid: tenantId,
    preferred_username: person.address,
    name: person.address,
    ver: '2.0',
  }
  return [base64url({ typ: 'JWT', alg: 'none' }), base64url(claims), base64url('unsigned')].join('.')
}
