/**
 * A client's webhook receiver after the Standard Webhooks specification: verify, then dedupe by webhook-id.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Router } from 'express'
import type { Answer, Call } from './exchange.ts'
import { serve } from './exchange.ts'
import { record } from './ledger.ts'
import type { HeldWebhookInbox, World } from './state.ts'

const toleranceMs = 5 * 60_000

export const webhookRoutes = (world: World, stopping: AbortSignal): Router => {
  const router = Router()
  router.post(
    '/:name',
    serve(world, stopping, {
      provider: 'webhook',
      operation: 'webhook.deliver',
      addresses: ({ params }) => [params.name],
      answer: (call) => receive(world, call),
      headers: ({ requestId }) => ({ 'x-request-id': requestId }),
    }),
  )
  return router
}

/** The inbox of that name, made on first use. */
export const inboxNamed = (world: World, name: string): HeldWebhookInbox => {
  const known = world.inboxes.get(name)
  if (known) return known
  const inbox = { name, secret: null, verifying: false, refused: 0, received: [] }
  world.inboxes.set(name, inbox)
  return inbox
}

const receive = (world: World, call: Call): Answer => {
  const inbox = inboxNamed(world, call.params.name ?? '')
  const webhookId = call.header('webhook-id') ?? null
  if (inbox.secret !== null && !isSigned(call, inbox.secret)) {
    inbox.refused += 1
    return { status: 401, body: { error: 'The signature does not match.' } }
  }
  const earlier = inbox.received.find((each) => webhookId !== null && each.webhookId === webhookId)
  if (earlier) {
    earlier.duplicates += 1
    return { status: 204 }
  }
  inbox.received.push({
    at: call.at.toISOString(),
    requestId: call.requestId,
    webhookId,
    verified: inbox.secret !== null,
    headers: call.headers,
    body: call.text,
    duplicates: 0,
  })
  record(world, {
    provider: 'webhook',
    effect: 'webhook_received',
    by: 'api',
    webhookName: inbox.name,
    ...(webhookId === null ? {} : { webhookId }),
  })
  return { status: 204 }
}

/** One of the signatures given is v1 and ours, over id, timestamp and body; and the timestamp is of now. */
const isSigned = (call: Call, secret: string): boolean => {
  const id = call.header('webhook-id')
  const timestamp = call.header('webhook-timestamp')
  if (!id || !timestamp || !/^\d+$/.test(timestamp)) return false
  if (Math.abs(call.at.getTime() - Number(timestamp) * 1000) > toleranceMs) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${call.text}`).digest()
  return (call.header('webhook-signature') ?? '').split(' ').some((signature) => {
    if (!signature.startsWith('v1,')) return false
    const given = Buffer.from(signature.slice('v1,'.length), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
