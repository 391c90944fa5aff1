import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startTestWorld } from './world.testing.ts'
import type { TestWorld } from './world.testing.ts'

describe('a webhook receiver', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const key = randomBytes(32)
  const body = JSON.stringify({ type: 'meeting.confirmed', data: { note: 'ünïcode ' } })
  const deliver = async (name: string, id: string, { by = key, at = Date.now(), more = '' } = {}) => {
    const timestamp = Math.floor(at / 1000)
    const signature = createHmac('sha256', by).update(`${id}.${timestamp}.${body}`).digest('base64')
    const response = await fetch(`${world.url}/webhooks/${name}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
      body: body + more,
    })
    return response.status
  }
  const secret = `whsec_${key.toString('base64')}`

  it('keeps a signed delivery byte for byte, once, and counts its repetitions', async () => {
    await world.control.putWebhookSettings('client', { secret })
    const id = `msg_${randomUUID()}`
    expect([await deliver('client', id), await deliver('client', id)]).toEqual([204, 204])
    expect(await world.control.readWebhooks('client')).toMatchObject({
      verifying: true,
      refused: 0,
      received: [{ webhookId: id, verified: true, body, duplicates: 1 }],
    })
    const ledger = (await world.control.readLedger()).filter(({ webhookId }) => webhookId === id)
    expect(ledger).toMatchObject([{ effect: 'webhook_received', webhookName: 'client' }])
  })

  it('refuses another key, a changed body and an old timestamp', async () => {
    await world.control.putWebhookSettings('strict', { secret })
    const statuses = [
      await deliver('strict', randomUUID(), { by: randomBytes(32) }),
      await deliver('strict', randomUUID(), { more: ' ' }),
      await deliver('strict', randomUUID(), { at: Date.now() - 6 * 60_000 }),
    ]
    expect(statuses).toEqual([401, 401, 401])
    expect(await world.control.readWebhooks('strict')).toMatchObject({ refused: 3, received: [] })
  })

  it('takes anything where no secret is known, and says that it did not verify', async () => {
    expect(await deliver('open', randomUUID())).toBe(204)
    expect(await world.control.readWebhooks('open')).toMatchObject({ received: [{ verified: false }] })
  })

  it('notes the trace a request belongs to', async () => {
    await deliver('traced', randomUUID())
    const request = (await world.control.readRequests()).find(({ address }) => address === 'traced')
    expect(request).toMatchObject({
      provider: 'webhook',
      operation: 'webhook.deliver',
      status: 204,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
  })

  it('can lose its answer after taking the delivery', async () => {
    const act = { type: 'drop', when: 'after_effect' } as const
    const operation = 'webhook.deliver'
    await world.control.addFault({ id: 'lost', provider: 'webhook', operation, address: 'shaky', act })
    const id = randomUUID()
    await expect(deliver('shaky', id)).rejects.toThrow()
    expect(await deliver('shaky', id)).toBe(204)
    expect(await world.control.readWebhooks('shaky')).toMatchObject({ received: [{ duplicates: 1 }] })
  })
})
