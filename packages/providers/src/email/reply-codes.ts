/** What a server's answer means for the message (RFC 5321, 4.2; RFC 3463; RFC 5248). */
import type { MailRefusal, SendAnswer } from './email.ts'

/** A reply's codes; its text is left behind. */
export interface Reply {
  readonly status: number
  /** `[class, subject, detail]` where the reply has an enhanced status code. */
  readonly enhanced: readonly [number, number, number] | undefined
  /** e.g. `550_5_1_1` */
  readonly code: string
}

/** The codes of a reply, from its last line; undefined for what is no reply. */
export const replyOf = (text: string | false | undefined): Reply | undefined => {
  const line = (text || '').trimEnd().split('\n').at(-1) ?? ''
  const match = /^([2-5]\d\d)(?:[ -](?:([245])\.(\d{1,3})\.(\d{1,3})(?!\S))?|$)/.exec(line)
  if (!match) return undefined
  const [, status = '', ...parts] = match
  const [level, subject, detail] = parts.map(Number)
  const given = match[2] !== undefined && level !== undefined && subject !== undefined && detail !== undefined
  return {
    status: Number(status),
    enhanced: given ? [level, subject, detail] : undefined,
    code: given ? [status, level, subject, detail].join('_') : status,
  }
}

/** At which command the server said no. `message` is the whole message, after its end. */
export type Refusing = 'MAIL FROM' | 'RCPT TO' | 'DATA' | 'message' | 'unknown'

/** A reply that says no, as an answer; undefined for one that does not. */
export const refusalOf = (reply: Reply, at: Refusing): SendAnswer | undefined => {
  const { status, code } = reply
  if (status < 400) return undefined
  if (status < 500) return { type: 'deferred', code, restServer: asksServerRest(reply) }
  // Bad sequence of commands speaks of the conversation, and sign-in or encryption first (RFC 3207, RFC 4954) of how
  // we are configured: neither of this message, which stays sendable.
  if ([503, 530, 534, 535, 538].includes(status)) return { type: 'not_sent', code }
  return isFullMailbox(reply, at)
    ? { type: 'deferred', code, restServer: false }
    : { type: 'refused', reason: reasonOf(reply, at), code }
}

const asksServerRest = ({ status, enhanced }: Reply): boolean =>
  status === 421 || enhanced?.[1] === 3 || enhanced?.[1] === 7

/**
 * X.2.2, though it came as 5.2.2, "should be used as a persistent transient failure" (RFC 3463, 3.3): the mailbox is
 * right and somebody will empty it. At RCPT, 552 without more is to be read as 452 (RFC 5321, 4.5.3.1.10).
 */
const isFullMailbox = ({ status, enhanced }: Reply, at: Refusing): boolean =>
  enhanced ? enhanced[1] === 2 && enhanced[2] === 2 : status === 552 && at === 'RCPT TO'

const reasonOf = ({ status, enhanced }: Reply, at: Refusing): MailRefusal => {
  if (!enhanced) return reasonByCommand(status, at)
  switch (enhanced[1]) {
    case 1:
      return enhanced[2] === 7 || enhanced[2] === 8 ? 'sender' : 'address'
    case 2:
      return enhanced[2] === 3 ? 'content' : 'address'
    case 3:
      return enhanced[2] === 4 ? 'content' : 'policy'
    case 4:
      return 'address'
    case 6:
      // 5.6.7: an address that is not ASCII is not permitted (RFC 6531).
      return enhanced[2] === 7 ? 'address' : 'content'
    case 7:
      return 'policy'
    default:
      return reasonByCommand(status, at)
  }
}

const reasonByCommand = (status: number, at: Refusing): MailRefusal => {
  switch (at) {
    case 'MAIL FROM':
      return status === 552 ? 'content' : 'sender'
    case 'RCPT TO':
      return status === 554 ? 'policy' : 'address'
    case 'message':
      return 'content'
    case 'DATA':
    case 'unknown':
      return 'policy'
  }
}
