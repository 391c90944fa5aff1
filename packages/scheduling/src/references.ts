import type { Tx } from '@aftercommit/platform/db'
import type { ConnectionId } from './ids.ts'
import { sameAddress } from './intent.ts'
import { readConnections } from './store.ts'

/** Where in a request something names what the tenant does not have. */
export interface UnknownReference {
  readonly path: readonly (string | number)[]
  readonly reason: string
}

/** Where a request names a calendar, and whose it is said to be. */
export interface Reference {
  readonly path: UnknownReference['path']
  readonly connectionId: ConnectionId
  readonly address: string | undefined
}

/** A reference to a calendar that this tenant has not connected, or that is somebody else's, is malformed input. */
export const unknownAmong = async (
  tx: Tx,
  references: readonly Reference[],
): Promise<readonly UnknownReference[]> => {
  if (references.length === 0) return []
  const known = await readConnections(
    tx,
    references.map(({ connectionId }) => connectionId),
  )
  return references.flatMap(({ path, connectionId, address }): UnknownReference[] => {
    const connection = known.get(connectionId)
    if (!connection) return [{ path, reason: 'no such calendar connection' }]
    if (address !== undefined && !sameAddress(connection.address, address)) {
      return [{ path, reason: "this calendar connection is another person's" }]
    }
    return []
  })
}
