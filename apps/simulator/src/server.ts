import { createServer } from 'node:http'
import type { Server } from 'node:http'
import express from 'express'
import type { Express } from 'express'
import { controlRoutes, unknownControl } from './control.ts'
import { googleRoutes } from './google/routes.ts'
import type { Exchanged } from './exchange.ts'
import { frontPage } from './front-page.ts'
import { graphRoutes, loginRoutes } from './microsoft/routes.ts'
import { clearFaults } from './faults.ts'
import { startMailServer } from './mail/server.ts'
import { emptyWorld } from './state.ts'
import type { World } from './state.ts'
import { webhookRoutes } from './webhooks.ts'

export interface SimulatorOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number
  /** Of the mail server; 0, the default, takes any free port. */
  readonly smtpPort?: number
  /** Sees every exchange as the provider made it, before a scripted fault came between. Must not throw. */
  readonly observe?: (exchanged: Exchanged) => void
}

export interface Simulator {
  /** e.g. `http://127.0.0.1:4003`, without a trailing slash. */
  readonly url: string
  /** e.g. `smtp://127.0.0.1:2525` */
  readonly smtpUrl: string
  /** Breaks off every open exchange and resolves when the port is free. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a world of its own on the loopback interface: Google at `/google/`, Graph at `/graph/`, Microsoft
 * sign-in at `/login/`, webhook receivers at `/webhooks/`, and the control API at `/control/`; and a mail server beside
 * it.
 */
export const startSimulator = async ({
  port = 0,
  smtpPort = 0,
  observe,
}: SimulatorOptions = {}): Promise<Simulator> => {
  const world = emptyWorld(observe)
  const stopping = new AbortController()
  const mail = await startMailServer(world, smtpPort, stopping.signal)
  const server = createServer(simulatorApp(world, stopping.signal, mail.url))
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    stopping.abort()
    clearFaults(world)
    server.closeAllConnections()
    await Promise.all([closed, mail.stop()])
  }
  try {
    return { url: await listening(server, port), smtpUrl: mail.url, stop }
  } catch (error) {
    await mail.stop()
    throw error
  }
}

const simulatorApp = (world: World, stopping: AbortSignal, smtpUrl: string): Express => {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/', frontPage(world, smtpUrl))
  app.use(express.text({ type: () => true, limit: '4mb' }))
  app.use('/google', googleRoutes(world, stopping))
  app.use('/graph', graphRoutes(world, stopping))
  app.use('/login', loginRoutes(world, stopping))
  app.use('/webhooks', webhookRoutes(world, stopping))
  app.use('/control', controlRoutes(world), unknownControl)
  // Two clients lose a path in the address they are given: googleapis resolves absolute paths against a
  // client-wide rootUrl, and MSAL takes the first segment of an endpoint for the tenant. So both are answered
  // at the root too.
  app.use(googleRoutes(world, stopping))
  app.use(loginRoutes(world, stopping))
  return app
}

const listening = (server: Server, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('The simulator got no port.'))
      else resolve(`http://127.0.0.1:${address.port}`)
    })
  })
