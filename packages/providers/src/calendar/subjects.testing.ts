/** The adapters as the contract sees them. A new provider is one more entry here. */
import { randomUUID } from 'node:crypto'
import type { ContractSubject } from './contract.testing.ts'
import { googleRefreshTokenSource } from './google-tokens.ts'
import { googleCalendar } from './google.ts'
import { microsoftRefreshTokenSource } from './microsoft-tokens.ts'
import { microsoftCalendar } from './microsoft.ts'

const client = { clientId: 'client', clientSecret: randomUUID() }

export const google: ContractSubject = {
  provider: 'google',
  operations: {
    busy: 'freebusy.query',
    insert: 'events.insert',
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.delete',
  },
  limits: { days: 60, addresses: 50 },
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
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.cancel',
  },
  limits: { days: 58, addresses: 20 },
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
