/** Mail that came in for the product, forwarded by whatever receives it. */
import type { ParsedMail } from '@aftercommit/providers/email/inbound'
import { ignoredReasons, receiveMail, type ReceivedMail } from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'
import { answered, route, type Route } from '../route.ts'

type ReadableMail = Exclude<ParsedMail, { type: 'malformed' }>

/** The reader of the body has parsed it; what is not a mail never comes here. */
const Mail = z.custom<ReadableMail>(
  (value) => typeof value === 'object' && value !== null && 'references' in value,
)

const Received = named(
  'ReceivedMail',
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('read'), meetingId: z.uuid(), isClear: z.boolean() }),
    z.object({ type: z.literal('bounced'), meetingId: z.uuid() }),
    z.object({ type: z.literal('ignored'), reason: z.enum(ignoredReasons) }),
  ]),
  'What the mail was taken for. `read`: its writer is asked by mail to confirm what was understood, or to say it again; nothing counts before that.',
)

export const inboundMailRoutes = (): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/inbound-mail',
    operationId: 'receiveMail',
    summary: 'Takes in an answer to a mail of ours. The same mail delivered twice is read once.',
    body: Mail,
    media: 'message/rfc822',
    answer: { status: 200, description: 'What it was taken for.', schema: Received },
    problems: [],
    handle: async ({ body }, { db, tenantId }) => answered(await receiveMail(db, tenantId, receivedOf(body))),
  }),
]

const receivedOf = (mail: ReadableMail): ReceivedMail => {
  const { messageId, inReplyTo, references, from } = mail
  const answers = [...(inReplyTo === undefined ? [] : [inReplyTo]), ...references]
  if (mail.type !== 'bounce') {
    const content = mail.type === 'reply' ? { type: mail.type, text: mail.text } : { type: mail.type }
    return { messageId, from, answers, content }
  }
  const { originalMessageId, permanent, code } = mail.bounce
  return {
    messageId,
    from,
    answers: originalMessageId === undefined ? answers : [originalMessageId, ...answers],
    content: { type: 'bounce', permanent, code },
  }
}
