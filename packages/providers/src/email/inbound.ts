/**
 * A mail that came to us, read: who it is from, what it answers, and whether a person wrote it. It is a stranger's, all
 * of it: nothing in it makes this throw, and no claim of it is believed here, least of all its sender.
 *
 * mailparser reads MIME: it bounds headers and parts, and ten megabytes of empty lines cost it two seconds (postal-mime
 * works on them for minutes).
 */
import { simpleParser } from 'mailparser'
import type { AddressObject, ParsedMail as Mime } from 'mailparser'
import { plainBounce, reportIn } from './bounce.ts'
import type { Bounce } from './bounce.ts'
import { isMessageId, wireAddress } from './address.ts'
import { textOfHtml } from './html-text.ts'
import { ownWords } from './own-words.ts'

export type { Bounce } from './bounce.ts'

interface Inbound {
  /** With angle brackets, as all ids here. */
  readonly messageId: string | undefined
  readonly inReplyTo: string | undefined
  /** The oldest first. */
  readonly references: readonly string[]
  /** As the mail says, which anybody can make it say. The domain is in lower case and in ASCII. */
  readonly from: string | undefined
  readonly to: readonly string[]
  readonly subject: string
  readonly date: Date | undefined
}

/**
 * `reply` answers a mail and a person wrote it, `auto_reply` a machine. `bounce` is a server's word on a mail of ours.
 * `other` answers nothing that it names. `text` is the writer's own words, without what they quote or sign with.
 */
export type ParsedMail =
  | (Inbound & { readonly type: 'reply' | 'auto_reply' | 'other'; readonly text: string })
  | (Inbound & { readonly type: 'bounce'; readonly bounce: Bounce })
  | { readonly type: 'malformed'; readonly code: 'too_large' | 'unreadable' | 'no_headers' }

/** Attachments count; they are not kept. */
export const MAIL_BYTES_MAX = 10 * 1024 * 1024
const IDS_MAX = 100
const ADDRESSES_MAX = 100

export const parseInboundMail = async (given: Buffer | string): Promise<ParsedMail> => {
  const raw = typeof given === 'string' ? Buffer.from(given) : given
  if (raw.length > MAIL_BYTES_MAX) return { type: 'malformed', code: 'too_large' }
  let mime: Mime
  try {
    mime = await simpleParser(raw, {
      skipHtmlToText: true,
      skipTextToHtml: true,
      keepCidLinks: true,
      keepDeliveryStatus: true,
      ignoreEmbedded: true,
      checksumAlgo: false,
    })
  } catch {
    return { type: 'malformed', code: 'unreadable' }
  }
  if (mime.headers.size === 0) return { type: 'malformed', code: 'no_headers' }
  const header = headersOf(mime)
  const [inReplyTo] = idsIn(header('in-reply-to'))
  const inbound: Inbound = {
    messageId: idsIn(header('message-id'))[0],
    inReplyTo,
    references: idsIn(header('references')),
    from: addressesOf(mime.from)[0],
    to: addressesOf(mime.to),
    subject: mime.subject ?? '',
    date: mime.date !== undefined && !Number.isNaN(mime.date.getTime()) ? mime.date : undefined,
  }
  const bounce = bounceIn(mime, header, inbound)
  if (bounce) return { ...inbound, type: 'bounce', bounce }
  return { ...inbound, type: kindOf(mime, header, inbound), text: ownWords(wordsOf(mime)) }
}

/** The first value of a header, unfolded; undefined where it is absent. */
type Header = (name: string) => string | undefined

const headersOf = ({ headerLines }: Mime): Header => {
  const valueByName = new Map<string, string>()
  for (const { key, line } of headerLines) {
    if (valueByName.has(key)) continue
    valueByName.set(
      key,
      line
        .slice(line.indexOf(':') + 1)
        .replace(/\r?\n[ \t]*/g, ' ')
        .trim(),
    )
  }
  return (name) => valueByName.get(name)
}

const idsIn = (value: string | undefined): string[] =>
  (value?.match(/<[^<>\s]{1,900}>/g) ?? []).filter(isMessageId).slice(-IDS_MAX)

const addressesOf = (given: AddressObject | AddressObject[] | undefined): string[] =>
  [given ?? []]
    .flat()
    .flatMap(({ value }) => value.flatMap((each) => each.group ?? [each]))
    .slice(0, ADDRESSES_MAX)
    .flatMap(({ address }) => wireAddress(address ?? '') ?? [])

const bounceIn = (mime: Mime, header: Header, inbound: Inbound): Bounce | undefined => {
  const { attachments, text = '' } = mime
  const report = reportIn(attachments)
  const answered = inbound.inReplyTo ?? inbound.references.at(-1)
  if (report.type === 'bounce') {
    const { originalMessageId = answered } = report.bounce
    return { ...report.bounce, originalMessageId }
  }
  const failed = header('x-failed-recipients')
  const byServer = /^(mailer-daemon|postmaster)@/i.test(inbound.from ?? '')
  const isNotice = failed !== undefined || (hasNullReturnPath(header) && byServer)
  if (report.type === 'other' || !isNotice) return undefined
  const { originalMessageId = answered, ...bounce } = plainBounce(text, attachments, failed?.split(',')[0])
  return { ...bounce, originalMessageId }
}

/** What a machine sends goes back nowhere (RFC 5321, 4.5.5). The delivering server writes this header. */
const hasNullReturnPath = (header: Header): boolean => /^<\s*>$/.test(header('return-path') ?? '')

const kindOf = (mime: Mime, header: Header, inbound: Inbound): 'reply' | 'auto_reply' | 'other' => {
  if (isAutomatic(mime, header, inbound)) return 'auto_reply'
  return inbound.inReplyTo !== undefined || inbound.references.length > 0 ? 'reply' : 'other'
}

const AUTOMATIC_HEADERS = [
  'x-auto-response-suppress',
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-mail-autoreply',
]

const isAutomatic = ({ attachments }: Mime, header: Header, { subject }: Inbound): boolean => {
  const submitted = header('auto-submitted')
  return (
    // RFC 3834, 5: anything but "no", which may carry parameters.
    (submitted !== undefined && !/^no\s*(;|$)/i.test(submitted)) ||
    AUTOMATIC_HEADERS.some((name) => !/^(no|none|)$/i.test(header(name) ?? '')) ||
    /^(bulk|junk|list|auto_reply)$/i.test(header('precedence') ?? '') ||
    hasNullReturnPath(header) ||
    /^multipart\/report\b/i.test(header('content-type') ?? '') ||
    reportIn(attachments).type === 'other' ||
    ABSENT.test(subject)
  )
}

/** As absence notices begin in English, German and French; an answer to one begins with Re: and is a person's. */
const ABSENT =
  /^\s*(automatic reply|auto(matic)?[ -]?reply|auto[ -]?response|out of (the )?office|automatische antwort|abwesenheits(notiz|meldung|nachricht|benachrichtigung|assistent)|abwesend\b|réponse automatique|(message d[’'])?absence( du bureau)?\s*:)/i

/** Blank text beside HTML is some programs' way to send HTML alone. */
const wordsOf = ({ text = '', html }: Mime): string =>
  text.trim() === '' && typeof html === 'string' ? textOfHtml(html) : text
