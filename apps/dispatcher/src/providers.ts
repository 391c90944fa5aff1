/** The only place where credentials are opened. Everything else sees calendars and senders. */
import { createHash } from 'node:crypto'
import type { Calendar, TokenSource } from '@aftercommit/providers/calendar'
import { googleCalendar } from '@aftercommit/providers/calendar/google'
import { googleRefreshTokenSource } from '@aftercommit/providers/calendar/google-tokens'
import { microsoftCalendar } from '@aftercommit/providers/calendar/microsoft'
import { microsoftRefreshTokenSource } from '@aftercommit/providers/calendar/microsoft-tokens'
import type { MailAddress } from '@aftercommit/providers/email'
import { smtpMailer } from '@aftercommit/providers/email/smtp'
import { webhookSender } from '@aftercommit/providers/webhook'
import type { LinkSigner } from '@aftercommit/platform/links'
import type { Seal, Unseal } from '@aftercommit/platform/sealing'
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
  .pipe(
    z.object({
      type: z.literal('refresh_token'),
      refreshToken: z.string(),
      /** Of a token that took another's place: by what the person's own grant is known. */
      grant: z.string().optional(),
    }),
  )

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

/** What keeps a refresh token that took another's place. Without it every grant ends when its first token does. */
export interface Rotation {
  readonly seal: Seal
  /** False, and nothing kept, when the connection's credential is another one by now. */
  readonly keep: (
    tenantId: string,
    replaced: Pick<CalendarConnection, 'id' | 'sealedCredential'>,
    sealed: Uint8Array,
  ) => Promise<boolean>
}

/** Calendars are kept per grant, so that an access token is asked for once and not once per action. */
const CALENDARS_MAX = 10_000

export const worldOf = (settings: ProviderSettings, unseal: Unseal, rotation?: Rotation): World => {
  const calendarByGrant = new Map<string, Calendar>()
  return {
    callTimeoutMs: settings.callTimeoutMs,
    post: settings.mail && postOf(settings.mail),
    webhooks: webhookSender({ allowLoopback: settings.webhookAllowLoopback }),
    webhookSecretOf: (tenantId, endpoint) => {
      const secret = open(unseal, endpoint.sealedSecret, `${tenantId}/${endpoint.id}`)
      return secret === undefined ? { type: 'unreadable' } : { type: 'opened', secret }
    },
    calendarOf: (tenantId, connection) => {
      const context = `${tenantId}/${connection.id}`
      const credential = Credential.safeParse(open(unseal, connection.sealedCredential, context))
      if (!credential.success) return { type: 'unreadable' }
      const { refreshToken, grant = nameOf(connection.sealedCredential) } = credential.data
      const key = `${connection.id}/${grant}`
      const kept = calendarByGrant.get(key)
      if (kept) return { type: 'opened', calendar: kept }
      const [oldest] = calendarByGrant.keys()
      if (calendarByGrant.size >= CALENDARS_MAX && oldest !== undefined) calendarByGrant.delete(oldest)
      let { sealedCredential } = connection
      const keep = async (next: string): Promise<void> => {
        if (!rotation) return
        const sealed = rotation.seal(
          JSON.stringify({ ...credential.data, refreshToken: next, grant }),
          context,
        )
        const isKept = await rotation.keep(tenantId, { id: connection.id, sealedCredential }, sealed)
        if (isKept) sealedCredential = sealed
        // What another dispatcher or the person has put there stays. The next action opens that.
        else if (calendarByGrant.get(key) === calendar) calendarByGrant.delete(key)
      }
      const calendar = calendarFor(settings, connection.provider, refreshToken, keep)
      calendarByGrant.set(key, calendar)
      return { type: 'opened', calendar }
    },
  }
}

/** A person's grant is known by how it was first sealed: the same for every dispatcher, and another one once it is renewed. */
const nameOf = (sealedCredential: Uint8Array): string =>
  createHash('sha256').update(sealedCredential).digest('base64url')

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

/** One grant's calendar. `onRotated` is told of the refresh token that is to be used from now on; Google's never change. */
export const calendarFor = (
  settings: Pick<ProviderSettings, 'google' | 'microsoft'>,
  provider: CalendarConnection['provider'],
  refreshToken: string,
  onRotated?: (refreshToken: string) => Promise<void>,
): Calendar => {
  switch (provider) {
    case 'google': {
      const { rootUrl, ...client } = settings.google
      const tokens: TokenSource = googleRefreshTokenSource({ ...client, refreshToken })
      return googleCalendar({ tokens, ...(rootUrl !== undefined && { rootUrl }) })
    }
    case 'microsoft': {
      const { baseUrl, ...client } = settings.microsoft
      const tokens: TokenSource = microsoftRefreshTokenSource({
        ...client,
        refreshToken,
        ...(onRotated && { onRotated }),
      })
      return microsoftCalendar({ tokens, ...(baseUrl !== undefined && { baseUrl }) })
    }
  }
}
