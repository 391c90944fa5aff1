import { randomUUID } from 'node:crypto'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { createTestApi } from './api.testing.ts'
import { routesOf } from './app.ts'
import { openApiOf } from './openapi.ts'

const database = useDatabase()

describe('an answer that has a form for people to read', () => {
  const open = async () => {
    const client = await createTestApi(database).createClient()
    const id = await client.openMeeting()
    return { client, path: `/v1/meetings/${id}/trace` }
  }

  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', 'text/plain'],
    ['text/plain', 'text/plain'],
    ['text/plain;q=0.5, application/json', 'application/json'],
    ['application/json;q=0.1, text/plain;q=0.2', 'text/plain'],
    ['text/html, text/plain;q=0.9, */*;q=0.1', 'text/plain'],
    ['application/json;q=0, */*', 'text/plain'],
  ])('is sent to whoever accepts %s as %s', async (accept, type) => {
    const { client, path } = await open()
    const request = client.get(path)
    const answer = await (accept === undefined ? request : request.set('accept', accept)).expect(200)
    expect(answer.type).toBe(type)
    expect(answer.headers.vary).toMatch(/accept/i)
    if (type === 'text/plain') expect(answer.text).toMatch(/^STANDS +gathering/m)
  })

  test.each(['text/html', 'application/json;q=0', 'image/*'])(
    'is refused to whoever accepts only %s',
    async (accept) => {
      const { client, path } = await open()
      const answer = await client.get(path).set('accept', accept).expect(406)
      expect(answer.headers.vary).toMatch(/accept/i)
      expect(answer.body).toMatchObject({ type: '/problems/not-acceptable' })
    },
  )

  test('is a problem all the same when there is nothing to tell', async () => {
    const { client } = await open()
    const answer = await client
      .get(`/v1/meetings/${randomUUID()}/trace`)
      .set('accept', 'text/plain')
      .expect(404)
    expect(answer.type).toBe('application/problem+json')
  })

  test('answers HEAD with the headers of the chosen form', async () => {
    const { client, path } = await open()
    const answer = await client.send('head', path).set('accept', 'text/plain').expect(200)
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  })

  test('is in the OpenAPI document with both its forms', () => {
    const { seal } = sealingOf(newSealingKey('test'))
    const document = openApiOf(routesOf({ seal }), new Date())
    const { responses = {} } = document.paths['/v1/meetings/{meetingId}/trace']?.get ?? {}
    const { content } = z.object({ content: z.record(z.string(), z.unknown()) }).parse(responses['200'])
    expect(Object.keys(content)).toEqual(['application/json', 'text/plain'])
    expect(responses['406']).toBeDefined()
  })
})

test('an answer of one form only is sent whatever is accepted', async () => {
  const client = await createTestApi(database).createClient()
  const answer = await client.get('/v1/meetings').set('accept', 'text/html').expect(200)
  expect(answer.type).toBe('application/json')
  expect(answer.headers.vary).toBeUndefined()
})
