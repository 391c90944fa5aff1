import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { z } from 'zod'
import { createTestApi } from './api.testing.ts'
import { routesOf } from './app.ts'
import { openApiOf } from './openapi.ts'
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
  const { paths } = openApiOf(routes)
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

test('the reference page shows every operation and asks nobody for anything', async () => {
  const answer = await createTestApi(database).send('get', '/docs').expect(200)
  for (const { operationId, path } of routes) {
    expect(answer.text).toContain(`id="${operationId}"`)
    expect(answer.text).toContain(`<code>${path}</code>`)
  }
  expect(answer.text).not.toMatch(/<script|https?:\/\/(?!json-schema)|<img|<link/)
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
})

test.each(problemNames)('the problem %s is explained at its own address', async (name) => {
  const answer = await createTestApi(database).send('get', `/problems/${name}`).expect(200)
  expect(answer.type).toBe('text/html')
  expect(answer.text).toContain(`(${problems[name].status})`)
})

test('a problem that does not exist is itself a problem', async () => {
  const answer = await createTestApi(database).send('get', `/problems/${randomUUID()}`).expect(404)
  expect(answer.body).toMatchObject({ type: '/problems/not-found' })
})
