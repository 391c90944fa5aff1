/** What a client connects: calendars, and addresses that are told what happens. */
import type { Seal } from '@aftercommit/platform/sealing'
import {
  addWebhookEndpoint,
  connectCalendar,
  ConnectionId,
  disableWebhookEndpoint,
  EndpointId,
  listConnections,
  listEndpoints,
} from '@aftercommit/scheduling'
import { addressFault } from '@aftercommit/providers/webhook/address'
import { z } from 'zod'
import { cursorOf, PageLimit, pageOf } from '../cursor.ts'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { Created } from './scheduling-answers.ts'
import { Connect, Endpoint } from './scheduling-bodies.ts'

const OneEndpoint = z.strictObject({
  endpointId: EndpointId.meta({
    description: 'The id of the endpoint, as it was answered when it was added, and as the list shows it.',
    examples: ['0d1c52f4-7a35-4d1c-8a59-2f6c1b0f3e77'],
  }),
})

const CalendarConnection = named(
  'CalendarConnection',
  z.object({
    id: z.uuid(),
    provider: z.enum(['google', 'microsoft']),
    address: z.string(),
    state: z.enum(['active', 'revoked']).meta({
      description:
        '`revoked`: the provider said that the grant is gone. Connect the calendar again to renew it.',
    }),
    createdAt: z.iso.datetime(),
  }),
  'A calendar that may be read and written. Its credential is never given out.',
)
const CalendarConnectionList = named(
  'CalendarConnectionList',
  z.object({ connections: z.array(CalendarConnection), nextCursor: z.string().optional() }),
)
const WebhookEndpoint = named(
  'WebhookEndpoint',
  z.object({
    id: z.uuid(),
    url: z.string(),
    state: z.enum(['active', 'disabled']).meta({
      description: '`disabled`: by you, or because its receiver answered 410. Nothing is sent there.',
    }),
    createdAt: z.iso.datetime(),
  }),
  'An address that is told, in signed messages, what happens to meetings. Its secret is never given out.',
)
const WebhookEndpointList = named(
  'WebhookEndpointList',
  z.object({ endpoints: z.array(WebhookEndpoint), nextCursor: z.string().optional() }),
)

export const connectionRoutes = ({
  seal,
  webhookAllowLoopback,
}: {
  readonly seal: Seal
  readonly webhookAllowLoopback: readonly string[]
}): readonly Route[] => [...calendarRoutes(seal), ...endpointRoutes(seal, webhookAllowLoopback)]

/** Why messages to this address would never be sent, which is better said before it is kept. */
const unreachable = (given: unknown, allowed: readonly string[]) => {
  const url = typeof given === 'object' && given !== null && 'url' in given ? given.url : undefined
  // What is no address at all is refused as such.
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  if (addressFault(url, new Set(allowed)) === undefined) return []
  const http =
    allowed.length === 0
      ? 'this server allows no plain http (WEBHOOK_ALLOW_LOOPBACK)'
      : `plain http goes only to ${allowed.join(', ')}`
  const reason = `must be https to a public address, without user and password; ${http}`
  return [{ path: ['url'], reason }]
}

const calendarRoutes = (seal: Seal): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/calendar-connections',
    operationId: 'connectCalendar',
    summary:
      'Connects a calendar, or renews the credential of one that is connected. The credential is sealed at once and is never given out.',
    body: Connect,
    answer: {
      status: 201,
      description: 'The connection, to be named by meetings.',
      schema: Created,
      again: {
        status: 200,
        description:
          'This calendar was connected before: the same connection, active, with the new credential.',
      },
    },
    problems: [],
    handle: async ({ body }, { db, tenantId }) => {
      const { type, id } = await connectCalendar(db, seal, tenantId, body)
      return answered({ id }, { again: type === 'reconnected' })
    },
  }),

  route({
    method: 'get',
    path: '/v1/calendar-connections',
    operationId: 'listCalendarConnections',
    summary: 'Lists the calendars that are connected, and whether each may still be read.',
    query: z.strictObject({ limit: PageLimit, cursor: cursorOf(z.tuple([ConnectionId])).optional() }),
    answer: { status: 200, description: 'One page.', schema: CalendarConnectionList },
    problems: [],
    handle: async ({ query: { limit, cursor } }, { db, tenantId }) => {
      const found = await listConnections(db, tenantId, { after: cursor?.[0], limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ id }) => [id])
      return answered({ connections: items.map(wire), ...next })
    },
  }),
]

const endpointRoutes = (seal: Seal, allowed: readonly string[]): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/webhook-endpoints',
    operationId: 'addWebhookEndpoint',
    summary: 'Names an address that is told, in signed messages, what happens to meetings.',
    body: Endpoint,
    answer: { status: 201, description: 'The endpoint; messages go to it from now on.', schema: Created },
    judge: (given) => Promise.resolve(unreachable(given, allowed)),
    problems: [],
    handle: async ({ body }, { db, tenantId }) => {
      const faults = unreachable(body, allowed)
      if (faults.length > 0) throw malformedBody(faults)
      return answered({ id: await addWebhookEndpoint(db, seal, tenantId, body) })
    },
  }),

  route({
    method: 'get',
    path: '/v1/webhook-endpoints',
    operationId: 'listWebhookEndpoints',
    summary: 'Lists the addresses that are told, and those that were.',
    query: z.strictObject({ limit: PageLimit, cursor: cursorOf(z.tuple([EndpointId])).optional() }),
    answer: { status: 200, description: 'One page.', schema: WebhookEndpointList },
    problems: [],
    handle: async ({ query: { limit, cursor } }, { db, tenantId }) => {
      const found = await listEndpoints(db, tenantId, { after: cursor?.[0], limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ id }) => [id])
      return answered({ endpoints: items.map(wire), ...next })
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook-endpoints/{endpointId}/disable',
    operationId: 'disableWebhookEndpoint',
    summary:
      'Sends nothing there any more, not even what waits to be sent. A message on its way may still arrive.',
    params: OneEndpoint,
    answer: { status: 200, description: 'The endpoint, disabled.', schema: WebhookEndpoint },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const endpoint = await disableWebhookEndpoint(db, tenantId, params.endpointId)
      return endpoint ? answered(wire(endpoint)) : refused('not-found')
    },
  }),
]

const wire = <Listed extends { readonly createdAt: Date }>({ createdAt, ...rest }: Listed) => ({
  ...rest,
  createdAt: createdAt.toISOString(),
})
