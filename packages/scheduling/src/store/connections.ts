import type { Tx } from '@aftercommit/platform/db'
import { ConnectionId, EndpointId } from '../ids.ts'
import { z } from 'zod'

export interface CalendarConnection {
  readonly id: ConnectionId
  readonly provider: 'google' | 'microsoft'
  readonly address: string
  readonly sealedCredential: Uint8Array
  readonly state: 'active' | 'revoked'
}

export const insertConnection = async (
  tx: Tx,
  connection: CalendarConnection,
): Promise<'inserted' | 'taken'> => {
  const { id, sealedCredential, ...rest } = connection
  const { count } = await tx.prisma.calendarConnection.createMany({
    skipDuplicates: true,
    data: {
      ...rest,
      connectionId: id,
      tenantId: tx.tenantId,
      sealedCredential: Uint8Array.from(sealedCredential),
    },
  })
  return count === 1 ? 'inserted' : 'taken'
}

/** Of the calendar's one connection, whatever the letter case of its address. */
export const readConnectionId = async (
  tx: Tx,
  provider: CalendarConnection['provider'],
  address: string,
): Promise<ConnectionId | undefined> => {
  const rows = await tx.prisma.$queryRaw<{ connection_id: string }[]>`
    select connection_id from calendar_connection
      where provider = ${provider} and lower(address) = lower(${address})`
  return rows[0] && ConnectionId.parse(rows[0].connection_id)
}

/** Whoever renews last is the one whose credential stays. */
export const renewConnection = async (
  tx: Tx,
  id: ConnectionId,
  sealedCredential: Uint8Array,
): Promise<void> => {
  await tx.prisma.calendarConnection.update({
    where: { connectionId: id },
    data: { sealedCredential: Uint8Array.from(sealedCredential), state: 'active' },
  })
}

export const readConnections = async (
  tx: Tx,
  ids: readonly ConnectionId[],
): Promise<ReadonlyMap<ConnectionId, CalendarConnection>> => {
  const rows = await tx.prisma.calendarConnection.findMany({ where: { connectionId: { in: [...ids] } } })
  return new Map(
    rows.map((row) => {
      const id = ConnectionId.parse(row.connectionId)
      const provider = z.enum(['google', 'microsoft']).parse(row.provider)
      const state = z.enum(['active', 'revoked']).parse(row.state)
      return [id, { id, provider, address: row.address, sealedCredential: row.sealedCredential, state }]
    }),
  )
}

export interface WebhookEndpoint {
  readonly id: EndpointId
  readonly url: string
  readonly sealedSecret: Uint8Array
  readonly state: 'active' | 'disabled'
}

export const insertEndpoint = async (tx: Tx, endpoint: WebhookEndpoint): Promise<void> => {
  const { id, url, state, sealedSecret } = endpoint
  await tx.prisma.webhookEndpoint.create({
    data: { endpointId: id, tenantId: tx.tenantId, url, state, sealedSecret: Uint8Array.from(sealedSecret) },
  })
}

export const readEndpoint = async (tx: Tx, id: EndpointId): Promise<WebhookEndpoint | undefined> => {
  const row = await tx.prisma.webhookEndpoint.findUnique({ where: { endpointId: id } })
  if (!row) return undefined
  const state = z.enum(['active', 'disabled']).parse(row.state)
  return { id, url: row.url, sealedSecret: row.sealedSecret, state }
}

export const readActiveEndpointIds = async (tx: Tx): Promise<readonly EndpointId[]> => {
  const rows = await tx.prisma.webhookEndpoint.findMany({
    where: { state: 'active' },
    select: { endpointId: true },
    orderBy: { createdAt: 'asc' },
  })
  return rows.map((row) => EndpointId.parse(row.endpointId))
}

/** Somebody's receiver said that it is gone for good: nothing goes there any more. */
export const disableEndpoint = async (tx: Tx, id: EndpointId): Promise<void> => {
  await tx.prisma.webhookEndpoint.update({ where: { endpointId: id }, data: { state: 'disabled' } })
}

/**
 * The provider said that this grant is gone. A credential that took its place meanwhile is another one, and stays.
 */
export const markRevoked = async (
  tx: Tx,
  { id, sealedCredential }: Pick<CalendarConnection, 'id' | 'sealedCredential'>,
): Promise<void> => {
  await tx.prisma.calendarConnection.updateMany({
    where: { connectionId: id, sealedCredential: Uint8Array.from(sealedCredential) },
    data: { state: 'revoked' },
  })
}

/**
 * Keeps a credential that its provider gave in another's place. False, and nothing changed, when that other one is not
 * the connection's any more: whatever replaced it came later, or is a person's new grant.
 */
export const replaceCredential = async (
  tx: Tx,
  { id, sealedCredential }: Pick<CalendarConnection, 'id' | 'sealedCredential'>,
  next: Uint8Array,
): Promise<boolean> => {
  const { count } = await tx.prisma.calendarConnection.updateMany({
    where: { connectionId: id, sealedCredential: Uint8Array.from(sealedCredential) },
    data: { sealedCredential: Uint8Array.from(next) },
  })
  return count === 1
}

const UUID_FIRST = '00000000-0000-0000-0000-000000000000'

/** A calendar connection as a client may see it. */
export type ListedConnection = Omit<CalendarConnection, 'sealedCredential'> & { readonly createdAt: Date }

/** By id: an order that no later connection disturbs. The credential is not read. */
export const listConnectionRows = async (
  tx: Tx,
  { after, limit }: { readonly after: ConnectionId | undefined; readonly limit: number },
): Promise<readonly ListedConnection[]> => {
  const rows = await tx.prisma.calendarConnection.findMany({
    where: { connectionId: { gt: after ?? UUID_FIRST } },
    select: { connectionId: true, provider: true, address: true, state: true, createdAt: true },
    orderBy: { connectionId: 'asc' },
    take: limit,
  })
  return rows.map(({ connectionId, provider, address, state, createdAt }) => ({
    id: ConnectionId.parse(connectionId),
    provider: z.enum(['google', 'microsoft']).parse(provider),
    address,
    state: z.enum(['active', 'revoked']).parse(state),
    createdAt,
  }))
}

/** A webhook endpoint as a client may see it. */
export type ListedEndpoint = Omit<WebhookEndpoint, 'sealedSecret'> & { readonly createdAt: Date }

const LISTED_ENDPOINT = { endpointId: true, url: true, state: true, createdAt: true } as const

const listedEndpoint = (row: {
  endpointId: string
  url: string
  state: string
  createdAt: Date
}): ListedEndpoint => ({
  id: EndpointId.parse(row.endpointId),
  url: row.url,
  state: z.enum(['active', 'disabled']).parse(row.state),
  createdAt: row.createdAt,
})

/** By id, likewise. The secret is not read. */
export const listEndpointRows = async (
  tx: Tx,
  { after, limit }: { readonly after: EndpointId | undefined; readonly limit: number },
): Promise<readonly ListedEndpoint[]> => {
  const rows = await tx.prisma.webhookEndpoint.findMany({
    where: { endpointId: { gt: after ?? UUID_FIRST } },
    select: LISTED_ENDPOINT,
    orderBy: { endpointId: 'asc' },
    take: limit,
  })
  return rows.map(listedEndpoint)
}

/** The endpoint, if the tenant has it. */
export const readListedEndpoint = async (tx: Tx, id: EndpointId): Promise<ListedEndpoint | undefined> => {
  const row = await tx.prisma.webhookEndpoint.findUnique({
    where: { endpointId: id },
    select: LISTED_ENDPOINT,
  })
  return row ? listedEndpoint(row) : undefined
}
