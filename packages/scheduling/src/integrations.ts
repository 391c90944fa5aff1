/** What a client has connected: the calendars that may be read and written, and the addresses that are told. */
import type { Db } from '@aftercommit/platform/db'
import type { ConnectionId, EndpointId } from './ids.ts'
import { disableEndpoint, listConnectionRows, listEndpointRows, readListedEndpoint } from './store.ts'
import type { ListedConnection, ListedEndpoint } from './store.ts'

export interface IntegrationPage<Id> {
  /** The last one of the page before. */
  readonly after: Id | undefined
  readonly limit: number
}

/** The tenant's calendars, in an order that no later one disturbs; never their credentials. */
export const listConnections = (
  db: Db,
  tenantId: string,
  page: IntegrationPage<ConnectionId>,
): Promise<readonly ListedConnection[]> => db.transact(tenantId, (tx) => listConnectionRows(tx, page))

/** The tenant's webhook endpoints, likewise, and never their secrets. */
export const listEndpoints = (
  db: Db,
  tenantId: string,
  page: IntegrationPage<EndpointId>,
): Promise<readonly ListedEndpoint[]> => db.transact(tenantId, (tx) => listEndpointRows(tx, page))

/**
 * Nothing is sent to the endpoint any more, messages that wait to be sent included: each of them ends with the reason
 * before contact. One that is on its way may still arrive. Doing it again changes nothing.
 */
export const disableWebhookEndpoint = (
  db: Db,
  tenantId: string,
  id: EndpointId,
): Promise<ListedEndpoint | undefined> =>
  db.transact(tenantId, async (tx) => {
    const endpoint = await readListedEndpoint(tx, id)
    if (endpoint?.state !== 'active') return endpoint
    await disableEndpoint(tx, id)
    return { ...endpoint, state: 'disabled' }
  })
