/** Headers and parameters that OpenAPI describes once, and which of them stand where. */
import { z } from 'zod'
import { IdempotencyKey } from './idempotency.ts'
import type { Json } from './json.ts'
import { problems, type ProblemHeader, type ProblemKind, type ProblemName } from './problems.ts'
import type { AnswerHeader, Route } from './route.ts'

type Header = 'x-request-id' | 'traceparent' | 'idempotent-replayed' | 'vary' | AnswerHeader | ProblemHeader

interface HeaderComponent {
  readonly description: string
  readonly schema: Json
}

const text = { type: 'string' }

export const headers: Readonly<Record<Header, HeaderComponent>> = {
  'x-request-id': { description: "This request's id.", schema: text },
  traceparent: { description: 'The trace that this request belongs to.', schema: text },
  'idempotent-replayed': {
    description: '`true`: this was answered before to the same Idempotency-Key, and nothing was done now.',
    schema: { type: 'string', const: 'true' },
  },
  etag: {
    description:
      'The version of what is answered. Send it in `If-None-Match` to be told only of changes, and in `If-Match` where a decision shall stand by what was seen.',
    schema: text,
  },
  location: {
    description: 'Where what was made can be read.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  vary: { description: 'The answer has another form for whoever accepts another one.', schema: text },
  'retry-after': { description: 'How many seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  'www-authenticate': { description: 'RFC 6750: `Bearer`, and the scope that is missing.', schema: text },
  allow: { description: 'The methods that this address knows.', schema: text },
  accept: { description: 'The media type that this address takes.', schema: text },
  'accept-encoding': { description: 'The compressions that are unpacked.', schema: text },
}

const referencesTo = (names: readonly Header[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const everywhere = ['x-request-id', 'traceparent'] as const
/** What a POST decided is kept, a refusal too. */
const kept = (route: Route): readonly Header[] => (route.method === 'post' ? ['idempotent-replayed'] : [])

export const answerHeaders = (route: Route): Json =>
  referencesTo([
    ...everywhere,
    ...(route.answer.headers ?? []),
    ...(route.answer.text ? (['vary'] as const) : []),
    ...kept(route),
  ])

export const unchangedHeaders: Json = referencesTo([...everywhere, 'etag'])

export const problemHeaders = (route: Route, names: readonly ProblemName[]): Json => {
  const kinds: readonly ProblemKind[] = names.map((name) => problems[name])
  const own = kinds.flatMap(({ headers: theirs = [] }) => theirs)
  const decided = names.some((name) => route.problems.includes(name))
  return referencesTo([...everywhere, ...new Set(own), ...(decided ? kept(route) : [])])
}

const { $schema: _, ...keySchema } = z.toJSONSchema(IdempotencyKey)

export const parameters = {
  idempotencyKey: {
    name: 'idempotency-key',
    in: 'header',
    required: false,
    description:
      'Names this request. Repeated with the same key, method, address and body within 24 hours, it takes effect once and gets the same answer, with `idempotent-replayed: true`. A repetition that comes while the first one is under way waits for its answer. The same key with another body, or at another address of the same operation, is refused; at another operation it is another key. A refusal is kept too: a new attempt takes a new key. Malformed requests are not kept.',
    schema: keySchema,
  },
  ifNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    required: false,
    description:
      'Tags that you have, as `ETag` gave them. Where one still stands, the answer is 304 without a body.',
    example: '"1.742"',
    schema: text,
  },
  requestId: {
    name: 'x-request-id',
    in: 'header',
    required: false,
    description: 'Your own name for this request, returned and logged; one is made otherwise.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  traceParent: {
    name: 'traceparent',
    in: 'header',
    required: false,
    description: 'W3C Trace Context. A malformed one is treated as absent.',
    schema: text,
  },
} as const satisfies Record<string, Json>

/** The parameters that a route has by its kind, besides those that it declares. */
export const commonParametersOf = (route: Route): readonly Json[] => {
  const names: readonly (keyof typeof parameters)[] = [
    ...(route.method === 'post' ? (['idempotencyKey'] as const) : []),
    ...(route.method === 'get' && route.answer.headers?.includes('etag') ? (['ifNoneMatch'] as const) : []),
    'requestId',
    'traceParent',
  ]
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}
