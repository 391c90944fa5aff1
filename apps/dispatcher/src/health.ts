/** What an orchestrator and a monitor ask of a dispatcher, on a port of its own. */
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from '@aftercommit/platform/metrics'

export type Readiness = 'ready' | 'starting' | 'stopping' | 'not_migrated' | 'database_unreachable'

export interface HealthOptions {
  readonly host: string
  /** 0 lets the system pick one. */
  readonly port: number
  readonly metrics: Registry
  readonly readiness: () => Promise<Readiness>
}

export interface HealthServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * `/healthz` says that the event loop turns and nothing else: a restart brings no database back. `/readyz` asks the
 * database. `/metrics` shows what is known already and asks nobody. Rejects when the port is taken.
 */
export const startHealthServer = async (options: HealthOptions): Promise<HealthServer> => {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    answer(options, path, response).catch(() => response.writeHead(500).end())
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://${options.host}:${port}`, stop: () => close(server) }
}

const answer = async (
  { metrics, readiness }: HealthOptions,
  path: string,
  response: ServerResponse,
): Promise<void> => {
  switch (path) {
    case '/healthz': {
      sendStatus(response, 200, 'ok')
      return
    }
    case '/readyz': {
      const status = await readiness()
      sendStatus(response, status === 'ready' ? 200 : 503, status)
      return
    }
    case '/metrics': {
      const text = await metrics.metrics()
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
      return
    }
    default: {
      sendStatus(response, 404, 'not_found')
      return
    }
  }
}

const sendStatus = (response: ServerResponse, code: number, status: string): void => {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ status }))
}

const close = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
