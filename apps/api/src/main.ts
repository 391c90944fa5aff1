import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDb } from '@aftercommit/platform/db'
import { readEnv, wholeNumber } from '@aftercommit/platform/env'
import { createLog, errorFields } from '@aftercommit/platform/log'
import { collectProcessMetrics, createMetrics } from '@aftercommit/platform/metrics'
import { linkSigner } from '@aftercommit/platform/links'
import { sealingOf } from '@aftercommit/platform/sealing'
import { onShutdown } from '@aftercommit/platform/shutdown'
import { openSpans } from '@aftercommit/platform/spans'
import { LoopbackOrigins } from '@aftercommit/providers/webhook/address'
import { z } from 'zod'
import { createApi } from './app.ts'
import { drain } from './drain.ts'

const Env = z.object({
  API_DATABASE_URL: z.url(),
  SEALING_KEYS: z.string().min(1),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber({ min: 0, max: 65_535 }).default(8080),
  DATABASE_CONNECTIONS_MAX: wholeNumber({ min: 1, max: 200 }).default(10),
  /** `false` behind a pooler that hands a client's statements to any connection; see docs/pgbouncer.md. */
  PREPARED_STATEMENTS: z.enum(['true', 'false']).default('true'),
  /** A statement that nothing was heard of for so long is given up with its connection; see docs/failover.md. */
  DATABASE_SILENCE_MAX_MS: wholeNumber({ min: 25_000, max: 600_000 }).default(60_000),
  /** Requests per tenant and process, in the long run and at once. */
  RATE_LIMIT_PER_SECOND: wholeNumber({ min: 1, max: 100_000 }).default(50),
  RATE_LIMIT_BURST: wholeNumber({ min: 1, max: 100_000 }).default(100),
  /** Base address of an OTLP/HTTP receiver for spans. Absent: none are made. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Exact origins on this machine that webhooks may go to over http, separated by commas. The dispatchers are to be told the same. */
  WEBHOOK_ALLOW_LOOPBACK: LoopbackOrigins,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
})

const main = async (): Promise<void> => {
  const env = readEnv(Env)
  const log = createLog('api', env.LOG_LEVEL)
  const db = openDb({
    url: env.API_DATABASE_URL,
    applicationName: 'aftercommit api',
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    preparedStatements: env.PREPARED_STATEMENTS === 'true',
    silenceMaxMs: env.DATABASE_SILENCE_MAX_MS,
    onHintError: (error) => log.warn('a wake-up hint was not sent', errorFields(error)),
  })
  const metrics = createMetrics()
  collectProcessMetrics(metrics)
  const { seal } = sealingOf(env.SEALING_KEYS)
  const links = linkSigner(env.SEALING_KEYS)
  const rateLimit = { perSecond: env.RATE_LIMIT_PER_SECOND, burst: env.RATE_LIMIT_BURST }
  const spans = await openSpans({
    service: 'api',
    endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
    onError: (error) => log.warn('spans were not exported', errorFields(error)),
  })
  const webhookAllowLoopback = env.WEBHOOK_ALLOW_LOOPBACK
  const options = { db, seal, links, log, metrics, rateLimit, spans, webhookAllowLoopback }
  const server = createApi(options).listen(env.PORT, env.HOST)
  boundTime(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  log.info('listening', { url: `http://${env.HOST}:${port}` })
  onShutdown(log, async () => {
    await drain(server)
    await spans.close()
    await db.close()
  })
}

/**
 * A slow sender is cut off. A slow answer is not: after a commit "it took too long" would be a lie about what happened,
 * and what may take long, a transaction, has bounds of its own.
 */
const boundTime = (server: Server): void => {
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  // Longer than the idle time of the usual proxies (60 s), so that it is the proxy who hangs up first.
  server.keepAliveTimeout = 65_000
}

await main()
