/** From a message of ours to the bytes and the envelope that go over the wire, or why it cannot be sent at all. */
import MailComposer from 'nodemailer/lib/mail-composer'
import { isMessageId, wireAddress } from './address.ts'
import type { MailAddress, MailRefusal, OutgoingMail } from './email.ts'

export type Composed =
  | { readonly type: 'composed'; readonly letter: Letter }
  | { readonly type: 'refused'; readonly reason: MailRefusal; readonly code: string }

export interface Letter {
  readonly from: string
  readonly to: string
  readonly raw: Buffer
  /** The recipient's name before the @ is not ASCII: only a server with SMTPUTF8 can be given it. */
  readonly needsUtf8: boolean
}

/** A URL cannot be broken over two lines, and a line may have 998 octets (RFC 5322, 2.1.1). */
const URL_CHARS_MAX = 900

/** Composes the message. Every header that is ours to make is checked here, so that none can carry a second one. */
export const compose = async (message: OutgoingMail): Promise<Composed> => {
  const from = headerAddress(message.from)
  const to = headerAddress(message.to)
  const replyTo = message.replyTo && headerAddress(message.replyTo)
  if (!to) return { type: 'refused', reason: 'address', code: 'malformed_address' }
  // Ours to choose, and chosen so that any server takes them.
  if (!from || replyTo === null || !isAscii(`${from.address}${replyTo?.address ?? ''}`))
    return { type: 'refused', reason: 'sender', code: 'malformed_address' }
  const { messageId, inReplyTo, references = [], unsubscribeUrl, autoSubmitted = 'auto-generated' } = message
  const ids = [messageId, ...(inReplyTo === undefined ? [] : [inReplyTo]), ...references]
  if (!ids.every(isMessageId)) return { type: 'refused', reason: 'content', code: 'malformed_message_id' }
  if (unsubscribeUrl !== undefined && !isUnsubscribeUrl(unsubscribeUrl)) {
    return { type: 'refused', reason: 'content', code: 'malformed_unsubscribe_url' }
  }
  const raw = await new MailComposer({
    messageId,
    from,
    to,
    ...(replyTo && { replyTo }),
    subject: flat(message.subject),
    text: message.text,
    html: message.html,
    ...(inReplyTo !== undefined && { inReplyTo }),
    ...(references.length > 0 && { references: [...references] }),
    headers: {
      ...(autoSubmitted !== 'no' && { 'Auto-Submitted': autoSubmitted }),
      ...(unsubscribeUrl !== undefined && unsubscribeHeaders(unsubscribeUrl)),
    },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return {
    type: 'composed',
    letter: { from: from.address, to: to.address, raw, needsUtf8: !isAscii(to.address) },
  }
}

/** Null for what is no address. */
const headerAddress = ({ address, displayName = '' }: MailAddress) => {
  const wire = wireAddress(address)
  return wire === undefined ? null : { address: wire, name: flat(displayName) }
}

/** On one line, without control characters and halves of characters. */
const flat = (text: string): string =>
  Buffer.from(text)
    .toString()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** RFC 8058: https, and it asks for no sign-in. */
const isUnsubscribeUrl = (given: string): boolean => {
  if (!URL.canParse(given) || given.length > URL_CHARS_MAX || !isAscii(given) || /[\s<>,]/.test(given))
    return false
  const { protocol, username, password } = new URL(given)
  return protocol === 'https:' && username === '' && password === ''
}

/** `prepared` keeps the value on one line: a folded one broke its signature at a relay (nodemailer#1654). */
const unsubscribeHeaders = (url: string) => ({
  'List-Unsubscribe': { prepared: true, foldLines: false, value: `<${url}>` },
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})
