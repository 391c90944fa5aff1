/**
 * What this product asks of a mail server, and every answer it can give. One recipient per message: so a message is
 * accepted or it is not, and nothing is accepted in part.
 *
 * `accepted` says that a server took responsibility for the message, and not that anybody received it.
 */
import type { CallContext } from '../call.ts'

export type { CallContext } from '../call.ts'

export interface MailAddress {
  readonly address: string
  /** Shown beside the address. A line break in it becomes a space. */
  readonly displayName?: string
}

export interface OutgoingMail {
  /**
   * With angle brackets, e.g. `<operationId@example.org>`. The same for every attempt of one message: the only trace by
   * which a person's mail program, or we, can tell a repeat. Some relays replace it.
   */
  readonly messageId: string
  /** ASCII before the @, and so is `replyTo`. */
  readonly from: MailAddress
  readonly to: MailAddress
  readonly replyTo?: MailAddress
  /** A line break in it becomes a space. */
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Message ids, with angle brackets. */
  readonly inReplyTo?: string
  readonly references?: readonly string[]
  /** Where one request, without a question, ends such mails (RFC 8058). Https, and without credentials. */
  readonly unsubscribeUrl?: string
  /** RFC 3834, so that other machines do not answer; default `auto-generated`. */
  readonly autoSubmitted?: 'auto-generated' | 'auto-replied' | 'no'
}

/**
 * A code is the reply code with the enhanced status code where one was given, e.g. `550_5_1_1`, or a word of ours. The
 * server's text is never kept: it likes to quote addresses.
 */
export type SendAnswer =
  | { readonly type: 'accepted'; readonly code: string }
  /** For good, and nothing was sent: a 5xx answer before or after the message, or a message that cannot be sent. */
  | { readonly type: 'refused'; readonly reason: MailRefusal; readonly code: string }
  /**
   * A 4xx answer: not now, and nothing was sent. `restServer` is true when it speaks of the server or of us (421, 4.3.x,
   * 4.7.x) and not of this recipient: then the next message fares no better.
   */
  | { readonly type: 'deferred'; readonly code: string; readonly restServer: boolean }
  /** Proved that the message's end was not sent: connection, TLS, sign-in, or an end that came too early. */
  | { readonly type: 'not_sent'; readonly code: string }
  /** The message's end was sent, and no answer came. Nobody can be asked whether it was taken. */
  | { readonly type: 'uncertain'; readonly code: string }

/**
 * What the server objects to: the recipient, us as the sender, what the message contains, or its own policy, which no
 * other wording and no other address mends.
 */
export type MailRefusal = 'address' | 'sender' | 'content' | 'policy'

export interface Mailer {
  /**
   * Sends one message, once. The context's time is for the whole conversation. Never throws for what a server does or a
   * message contains, and never tries again by itself.
   */
  send(message: OutgoingMail, context: CallContext): Promise<SendAnswer>
}
