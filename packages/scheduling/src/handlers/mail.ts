/** What every message to a person is made of, and what becomes of sending it. */
import { randomUUID } from 'node:crypto'
import type { Attempt, Outcome } from '@aftercommit/outbox'
import type { LinkSigner } from '@aftercommit/platform/links'
import type { MailAddress, Mailer, OutgoingMail, SendAnswer } from '@aftercommit/providers/email'
import { ContactId } from '../ids.ts'
import { disclose, factsFor, type Disclosed } from '../outreach/disclosure.ts'
import type { Meeting, Participant } from '../meeting.ts'
import type { Contact } from '../store.ts'
import { callContext, type World } from './world.ts'

/** The mail side of the world. Without it nobody can be written to. */
export interface Post {
  readonly mailer: Mailer
  readonly from: MailAddress
  /** Behind the "@" of every message id. */
  readonly messageDomain: string
  /** Where people reach the reply pages; without a slash at the end. */
  readonly publicUrl: string
  readonly links: LinkSigner
}

export const messageIdOf = (post: Post, operationId: string): string =>
  `<${operationId}@${post.messageDomain}>`

/** Links for one person and one revision; they end with the booking deadline. */
export const linksFor = (
  post: Post,
  tenantId: string,
  meeting: Meeting,
  person: Participant,
): { readonly link: string; readonly optOutLink: string } => {
  const claims = {
    tenantId,
    meetingId: meeting.id,
    participantId: person.id,
    participantRevision: person.revision,
    meetingRevision: meeting.revision,
    expiresAt: new Date(meeting.intent.bookBy),
  }
  return {
    link: `${post.publicUrl}/reply/${post.links.sign('reply', claims)}`,
    optOutLink: `${post.publicUrl}/opt-out/${post.links.sign('opt_out', claims)}`,
  }
}

/** Times are given by the person's own clock, or by the meeting's, and then it is said. */
export const readerOf = (meeting: Meeting, timeZone: Participant['timeZone']) => ({
  zone: timeZone ?? meeting.intent.timeZone,
  zoneIsOwn: timeZone !== undefined,
})

export const disclosedTo = (meeting: Meeting, address: string): Disclosed =>
  disclose(meeting.intent.disclosure, factsFor(meeting.intent, address))

export interface Sent {
  readonly messageId: string
  readonly at: Date
  readonly code: string
}

/** How long the mail server rests when it says that it has too much to do. */
const REST_MS = 5 * 60_000

export const send = async (
  world: World,
  post: Post,
  mail: Omit<OutgoingMail, 'from'>,
  attempt: Attempt,
): Promise<Outcome<Sent>> => {
  const answer = await post.mailer.send({ ...mail, from: post.from }, callContext(world, attempt))
  return outcomeOfSending(answer, mail.messageId, attempt)
}

const outcomeOfSending = (answer: SendAnswer, messageId: string, attempt: Attempt): Outcome<Sent> => {
  switch (answer.type) {
    case 'accepted':
      return { type: 'done', facts: { messageId, at: attempt.now, code: answer.code } }
    case 'refused':
      return answer.reason === 'address'
        ? { type: 'dead', class: 'validation', code: ADDRESS_REFUSED, owner: 'organizer' }
        : { type: 'dead', class: 'permission', code: `mail_${answer.reason}_refused`, owner: 'operations' }
    case 'deferred':
      return answer.restServer
        ? { type: 'throttled', code: answer.code, afterMs: REST_MS }
        : { type: 'retry', code: answer.code }
    case 'not_sent':
      return { type: 'retry', code: answer.code }
    case 'uncertain':
      return { type: 'unknown', code: answer.code, correlation: {} }
  }
}

/** The code of an address that a mail server refuses for good. */
export const ADDRESS_REFUSED = 'address_refused'
export const MAIL_NOT_CONFIGURED = {
  type: 'dead',
  class: 'permission',
  code: 'mail_not_configured',
  owner: 'operations',
} as const

export const contactOf = (
  meeting: Meeting,
  contact: Pick<Contact, 'participantId' | 'kind' | 'messageId' | 'outcome' | 'contactedAt'> & {
    readonly code?: string
  },
): Contact => ({
  id: ContactId.parse(randomUUID()),
  meetingId: meeting.id,
  round: meeting.round,
  code: undefined,
  ...contact,
})
