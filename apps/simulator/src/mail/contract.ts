/** The mail part of the control API as schemas. */
import { z } from 'zod'

const Instant = z.iso.datetime({ offset: true })
const HeaderValue = z.string().regex(/^[^\r\n]*$/)

/**
 * What the server says to mail for an address: `unknown_user` (550 5.1.1) and `mailbox_full` (552 5.2.2) at RCPT,
 * `defers` (450 4.2.0) there too, `rejects_content` (554 5.6.0) after the whole message.
 */
export const MailboxSettings = z.object({
  accepts: z.enum(['yes', 'unknown_user', 'mailbox_full', 'rejects_content', 'defers']),
})
export type MailboxSettings = z.infer<typeof MailboxSettings>

export const ReceivedMail = z.object({
  at: Instant,
  /** With its angle brackets, as it came over the wire. */
  messageId: z.string().nullable(),
  /** Of the envelope; empty for a bounce. */
  returnPath: z.string(),
  from: z.object({ address: z.string(), name: z.string() }),
  subject: z.string(),
  text: z.string(),
  html: z.string().nullable(),
  /** By lower-case name, unfolded; several of one name are joined by a comma. */
  headers: z.record(z.string(), z.string()),
  /** Every http(s) address in the text and the HTML, once. */
  links: z.array(z.string()),
  /** Later mails with the same Message-ID. */
  duplicates: z.int(),
})
export type ReceivedMail = z.infer<typeof ReceivedMail>

export const Mailbox = MailboxSettings.extend({ address: z.string(), received: z.array(ReceivedMail) })
export type Mailbox = z.infer<typeof Mailbox>

export const MailLinks = z.array(z.object({ messageId: z.string().nullable(), url: z.string() }))

/** What comes back for a mail: a person's answer, their absence notice, or a server's notice that it got nowhere. */
export const MailReply = z.object({
  /** The Message-ID of a mail in this mailbox, with its angle brackets. */
  inReplyTo: z.string(),
  kind: z.enum(['reply', 'out_of_office', 'bounce']).default('reply'),
  /** The person's own words; the mail they answer is quoted below, as their program does it. */
  text: z.string().default(''),
  html: z.string().optional(),
  client: z.enum(['gmail', 'outlook']).default('gmail'),
  /** Default: the mailbox itself. */
  from: z.email().optional(),
  /** Of a bounce: the enhanced status code, e.g. 4.4.1 for one that is not for good. */
  status: z
    .string()
    .regex(/^[45]\.\d{1,3}\.\d{1,3}$/)
    .default('5.1.1'),
  /** Where to POST it, as message/rfc822. */
  to: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string().regex(/^[\w-]+$/), HeaderValue).default({}),
})
export type MailReply = z.infer<typeof MailReply>

/** What the URL answered, and what it had been given. */
export const MailReplyAnswer = z.object({
  status: z.int(),
  body: z.string(),
  messageId: z.string(),
  raw: z.string(),
})
export type MailReplyAnswer = z.infer<typeof MailReplyAnswer>
