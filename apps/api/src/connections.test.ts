import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { completeIntent, createTestApi, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const api = () => createTestApi(database)
const Page = z.object({
  connections: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().optional(),
})
const secret = `whsec_${'A'.repeat(32)}`

const addEndpoint = async (client: ApiClient, url: string): Promise<string> => {
  const answer = await client.post('/v1/webhook-endpoints', { url, secret }).expect(201)
  return z.object({ id: z.string() }).parse(answer.body).id
}

describe('calendars', () => {
  test('are listed page by page, each once, and without their credentials', async () => {
    const client = await api().createClient()
    const made = [await client.connect('a@google.example'), await client.connect('b@google.example')]
    made.push(await client.connect('c@google.example'))
    const page = async (query: string) =>
      Page.parse((await client.get(`/v1/calendar-connections?limit=2${query}`).expect(200)).body)
    const first = await page('')
    const second = await page(`&cursor=${first.nextCursor ?? ''}`)
    const seen = [...first.connections, ...second.connections]
    expect(seen.map(({ id }) => id).sort()).toEqual([...made].sort())
    expect(second.nextCursor).toBeUndefined()
    expect(Object.keys(seen[0] ?? {}).sort()).toEqual(['address', 'createdAt', 'id', 'provider', 'state'])
  })

  test('of another tenant are not among them', async () => {
    await (await api().createClient()).connect('foreign@google.example')
    const own = await api().createClient()
    expect((await own.get('/v1/calendar-connections').expect(200)).body).toEqual({ connections: [] })
  })
})

describe('webhook endpoints', () => {
  test('are listed without their secrets, and disabled ones say so', async () => {
    const client = await api().createClient()
    const id = await addEndpoint(client, 'https://client.example/hook')
    const disabled = await client.send('post', `/v1/webhook-endpoints/${id}/disable`).expect(200)
    expect(disabled.body).toMatchObject({ id, url: 'https://client.example/hook', state: 'disabled' })
    const list = await client.get('/v1/webhook-endpoints').expect(200)
    expect(list.body).toEqual({ endpoints: [disabled.body] })
    expect(list.text).not.toContain('whsec_')
  })

  test('are not told of meetings that open after they were disabled, and disabling twice is no fault', async () => {
    const client = await api().createClient()
    const kept = await addEndpoint(client, 'https://client.example/kept')
    const gone = await addEndpoint(client, 'https://client.example/gone')
    await client.send('post', `/v1/webhook-endpoints/${gone}/disable`).expect(200)
    await client.send('post', `/v1/webhook-endpoints/${gone}/disable`).expect(200)
    // Nobody may approve it yet, which is asked for by a message.
    const { approval: _, ...incomplete } = await completeIntent(client)
    await client.post('/v1/meetings', incomplete).expect(201)
    const { rows } = await database.owner.query<{ payload: { endpointId?: string } }>(
      `select payload from outbox where tenant_id = $1 and action = 'scheduling.notify_client'`,
      [client.tenantId],
    )
    expect(rows.map(({ payload }) => payload.endpointId)).toEqual([kept])
  })

  test('of another tenant cannot be disabled, nor can one that is not there', async () => {
    const foreign = await addEndpoint(await api().createClient(), 'https://client.example/hook')
    const client = await api().createClient()
    await client.send('post', `/v1/webhook-endpoints/${foreign}/disable`).expect(404)
    await client.send('post', `/v1/webhook-endpoints/${randomUUID()}/disable`).expect(404)
    const { rows } = await database.owner.query('select state from webhook_endpoint where endpoint_id = $1', [
      foreign,
    ])
    expect(rows).toEqual([{ state: 'active' }])
  })
})
