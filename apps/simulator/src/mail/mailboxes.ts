/** Mailboxes of the simulated world: any address has one, made when it is first spoken of. */
import { domainToASCII } from 'node:url'
import PostalMime from 'postal-mime'
import { record } from '../ledger.ts'
import type { HeldMailbox, World } from '../state.ts'
import type { ReceivedMail } from './contract.ts'

export const mailboxOf = (world: World, address: string): HeldMailbox => {
  const key = keyOf(address)
  const known = world.mailboxes.get(key)
  if (known) return known
  const mailbox: HeldMailbox = { address: key, accepts: 'yes', received: [] }
  world.mailboxes.set(key, mailbox)
  return mailbox
}

/** The same for both spellings of an international domain. */
const keyOf = (address: string): string => {
  const at = address.lastIndexOf('@')
  const domain = domainToASCII(address.slice(at + 1))
  return `${address.slice(0, at + 1)}${domain === '' ? address.slice(at + 1) : domain}`.toLowerCase()
}

/** One mail as a mailbox shows it; undefined for what cannot be read as one. */
export const readMail = async (raw: Buffer, returnPath: string): Promise<ReceivedMail | undefined> => {
  let email
  try {
    email = await PostalMime.parse(raw)
  } catch {
    return undefined
  }
  const headers: Record<string, string> = {}
  for (const { key, value } of email.headers) {
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  const text = email.text ?? ''
  const html = email.html ?? null
  return {
    at: new Date().toISOString(),
    messageId: email.messageId ?? null,
    returnPath,
    from: { address: email.from?.address ?? '', name: email.from?.name ?? '' },
    subject: email.subject ?? '',
    text,
    html,
    headers,
    links: linksIn(text, html ?? ''),
    duplicates: 0,
  }
}

const linksIn = (text: string, html: string): string[] => {
  const inText = text.match(/https?:\/\/[^\s<>"]+/g) ?? []
  const inHtml = [...html.matchAll(/\bhref\s*=\s*["'](https?:[^"']+)["']/gi)].map(([, url = '']) =>
    url.replaceAll('&amp;', '&'),
  )
  return [...new Set([...inText.map((url) => url.replace(/[.,;:!?)\]]+$/, '')), ...inHtml])]
}

/**
 * Puts a mail into a mailbox. One with a Message-ID that is there already is counted with the first, but it is an effect
 * of its own all the same: nobody promises that a person's mailbox shows it only once.
 */
export const deliver = (world: World, address: string, mail: ReceivedMail): void => {
  const mailbox = mailboxOf(world, address)
  const earlier = mailbox.received.find(({ messageId }) => messageId !== null && messageId === mail.messageId)
  if (earlier) earlier.duplicates += 1
  else mailbox.received.push({ ...mail })
  record(world, {
    provider: 'mail',
    effect: 'mail_received',
    by: 'api',
    to: mailbox.address,
    duplicates: earlier?.duplicates ?? 0,
    ...(mail.messageId === null ? {} : { messageId: mail.messageId }),
  })
}
