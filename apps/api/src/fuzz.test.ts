/** Whatever is sent, the answer is one that the route declares: never a fault of ours. */
import { randomUUID } from 'node:crypto'
import { test } from '@jest/globals'
import type { Db } from '@aftercommit/platform/db'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import fc from 'fast-check'
import { z } from 'zod'
import { completeIntent, createTestApi, idOf, type ApiClient } from './api.testing.ts'
import { routesOf } from './app.ts'
import { cursorFrom } from './cursor.ts'
import { isJson, type Json } from './json.ts'
import { openApiOf } from './openapi.ts'
import type { Route } from './route.ts'

const database = useDatabase()
const routes = routesOf({ seal: sealingOf(newSealingKey('test')).seal })
const RUNS = Number(process.env.FUZZ_RUNS ?? 20)

/** Values at which something broke before, here or elsewhere. */
const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    ...[
      null,
      '',
      ' ',
      0,
      -1,
      1.5,
      1e308,
      -0,
      true,
      [],
      {},
      [null],
      '\u0000',
      '\uD800',
      '😀',
      'x'.repeat(5_000),
    ],
    ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z'],
    ...['0000-01-01T00:00', '9999-12-31T23:59', '2027-02-30T00:00', '2027-03-28T02:30', '2027-10-31T02:30'],
    ...[
      '2027-03-24T12:00:00.123456789Z',
      '2027-03-24T12:00:00+23:59',
      '2199-12-31T23:59:59-23:59',
      'infinity',
    ],
    ...['Mars/Base', 'EST', 'Etc/GMT+12', 'Pacific/Apia', "a'b@example.com", 'ADA@EXAMPLE.COM'],
    ...[
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '00000000-0000-0000-0000-000000000000',
      'http://[::1',
      'https://a b',
    ],
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.uuid(),
)

type Path = readonly (string | number)[]

const pathsIn = (value: unknown): readonly Path[] =>
  Array.isArray(value) || isJson(value)
    ? Object.entries(value).flatMap(([key, inner]): Path[] => {
        const part = Array.isArray(value) ? Number(key) : key
        return [[part], ...pathsIn(inner).map((rest): Path => [part, ...rest])]
      })
    : []

/** Undefined takes the field away. */
const replaced = (value: unknown, [part, ...rest]: Path, by: unknown): unknown => {
  if (part === undefined) return by
  const inner: unknown = Reflect.get(Object(value), part)
  if (Array.isArray(value)) return value.with(Number(part), replaced(inner, rest, by))
  return { ...(isJson(value) ? value : {}), [part]: replaced(inner, rest, by) }
}

/** A good body with a few of its parts replaced, so that what lies behind the first refusal is reached too. */
const spoilt = (good: unknown): fc.Arbitrary<unknown> => {
  const paths = pathsIn(good)
  if (paths.length === 0) return nasty
  const change = fc.tuple(fc.constantFrom(...paths), fc.oneof(nasty, fc.constant(undefined)))
  return fc
    .array(change, { maxLength: 3 })
    .map((changes) => changes.reduce((body, [path, by]) => replaced(body, path, by), good))
}

const text = fc.oneof(nasty.map(String), fc.string())

const cursor = fc.oneof(
  text,
  fc.tuple(nasty, fc.oneof(fc.uuid(), nasty)).map((position) => cursorFrom(z.array(z.any()).parse(position))),
)

/** Some of these names, each with a value of its own. */
const someOf = (arbitraryByName: Readonly<Record<string, fc.Arbitrary<string>>>) =>
  fc
    .subarray(Object.entries(arbitraryByName))
    .chain((chosen) => fc.tuple(...chosen.map(([name, value]) => value.map((each) => [name, each] as const))))
    .map((pairs): Record<string, string> => Object.fromEntries(pairs))

const queryOf = ({ query }: Route): fc.Arbitrary<string> =>
  someOf(
    Object.fromEntries(Object.keys(query.shape).map((name) => [name, name === 'cursor' ? cursor : text])),
  ).map((values) => new URLSearchParams(values).toString())

