/** The OpenAPI 3.1 document, made from the same declarations that the routes are made from. */
import { z } from 'zod'
import { answerExamples } from './answer-examples.ts'
import { exampleOf } from './examples.ts'
import type { Json } from './json.ts'
import { scopeOf } from './mount.ts'
import { descriptionByName, schemaNames } from './named.ts'
import {
  answerHeaders,
  commonParametersOf,
  headers,
  parameters,
  problemHeaders,
  unchangedHeaders,
} from './openapi-headers.ts'
import { Message, webhooksOf } from './openapi-webhooks.ts'
import { PROBLEM_MEDIA_TYPE } from './problem.ts'
import { problemNames, problems, type ProblemName } from './problems.ts'
import { TEXT_MEDIA_TYPE } from './representation.ts'
import type { Route } from './route.ts'

export interface OpenApi {
  readonly openapi: '3.1.0'
  readonly info: Json
  readonly servers: readonly Json[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Json }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly securitySchemes: Json
    readonly headers: Json
    readonly parameters: Json
  }
  readonly security: readonly Json[]
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Readonly<Record<string, Json>>
}

const COMPONENTS = '#/components/schemas/'

/** Examples hold dates that this server takes on the day `now`. */
export const openApiOf = (routes: readonly Route[], now: Date): OpenApi => {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operationOf(route, now)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Aftercommit',
      version: '1',
      description:
        'Scheduling on a transactional outbox. A request commits what was decided and what must follow, and answers; the effects are made afterwards, by dispatchers. Fields and types may be added to answers at any time.\n\nA request is answered in JSON whatever `Accept` says, unless its operation names a second form; then a header that takes neither is refused with 406. Every key is held to a rate per tenant; who is over it is answered 429 with `Retry-After`, and nothing is done.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that gave out this document.' }],
    paths,
    webhooks: webhooksOf(referenceTo(Message, 'messages')),
    components: {
      schemas: { ...namedSchemas(), Problem: problemSchema },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key with the scopes read, write or both.',
        },
      },
      headers,
      parameters,
    },
    security: [{ apiKey: [] }],
  }
}

/** JSON Schema as it stands in the document: requests and answers alike as they are on the wire. */
const wireOptions = { io: 'input', target: 'draft-2020-12', reused: 'inline' } as const

const namedSchemas = (): Record<string, Json> => {
  const { schemas } = z.toJSONSchema(schemaNames, { ...wireOptions, uri: (id) => `${COMPONENTS}${id}` })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => {
      const description = descriptionByName.get(id)
      return [id, { ...(description !== undefined && { description }), ...bare(schema) }]
    }),
  )
}

/** The document says once which dialect it speaks, and its own addresses identify its schemas. */
const bare = ({ $schema: _, $id: __, id: ___, ...schema }: Json): Json => schema

const referenceTo = (schema: z.ZodType, where: string): Json => {
  const id = schemaNames.get(schema)?.id
  if (id === undefined) throw new Error(`the schema of ${where} has no name`)
  return { $ref: `${COMPONENTS}${id}` }
}

const operationOf = (route: Route, now: Date): Operation => {
  const { method, operationId, summary, body } = route
  return {
    operationId,
    summary,
    description: `Needs a key with the scope \`${scopeOf(route)}\`.`,
    parameters: [
      ...parametersOf('path', route.params),
      ...parametersOf('query', route.query),
      ...parametersOf('header', route.headers),
      ...commonParametersOf(route),
    ],
    ...(body && { requestBody: { required: true, content: { [route.media]: bodyOf(route, body, now) } } }),
    responses: {
      ...answers(route),
      ...(method === 'get' &&
        route.answer.headers?.includes('etag') && {
          304: {
            description: 'What `If-None-Match` names is what stands here still.',
            headers: unchangedHeaders,
          },
        }),
      ...problemResponses(route, problemsOf(route)),
    },
  }
}

/** A mail has a grammar of its own, which JSON Schema does not speak. */
const bodyOf = (route: Route, body: z.ZodType, now: Date): Json =>
  route.media === 'message/rfc822'
    ? { schema: { type: 'string', description: 'One mail as RFC 5322 writes it.' }, example: MAIL_EXAMPLE }
    : {
        schema: referenceTo(body, `the body of ${route.operationId}`),
        example: route.example?.(now) ?? exampleOf(z.toJSONSchema(body, wireOptions)),
      }

const MAIL_EXAMPLE = [
  'From: Ada Lovelace <ada@example.com>',
  'To: meetings@client.example',
  'Subject: Re: When can you meet?',
  'Message-ID: <b9c1@mail.example.com>',
  'In-Reply-To: <0f4a1c2e-93b7-8d55-8a61-2b7c9d3e5f10@client.example>',
  '',
  'Tuesday from 14:00 to 16:00 suits me.',
].join('\r\n')

const answers = (route: Route): Record<string, Json> => {
  const { answer, operationId } = route
  const { status, description, again, text } = answer
  const example = answerExamples[operationId]
  const schema = referenceTo(answer.schema, `the answer of ${operationId}`)
  const asText = text && {
    [TEXT_MEDIA_TYPE]: { schema: { type: 'string', description: text.description } },
  }
  const rest = {
    headers: answerHeaders(route),
    content: { 'application/json': { schema, ...(example !== undefined && { example }) }, ...asText },
  }
  return {
    [status]: { description, ...rest },
    ...(again && { [again.status]: { description: again.description, ...rest } }),
  }
}

const parametersOf = (place: 'path' | 'query' | 'header', schema: z.ZodObject): readonly Json[] => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, wireOptions)
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples, ...schema } = typeof property === 'boolean' ? {} : property
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      ...(examples !== undefined && { example: examples[0] }),
      schema,
    }
  })
}

/** What a route may refuse with: what it declares, and what every route of its kind can meet. */
export const problemsOf = (route: Route): readonly ProblemName[] => {
  const common: ProblemName[] = [
    'unauthenticated',
    'insufficient-scope',
    'malformed-input',
    'unreadable-request',
    'rate-limited',
  ]
  const written: ProblemName[] = [
    'malformed-json',
    'body-too-large',
    'unsupported-media-type',
    'idempotency-key-reused',
  ]
  const ours: ProblemName[] = ['internal', 'unavailable']
  const formed: ProblemName[] = route.answer.text ? ['not-acceptable'] : []
  return [...route.problems, ...formed, ...common, ...(route.method === 'post' ? written : []), ...ours]
}

/** One response per status; its description names every problem that comes with it. */
const problemResponses = (route: Route, names: readonly ProblemName[]): Record<string, Json> => {
  const namesByStatus = new Map<number, readonly ProblemName[]>()
  for (const name of new Set(names)) {
    const { status } = problems[name]
    namesByStatus.set(status, [...(namesByStatus.get(status) ?? []), name])
  }
  return Object.fromEntries(
    [...namesByStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((name) => `\`/problems/${name}\`: ${problems[name].title}`).join('\n\n'),
        headers: problemHeaders(route, group),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: `${COMPONENTS}Problem` } } },
      },
    ]),
  )
}

const problemSchema: Json = {
  description: 'RFC 9457. `type` is relative to this server, which explains it at that address.',
  type: 'object',
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      examples: problemNames.map((name) => `/problems/${name}`),
    },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          in: { type: 'string', enum: ['body', 'query', 'path', 'header'] },
          pointer: { type: 'string', format: 'json-pointer' },
          rule: { type: 'string' },
        },
        required: ['in', 'pointer', 'rule'],
      },
    },
  },
  required: ['type', 'title', 'status'],
}
