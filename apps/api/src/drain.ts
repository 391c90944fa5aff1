import { once } from 'node:events'
import type { Server } from 'node:http'

const LOOK_MS = 50

/**
 * Stops listening, lets every request that runs have its answer, and resolves when the last connection is closed. A
 * connection that its client keeps open is closed once it is idle: Node does so only for those that are idle at the
 * start, and would wait for the others as long as they are kept alive.
 */
export const drain = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const looking = setInterval(() => server.closeIdleConnections(), LOOK_MS)
  await closed
  clearInterval(looking)
}
