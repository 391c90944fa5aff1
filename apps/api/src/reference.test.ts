import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { z } from 'zod'
import { ClientMessage, LocalDateTime, MeetingState, repairKinds } from '@aftercommit/scheduling'
import { answerExamples } from './answer-examples.ts'
import { createTestApi, idOf } from './api.testing.ts'
import { routesOf } from './app.ts'
import { openApiOf } from './openapi.ts'
import { messageExample } from './openapi-webhooks.ts'
import { problemNames, problems } from './problems.ts'

const database = useDatabase()
const routes = routesOf({ seal: sealingOf(newSealingKey('test')).seal })

test('the published document is OpenAPI 3.1, and every reference in it leads somewhere', async () => {
  const answer = await createTestApi(database).send('get', '/openapi.json').expect(200)
  const body = z.record(z.string(), z.unknown()).parse(answer.body)
  const result = await new Validator().validate(body)
  expect(result.errors).toBeUndefined()
  expect(result.valid).toBe(true)
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '')
  expect(references.length).toBeGreaterThan(50)
  for (const path of references) {
    const found = path.split('/').reduce<unknown>((at, key) => Reflect.get(Object(at), key), body)
    expect([path, found]).toEqual([path, expect.any(Object)])
  }
})

test('every route is in the document once, with its parameters and its problems', () => {
  const { paths } = openApiOf(routes, new Date())
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
    routes.map(({ operationId }) => operationId).sort(),
  )
  expect(paths['/v1/meetings/{meetingId}/approve']?.post).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({ name: 'meetingId', in: 'path', required: true }),
      expect.objectContaining({ name: 'if-match', in: 'header', required: false }),
    ]) as unknown,
    responses: { 200: {}, 400: {}, 401: {}, 403: {}, 404: {}, 409: {}, 412: {}, 415: {}, 422: {}, 429: {} },
  })
  expect(paths['/v1/meetings']?.get?.parameters).toContainEqual(
    expect.objectContaining({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    }),
  )
})

interface Documented {
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[]
  readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, unknown>> }>>
}

test('tags, keys, forms and limits stand where they apply, and nowhere else', () => {
  const { paths } = openApiOf(routes, new Date())
  for (const route of routes) {
    const { parameters, responses } = paths[route.path]?.[route.method] as unknown as Documented
    const names = parameters.map(({ $ref, name }) => $ref?.split('/').at(-1) ?? name)
    const headersOf = (status: number) => Object.keys(responses[status]?.headers ?? {})
    const isTagged = route.answer.headers?.includes('etag') ?? false
    const isWritten = route.method === 'post'
    expect([route.operationId, names.includes('ifNoneMatch'), '304' in responses]).toEqual([
      route.operationId,
      isTagged,
      isTagged,
    ])
    expect(headersOf(route.answer.status).includes('etag')).toBe(isTagged)
    expect(names.includes('idempotencyKey')).toBe(isWritten)
    expect(headersOf(route.answer.status).includes('idempotent-replayed')).toBe(isWritten)
    expect('406' in responses).toBe(route.answer.text !== undefined)
    expect(names.includes('if-match')).toBe('412' in responses)
    for (const status of [429, 503]) expect(headersOf(status)).toContain('retry-after')
    for (const status of [401, 403]) expect(headersOf(status)).toContain('www-authenticate')
  }
})

