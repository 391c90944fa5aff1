/** What a server reports of a mail that it could not deliver, or not yet (RFC 3464, RFC 3463). */
import { isMessageId, wireAddress } from './address.ts'

export interface Bounce {
  /** `delayed`: it is still being tried. */
  readonly action: 'failed' | 'delayed'
  /** The address or the mail is wrong, and another try would end the same way. False where nobody says so. */
  readonly permanent: boolean
  /** The enhanced status code, e.g. `5_1_1`, or `unreadable`. */
  readonly code: string
  /** With angle brackets. */
  readonly originalMessageId: string | undefined
  readonly recipient: string | undefined
}

/** A part of a mail, decoded. */
export interface Part {
  readonly contentType: string
  readonly content: Buffer
}

/** The parts of a report are short; one that is not is not read to its end. */
const REPORT_BYTES_MAX = 64 * 1024

const textOf = ({ content }: Part): string => content.subarray(0, REPORT_BYTES_MAX).toString()

export type Report =
  | { readonly type: 'bounce'; readonly bounce: Bounce }
  /** It tells of something else, e.g. that the mail has arrived. */
  | { readonly type: 'other' }
  | { readonly type: 'none' }

/** The delivery status notification among these parts. We send to one recipient, so the first that failed is it. */
export const reportIn = (parts: readonly Part[]): Report => {
  const status = parts.find(({ contentType }) => /^message\/(global-)?delivery-status$/i.test(contentType))
  if (!status) return { type: 'none' }
  const groups = textOf(status)
    .split(/\r?\n[ \t]*\r?\n/)
    .map(fieldsOf)
  const concerned = groups.find((fields) => /^(failed|delayed)\b/i.test(fields.get('action') ?? ''))
  if (!concerned) return { type: 'other' }
  const action = /^failed/i.test(concerned.get('action') ?? '') ? 'failed' : 'delayed'
  const original = concerned.get('original-recipient') ?? concerned.get('final-recipient')
  return {
    type: 'bounce',
    bounce: {
      action,
      ...statusIn(concerned.get('status') ?? '', action),
      originalMessageId: returnedMessageId(parts),
      recipient: wireAddress((original ?? '').replace(/^[^;]*;/, '').trim()),
    },
  }
}

/** A notice in no standard's form: what can be made out in its words. */
export const plainBounce = (
  text: string,
  parts: readonly Part[],
  failedRecipient: string | undefined,
): Bounce => ({
  action: 'failed',
  ...statusIn(text.slice(0, REPORT_BYTES_MAX), 'failed'),
  originalMessageId: returnedMessageId(parts) ?? messageIdIn(text.slice(0, REPORT_BYTES_MAX)),
  recipient: failedRecipient === undefined ? undefined : wireAddress(failedRecipient.trim()),
})

const statusIn = (text: string, action: Bounce['action']): Pick<Bounce, 'permanent' | 'code'> => {
  const match = /(?:^|[^\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]*\d)/.exec(text)
  if (!match) return { permanent: false, code: 'unreadable' }
  const [, level, subject, detail] = match
  // A full mailbox is the right one, and somebody will empty it (RFC 3463, 3.3).
  const isFull = subject === '2' && detail === '2'
  return {
    permanent: action === 'failed' && level === '5' && !isFull,
    code: [level, subject, detail].join('_'),
  }
}

/** From what the report returns of the mail: the whole of it, or its head. */
const returnedMessageId = (parts: readonly Part[]): string | undefined => {
  const returned = parts.find(({ contentType }) =>
    /^(message\/(rfc822|global)|text\/rfc822-headers|message\/global-headers)$/i.test(contentType),
  )
  return returned && messageIdIn(textOf(returned))
}

const messageIdIn = (text: string): string | undefined => {
  const id = /^message-id:\s{0,4}(<[^<>\s]{1,900}>)/im.exec(text)?.[1]
  return id !== undefined && isMessageId(id) ? id : undefined
}

const fieldsOf = (group: string): ReadonlyMap<string, string> =>
  new Map(
    group
      .replace(/\r?\n[ \t]+/g, ' ')
      .split(/\r?\n/)
      .flatMap((line) => {
        const colon = line.indexOf(':')
        return colon > 0
          ? [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const]
          : []
      }),
  )
