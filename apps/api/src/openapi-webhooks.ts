/** What we send, in the document of what we take: OpenAPI calls it webhooks. */
import { ClientMessage } from '@aftercommit/scheduling'
import type { Json } from './json.ts'
import { named } from './named.ts'

export const Message = named(
  'WebhookMessage',
  ClientMessage,
  'A message to a webhook endpoint. It names a meeting and an occasion, and no person.',
)

export const messageExample: ClientMessage = {
  type: 'meeting.confirmed',
  data: {
    meetingId: '3f2b8c1d-6a4e-4f0b-9d27-8e5c1a7b9f03',
    occasionId: '0f4a1c2e-93b7-4d55-8a61-2b7c9d3e5f10',
  },
}

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  example,
  schema: { type: 'string' },
})

const parameters: readonly Json[] = [
  header(
    'webhook-id',
    'The message, the same on every attempt. Keep those that you have handled, and do nothing the second time.',
    'msg_2b7c9d3e5f10',
  ),
  header(
    'webhook-timestamp',
    'When this attempt was made, in seconds since 1970. Refuse an old one.',
    '1796083200',
  ),
  header(
    'webhook-signature',
    '`v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, byte for byte, under what follows `whsec_` in the secret, decoded. There may be several, with spaces between; one that fits is enough.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
]

/** By name, as OpenAPI 3.1 has it. `schema` refers to the message's component. */
export const webhooksOf = (schema: Json): Readonly<Record<string, { readonly post: Json }>> => ({
  message: {
    post: {
      operationId: 'receiveMessage',
      summary: 'What every active webhook endpoint is sent, in the form of Standard Webhooks.',
      description:
        'At least once, in any order, each attempt under the same `webhook-id`: 30 attempts over three days until you answer 2xx within a few seconds.',
      security: [],
      parameters,
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: messageExample } },
      },
      responses: {
        '2XX': { description: 'Taken. It is not sent again, unless your answer is lost.' },
        410: { description: 'Nothing shall be sent here any more: the endpoint is disabled.' },
        429: {
          description: 'Sent again later.',
          headers: { 'retry-after': { description: 'Respected.', schema: { type: 'string' } } },
        },
        default: { description: 'Sent again, further and further apart. Redirects are not followed.' },
      },
    },
  },
})