/** What a header may hold at all; the rest never reaches a server. */
const headersOf = ({ headers, method }: Route): fc.Arbitrary<Record<string, string>> => {
  const names = [...Object.keys(headers.shape), 'if-none-match', 'traceparent', 'x-request-id']
  if (method === 'post') names.push('idempotency-key')
  const value = fc.oneof(
    fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
    fc.constantFrom('*', '"1.1"', 'W/"x", "y"'),
  )
  return someOf(Object.fromEntries(names.map((name) => [name, value])))
}

interface World {
  readonly client: ApiClient
  /** The last error that undid a transaction: the log names only its kind. */
  readonly lastError: () => unknown
  /** Ids that exist, by the name of the parameter that takes them. */
  readonly idsByName: Readonly<Record<string, readonly string[]>>
  /** Bodies that reach further than the published example, by operation. */
  readonly bodiesByOperation: Readonly<Record<string, readonly unknown[]>>
}

const watched = (db: Db): { readonly db: Db; readonly lastError: () => unknown } => {
  let last: unknown
  const transact: Db['transact'] = async (tenantId, work) => {
    try {
      return await db.transact(tenantId, work)
    } catch (error) {
      last = error
      throw error
    }
  }
  return { db: { ...db, transact }, lastError: () => last }
}

const createWorld = async (): Promise<World> => {
  const { db, lastError } = watched(database.api)
  const client = await createTestApi(database, { db }).createClient()
  const intent = await completeIntent(client)
  const lacking = { ...intent, timeZone: undefined, approval: undefined, organizer: undefined }
  const strangers = ['Ada', 'Ben'].map((name) => ({
    displayName: name,
    role: 'required',
    address: `${name}@elsewhere.example`,
  }))
  const open = async (body: object) => idOf(await client.post('/v1/meetings', body).expect(201))
  const meetings = [
    await open(intent),
    await open(lacking),
    await open({ ...intent, participants: strangers }),
  ]
  const list: unknown = (await client.get('/v1/exceptions').expect(200)).body
  const { exceptions } = z.object({ exceptions: z.array(z.object({ id: z.string() })) }).parse(list)
  const { organizer } = intent
  return {
    client,
    lastError,
    idsByName: { meetingId: meetings, exceptionId: exceptions.map(({ id }) => id) },
    bodiesByOperation: {
      openMeeting: [intent, lacking],
      resolveException: [organizer, { timeZone: 'Europe/Berlin' }, { outreach: {} }],
    },
  }
}

const pathOf = ({ path }: Route, { idsByName }: World): fc.Arbitrary<string> => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const value = (name: string) => {
    const wild = fc.oneof(
      fc.string({ minLength: 1 }).map(encodeURIComponent),
      fc.constantFrom('%00', '%E0%A4%A'),
    )
    return fc.oneof(fc.constantFrom(...(idsByName[name] ?? []), randomUUID()), wild)
  }
  return fc
    .record(Object.fromEntries(names.map((name) => [name, value(name)])))
    .map((ids) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ''))
}

const published = (route: Route): unknown => {
  const content = openApiOf([route], new Date()).paths[route.path]?.[route.method]?.requestBody
  const json: Json = isJson(content?.content) ? content.content : {}
  const media = json['application/json']
  return isJson(media) ? media.example : undefined
}

const bodyOf = (route: Route, world: World): fc.Arbitrary<unknown> => {
  const good = [published(route), ...(world.bodiesByOperation[route.operationId] ?? [])]
  return route.body ? fc.oneof(...good.map(spoilt), nasty) : fc.constant(undefined)
}

test.each(routes.map((route) => [route.operationId, route] as const))(
  '%s answers whatever it is sent with what it declares',
  async (_name, route) => {
    const world = await createWorld()
    const request = fc.record({
      path: pathOf(route, world),
      query: queryOf(route),
      headers: headersOf(route),
      body: bodyOf(route, world),
    })
    const property = fc.asyncProperty(request, async ({ path, query, headers, body }) => {
      const sent =
        route.method === 'get'
          ? world.client.get(`${path}?${query}`)
          : world.client.post(`${path}?${query}`, JSON.stringify(body))
      const { status } = await sent.set(headers)
      if (status >= 500) throw new Error(`answered ${status}`, { cause: world.lastError() })
    })
    await fc.assert(property, { numRuns: RUNS })
  },
)
