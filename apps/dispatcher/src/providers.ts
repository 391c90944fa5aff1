/** The only place where credentials are opened. Everything else sees calendars and senders. */
import type { Calendar, TokenSource } from '@aftercommit/providers/calendar'
import { googleCalendar } from '@aftercommit/providers/calendar/google'
import { googleRefreshTokenSource } from '@aftercommit/providers/calendar/google-tokens'
import { microsoftCalendar } from '@aftercommit/providers/calendar/microsoft'
import { microsoftRefreshTokenSource } from '@aftercommit/providers/calendar/microsoft-tokens'
import { webhookSender } from '@aftercommit/providers/webhook'
import type { Unseal } from '@aftercommit/platform/sealing'
import type { CalendarConnection, World } from '@aftercommit/scheduling/handlers'
import { z } from 'zod'

const Credential = z.object({ type: z.literal('refresh_token'), refreshToken: z.string() })

export interface ProviderSettings {
  readonly google: {
    readonly clientId: string
    readonly clientSecret: string
    readonly rootUrl?: string
    readonly tokenUrl?: string
  }
  readonly microsoft: {
    readonly clientId: string
    readonly clientSecret: string
    readonly tenant: string
    readonly baseUrl?: string
    readonly loginUrl?: string
  }
  readonly webhookAllowLoopback: readonly string[]
  readonly callTimeoutMs: number
}

/** Calendars are kept per connection, so that an access token is asked for once and not once per action. */
const CALENDARS_MAX = 10_000

export const worldOf = (settings: ProviderSettings, unseal: Unseal): World => {
  const calendarByConnection = new Map<string, Calendar>()
  return {
    callTimeoutMs: settings.callTimeoutMs,
    webhooks: webhookSender({ allowLoopback: settings.webhookAllowLoopback }),
    webhookSecretOf: (tenantId, endpoint) => unseal(endpoint.sealedSecret, `${tenantId}/${endpoint.id}`),
    calendarOf: (tenantId, connection) => {
      const key = `${connection.id}/${Buffer.from(connection.sealedCredential).toString('base64')}`
      const kept = calendarByConnection.get(key)
      if (kept) return kept
      const [oldest] = calendarByConnection.keys()
      if (calendarByConnection.size >= CALENDARS_MAX && oldest !== undefined)
        calendarByConnection.delete(oldest)
      const opened = unseal(connection.sealedCredential, `${tenantId}/${connection.id}`)
      const { refreshToken } = Credential.parse(JSON.parse(opened))
      const calendar = calendarFor(settings, connection, refreshToken)
      calendarByConnection.set(key, calendar)
      return calendar
    },
  }
}

const calendarFor = (
  settings: ProviderSettings,
  connection: CalendarConnection,
  refreshToken: string,
): Calendar => {
  switch (connection.provider) {
    case 'google': {
      const { rootUrl, ...client } = settings.google
      const tokens: TokenSource = googleRefreshTokenSource({ ...client, refreshToken })
      return googleCalendar({ tokens, ...(rootUrl !== undefined && { rootUrl }) })
    }
    case 'microsoft': {
      const { baseUrl, ...client } = settings.microsoft
      const tokens: TokenSource = microsoftRefreshTokenSource({ ...client, refreshToken })
      return microsoftCalendar({ tokens, ...(baseUrl !== undefined && { baseUrl }) })
    }
  }
}
