/** The adapters as the contract sees them. A new provider is one more entry here. */
import { randomUUID } from 'node:crypto'
import type { BrokenCall, ContractSubject } from './contract.testing.ts'
import { googleRefreshTokenSource } from './google-tokens.ts'
import { googleCalendar } from './google.ts'
import { microsoftRefreshTokenSource } from './microsoft-tokens.ts'
import { microsoftCalendar } from './microsoft.ts'

/** Google's envelope for one refusal (Calendar API guide, errors). */
const googleRefusal = (
  status: number,
  domain: string,
  reason: string,
  failure: BrokenCall['failure'],
  headers: Readonly<Record<string, string>> = {},
): BrokenCall => ({
  when: `${status} ${reason}`,
  act: {
    type: 'answer',
    status,
    body: { error: { errors: [{ domain, reason, message: reason }], code: status, message: reason } },
    headers: { ...headers },
  },
  failure,
})

/** Graph's envelope for one refusal (Microsoft Graph docs, error responses). */
const graphRefusal = (
  status: number,
  code: string,
  failure: BrokenCall['failure'],
  headers: Readonly<Record<string, string>> = {},
): BrokenCall => ({
  when: `${status} ${code}`,
  act: { type: 'answer', status, body: { error: { code, message: code } }, headers: { ...headers } },
  failure,
})

const client = { clientId: 'client', clientSecret: randomUUID() }

export const google: ContractSubject = {
  provider: 'google',
  operations: {
    busy: 'freebusy.query',
    insert: 'events.insert',
    update: 'events.patch',
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.delete',
  },
  limits: { days: 60, addresses: 50 },
  unknownReasons: {
    // Google does not tell a calendar that one may not see from one that is not there.
    no_access: 'not_found',
    unknown_person: 'not_found',
    no_mailbox: 'not_found',
    internal_error: 'internal',
    too_many_entries: 'internal',
    left_out: 'missing',
  },
  refusals: [
    googleRefusal(401, 'global', 'authError', {
      type: 'refused',
      reason: 'unauthenticated',
      code: 'authError',
      status: 401,
    }),
    googleRefusal(403, 'global', 'insufficientPermissions', {
      type: 'refused',
      reason: 'forbidden',
      code: 'insufficientPermissions',
      status: 403,
    }),
    googleRefusal(403, 'usageLimits', 'quotaExceeded', {
      type: 'refused',
      reason: 'quota_exhausted',
      code: 'quotaExceeded',
      status: 403,
    }),
    googleRefusal(
      403,
      'usageLimits',
      'rateLimitExceeded',
      { type: 'throttled', code: 'rateLimitExceeded', retryAfterMs: 3_000 },
      { 'retry-after': '3' },
    ),
    googleRefusal(403, 'usageLimits', 'userRateLimitExceeded', {
      type: 'throttled',
      code: 'userRateLimitExceeded',
      retryAfterMs: undefined,
    }),
    googleRefusal(412, 'global', 'conditionNotMet', {
      type: 'refused',
      reason: 'stale',
      code: 'conditionNotMet',
      status: 412,
    }),
    googleRefusal(500, 'global', 'backendError', { type: 'uncertain', code: 'backendError' }),
  ],
  connect: (url, refreshToken) =>
    googleCalendar({
      rootUrl: `${url}/google/`,
      tokens: googleRefreshTokenSource({ ...client, refreshToken, tokenUrl: `${url}/google/token` }),
    }),
}

export const microsoft: ContractSubject = {
  provider: 'microsoft',
  operations: {
    busy: 'calendar.getSchedule',
    insert: 'events.create',
    update: 'events.patch',
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.cancel',
  },
  limits: { days: 58, addresses: 20 },
  unknownReasons: {
    no_access: 'no_access',
    unknown_person: 'not_found',
    no_mailbox: 'not_found',
    internal_error: 'internal',
    too_many_entries: 'too_many_entries',
    left_out: 'missing',
  },
  refusals: [
    graphRefusal(401, 'InvalidAuthenticationToken', {
      type: 'refused',
      reason: 'unauthenticated',
      code: 'InvalidAuthenticationToken',
      status: 401,
    }),
    graphRefusal(403, 'ErrorAccessDenied', {
      type: 'refused',
      reason: 'forbidden',
      code: 'ErrorAccessDenied',
      status: 403,
    }),
    graphRefusal(404, 'MailboxNotEnabledForRESTAPI', {
      type: 'refused',
      reason: 'not_found',
      code: 'MailboxNotEnabledForRESTAPI',
      status: 404,
    }),
    graphRefusal(412, 'ErrorIrresolvableConflict', {
      type: 'refused',
      reason: 'stale',
      code: 'ErrorIrresolvableConflict',
      status: 412,
    }),
    graphRefusal(
      429,
      'ApplicationThrottled',
      { type: 'throttled', code: 'ApplicationThrottled', retryAfterMs: 3_000 },
      { 'retry-after': '3' },
    ),
    graphRefusal(504, 'UnknownError', { type: 'uncertain', code: 'UnknownError' }),
  ],
  connect: (url, refreshToken) =>
    microsoftCalendar({
      baseUrl: `${url}/graph/`,
      tokens: microsoftRefreshTokenSource({
        ...client,
        tenant: 'organizations',
        refreshToken,
        loginUrl: `${url}/login`,
      }),
    }),
}