test('the reference page shows every operation and asks nobody for anything', async () => {
  const answer = await createTestApi(database).send('get', '/docs').expect(200)
  for (const { operationId, path } of routes) {
    expect(answer.text).toContain(`id="${operationId}"`)
    expect(answer.text).toContain(`<code>${path}</code>`)
  }
  expect(answer.text).not.toMatch(/<script|<img|<link|<iframe|(?:href|src)="(?![#/])/)
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
})

test('the page shows each field of a body by its whole path, with its rules as sentences', async () => {
  const { text } = await createTestApi(database).send('get', '/docs').expect(200)
  const row = (path: string) =>
    new RegExp(`<tr><td><code>${path}</code></td>.*?</tr>`, 's')
      .exec(text)?.[0]
      .replaceAll(/<[^>]*>/g, ' ') ?? ''
  expect(row('durationMinutes')).toMatch(/whole number\s+yes\s+At least 5\. At most 720\. A multiple of 5\./)
  expect(row('participants\\[\\]\\.workingHours\\.startsAt')).toContain('When work begins')
  expect(row('participants\\[\\]\\.role')).toContain('One of: required, optional.')
  expect(row('approval\\.type')).toContain('One of: automatic, organizer, named_approver.')
  expect(row('approval\\.address')).toContain('With  named_approver .')
})

/** A schema without what is wrapped around it, and what is said of it, from the outside in. */
const layersOf = (schema: z.core.$ZodType): readonly z.core.$ZodType[] => {
  const inner =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
      ? schema.unwrap()
      : schema instanceof z.ZodPipe
        ? schema.in
        : undefined
  return [schema, ...(inner ? layersOf(inner) : [])]
}

interface RequestField {
  readonly path: string
  readonly schema: z.core.$ZodType
  readonly description: string | undefined
  readonly examples: readonly unknown[]
  readonly isLeaf: boolean
}

const fieldsOf = (schema: z.core.$ZodType, path: string): readonly RequestField[] => {
  const core = layersOf(schema).at(-1)
  if (core instanceof z.ZodArray) return fieldsOf(core.element, `${path}[]`)
  if (core instanceof z.ZodUnion) return core.options.flatMap((option) => fieldsOf(option, path))
  if (!(core instanceof z.ZodObject)) return []
  return Object.entries<z.core.$ZodType>(core.shape).flatMap(([name, field]) => {
    const metas = layersOf(field).map((layer) => z.globalRegistry.get(layer))
    const shown: unknown = metas.find((meta) => meta?.examples !== undefined)?.examples
    const nested = fieldsOf(field, `${path}.${name}`)
    return [
      {
        path: `${path}.${name}`,
        schema: field,
        description: metas.find((meta) => meta?.description !== undefined)?.description,
        examples: Array.isArray(shown) ? shown : [],
        isLeaf: nested.length === 0,
      },
      ...nested,
    ]
  })
}

const requestFields = routes.flatMap(({ operationId, params, query, headers, body }) =>
  [params, query, headers, ...(body ? [body] : [])].flatMap((part) => fieldsOf(part, operationId)),
)

test('every field of a request says what it is for, and shows a value that its own schema takes', () => {
  expect(requestFields.length).toBeGreaterThan(50)
  // A cursor is opaque: a made-up one would be refused.
  const shown = requestFields.filter(({ isLeaf, path }) => isLeaf && !path.endsWith('.cursor'))
  expect(
    requestFields.filter(({ description = '' }) => !/\w/.test(description)).map(({ path }) => path),
  ).toEqual([])
  expect(shown.filter(({ examples }) => examples.length === 0).map(({ path }) => path)).toEqual([])
  for (const { path, schema, examples } of requestFields) {
    for (const example of examples) {
      expect([path, z.safeParse(schema, example).error?.issues]).toEqual([path, undefined])
    }
  }
})

const examples = (now: Date) =>
  Object.entries(openApiOf(routes, now).paths).flatMap(([path, { post }]) => {
    const content = z
      .object({ content: z.object({ 'application/json': z.object({ example: z.unknown() }) }) })
      .safeParse(post?.requestBody)
    return content.success ? [{ path, body: content.data.content['application/json'].example }] : []
  })

test('the example of every body can be sent, whatever the day', () => {
  for (const day of ['2026-12-06', '2026-12-07', '2027-02-28', '2028-12-31']) {
    for (const { path, body } of examples(new Date(`${day}T23:30:00Z`))) {
      const schema = routes.find((route) => route.method === 'post' && route.path === path)?.body
      expect([path, schema?.safeParse(body).error?.issues]).toEqual([path, undefined])
    }
  }
})

/** What an answer says of where a meeting stands; undefined where it says nothing of it. */
const stateIn = (answer: unknown) =>
  z.object({ state: z.object({ type: z.string() }) }).safeParse(answer).data?.state.type

const fieldsIn = (answer: unknown): readonly string[] =>
  Object.keys(z.record(z.string(), z.unknown()).parse(answer)).sort()

test('the examples that need nothing before are taken as they stand, and answered as their own examples say', async () => {
  const client = await createTestApi(database).createClient()
  const alone = examples(new Date()).filter(({ path }) => !path.includes('{'))
  expect(alone.map(({ path }) => path).sort()).toEqual([
    '/v1/calendar-connections',
    '/v1/meetings',
    '/v1/webhook-endpoints',
  ])
  for (const { path, body } of alone) {
    const answer = await client.post(path, JSON.stringify(body)).expect(201)
    const operationId = routes.find((route) => route.method === 'post' && route.path === path)?.operationId
    const example = answerExamples[operationId ?? '']
    expect([path, stateIn(answer.body)]).toEqual([path, stateIn(example)])
    expect([path, fieldsIn(answer.body)]).toEqual([path, fieldsIn(example)])
  }
})

const Missing = z.object({ exceptions: z.array(z.object({ id: z.string(), code: z.string() })) })

test('the examples tell one story: what the opened meeting lacks is what the next one answers', async () => {
  const client = await createTestApi(database).createClient()
  const bodyOf = (path: string): string =>
    JSON.stringify(examples(new Date()).find((each) => each.path === path)?.body)
  const post = (path: string) => client.post(path, bodyOf(path)).expect(201)
  const calendarConnectionId = idOf(await post('/v1/calendar-connections'))
  const meeting = idOf(await post('/v1/meetings'))
  const { exceptions } = Missing.parse((await client.get(`/v1/meetings/${meeting}`)).body)
  expect(answerExamples.viewException).toMatchObject({ code: exceptions[0]?.code })
  expect(exceptions).toHaveLength(1)
  const resolve = '/v1/exceptions/{exceptionId}/resolve'
  expect(JSON.parse(bodyOf(resolve))).toEqual({ calendarConnectionId: expect.any(String) as unknown })
  const path = resolve.replace('{exceptionId}', exceptions[0]?.id ?? '')
  const answer = await client.post(path, { calendarConnectionId }).expect(200)
  expect(stateIn(answer.body)).toBe(stateIn(answerExamples.resolveException))
})

test('a command and a guide call an id by one name', async () => {
  const { text } = await createTestApi(database).send('get', '/docs').expect(200)
  const variables = new Set([...text.matchAll(/\/\$([A-Z_]+)/g)].map(([, name]) => name))
  expect([...variables].sort()).toEqual(['ENDPOINT', 'EXCEPTION', 'MEETING', 'PARTICIPANT', 'REPAIR'])
})

test.each([
  ['2027-03-29T09:00', true],
  ['2027-03-29T09:00:00', true],
  ['2027-03-29T09:00Z', false],
  ['2027-03-29T09:00+01:00', false],
  ['2027-03-29', false],
  ['2027-03-29T24:00', false],
])('document and server agree on a local time: %s', (text, taken) => {
  const { components } = openApiOf(routes, new Date())
  const Draft = z.object({
    properties: z.object({
      window: z.object({ properties: z.object({ from: z.object({ pattern: z.string() }) }) }),
    }),
  })
  const { pattern } = Draft.parse(components.schemas.MeetingDraft).properties.window.properties.from
  expect(new RegExp(pattern).test(text)).toBe(taken)
  expect(LocalDateTime.safeParse(text).success).toBe(taken)
})

test.each(problemNames)('the problem %s is explained at its own address', async (name) => {
  const answer = await createTestApi(database).send('get', `/problems/${name}`).expect(200)
  expect(answer.type).toBe('text/html')
  expect(answer.text).toContain(`(${problems[name].status})`)
})

test('a problem that does not exist is itself a problem', async () => {
  const answer = await createTestApi(database).send('get', `/problems/${randomUUID()}`).expect(404)
  expect(answer.body).toMatchObject({ type: '/problems/no-such-address' })
})

test('what we send is in the document: its headers, its body and what an answer to it means', () => {
  const { webhooks, components } = openApiOf(routes, new Date())
  expect(webhooks.message?.post).toMatchObject({
    parameters: [{ name: 'webhook-id' }, { name: 'webhook-timestamp' }, { name: 'webhook-signature' }],
    requestBody: {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookMessage' } } },
    },
    responses: { '2XX': {}, 410: {}, 429: {} },
  })
  expect(ClientMessage.parse(messageExample)).toEqual(messageExample)
  expect(JSON.stringify(components.schemas.WebhookMessage)).toContain('repair.opened')
})

test('states, repairs, exceptions and owners are explained where they are answered', async () => {
  const { text } = await createTestApi(database).send('get', '/docs').expect(200)
  const page = text.replaceAll(/<[^>]*>/g, ' ')
  for (const { means } of Object.values(repairKinds)) {
    expect(page).toContain(means.replaceAll('`', '').split(/[;'’]/)[0] ?? '')
  }
  for (const state of MeetingState.options) {
    const meaning = z.globalRegistry.get(state.shape.type)?.description
    expect([state.shape.type.value, typeof meaning]).toEqual([state.shape.type.value, 'string'])
  }
  expect(page).toContain('Whoever operates this service.')
  expect(page).toContain('Who approves a time before it is booked.')
})

test('the example of every answer is one that its operation may give, down to the last field', () => {
  for (const [operationId, example] of Object.entries(answerExamples)) {
    const { schema } = routes.find((route) => route.operationId === operationId)?.answer ?? {}
    expect([operationId, schema?.safeParse(example)]).toEqual([operationId, { success: true, data: example }])
  }
  // A trace and an explanation are as long as what they tell.
  const without = routes.filter(({ operationId }) => !(operationId in answerExamples))
  expect(without.map(({ operationId }) => operationId)).toEqual(['traceMeeting', 'explainTime'])
})
