import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { openDb } from '@aftercommit/platform/db'
import { readEnv, wholeNumber } from '@aftercommit/platform/env'
import { createLog, errorFields } from '@aftercommit/platform/log'
import { sealingOf } from '@aftercommit/platform/sealing'
import { onShutdown } from '@aftercommit/platform/shutdown'
import { z } from 'zod'
import { createApi } from './app.ts'

const Env = z.object({
  API_DATABASE_URL: z.url(),
  SEALING_KEYS: z.string().min(1),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber({ min: 0, max: 65_535 }).default(8080),
  DATABASE_CONNECTIONS_MAX: wholeNumber({ min: 1, max: 200 }).default(10),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
})

const main = async (): Promise<void> => {
  const env = readEnv(Env)
  const log = createLog('api', env.LOG_LEVEL)
  const db = openDb({
    url: env.API_DATABASE_URL,
    applicationName: 'aftercommit api',
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    onHintError: (error) => log.warn('a wake-up hint was not sent', errorFields(error)),
  })
  const { seal } = sealingOf(env.SEALING_KEYS)
  const server = createApi({ db, seal, log }).listen(env.PORT, env.HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  log.info('listening', { url: `http://${env.HOST}:${port}` })
  onShutdown(log, async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    await closed
    await db.close()
  })
}

await main()
