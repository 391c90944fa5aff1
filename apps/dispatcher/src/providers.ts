/** The only place where credentials are opened. Everything else sees calendars and senders. */
import type { Calendar, TokenSource } from '@aftercommit/providers/calendar'
import { googleCalendar } from '@aftercommit/providers/calendar/google'
import { googleRefreshTokenSource } from '@aftercommit/providers/calendar/google-tokens'
import { microsoftCalendar } from '@aftercommit/providers/calendar/microsoft'
import { microsoftRefreshTokenSource } from '@aftercommit/providers/calendar/microsoft-tokens'
import type { MailAddress } from '@aftercommit/providers/email'
import { smtpMailer } from '@aftercommit/providers/email/smtp'
import { webhookSender } from '@aftercommit/providers/webhook'
import type { LinkSigner } from '@aftercommit/platform/links'
import type { Unseal } from '@aftercommit/platform/sealing'
import type { CalendarConnection, Post, World } from '@aftercommit/scheduling/handlers'
import { z } from 'zod'

const Credential = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      // The parser's message would quote the credential.
      context.addIssue({ code: 'custom', message: 'not JSON' })
      return z.NEVER
    }
  })
  .pipe(z.object({ type: z.literal('refresh_token'), refreshToken: z.string() }))

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
  /** Absent: nobody can be written to. */
  readonly mail?: MailSettings
  readonly webhookAllowLoopback: readonly string[]
  readonly callTimeoutMs: number
}

export interface MailSettings {
  readonly smtpUrl: string
  readonly requireTls: boolean
  readonly from: MailAddress
  /** Where people reach the API's pages; without a slash at the end. */
  readonly publicUrl: string
  readonly links: LinkSigner
}

const postOf = ({ smtpUrl, requireTls, from, publicUrl, links }: MailSettings): Post => ({
  mailer: smtpMailer({ url: smtpUrl, requireTls }),
  from,
  // The domain that sends is the one that vouches for the ids of its messages.
  messageDomain: from.address.slice(from.address.lastIndexOf('@') + 1),
  publicUrl,
  links,
})

/** Calendars are kept per connection, so that an access token is asked for once and not once per action. */
const CALENDARS_MAX = 10_000

export const worldOf = (settings: ProviderSettings, unseal: Unseal): World => {
  const calendarByConnection = new Map<string, Calendar>()
  return {
    callTimeoutMs: settings.callTimeoutMs,
    post: settings.mail && postOf(settings.mail),
    webhooks: webhookSender({ allowLoopback: settings.webhookAllowLoopback }),
    webhookSecretOf: (tenantId, endpoint) => {
      const secret = open(unseal, endpoint.sealedSecret, `${tenantId}/${endpoint.id}`)
      return secret === undefined ? { type: 'unreadable' } : { type: 'opened', secret }
    },
    calendarOf: (tenantId, connection) => {
      const key = `${connection.id}/${Buffer.from(connection.sealedCredential).toString('base64')}`
      const kept = calendarByConnection.get(key)
      if (kept) return { type: 'opened', calendar: kept }
      const opened = open(unseal, connection.sealedCredential, `${tenantId}/${connection.id}`)
      const credential = Credential.safeParse(opened)
      if (!credential.success) return { type: 'unreadable' }
      const [oldest] = calendarByConnection.keys()
      if (calendarByConnection.size >= CALENDARS_MAX && oldest !== undefined)
        calendarByConnection.delete(oldest)
      const { refreshToken } = credential.data
      const calendar = calendarFor(settings, connection.provider, refreshToken)
      calendarByConnection.set(key, calendar)
      return { type: 'opened', calendar }
    },
  }
}

/**
 * What was sealed, or undefined. Unsealing throws when the key has left the ring or the content is another place's;
 * for a row that is a fact about the world and not a defect of this process, and more attempts do not mend it.
 */
const open = (unseal: Unseal, sealed: Uint8Array, context: string): string | undefined => {
  try {
    return unseal(sealed, context)
  } catch {
    return undefined
  }
}

/** One grant's calendar. */
export const calendarFor = (
  settings: Pick<ProviderSettings, 'google' | 'microsoft'>,
  provider: CalendarConnection['provider'],
  refreshToken: string,
): Calendar => {
  switch (provider) {
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
