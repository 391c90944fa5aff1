import { openDb } from '@aftercommit/platform/db'
import { readEnv, wholeNumber } from '@aftercommit/platform/env'
import { createLog, errorFields, type Log } from '@aftercommit/platform/log'
import { sealingOf } from '@aftercommit/platform/sealing'
import { onShutdown } from '@aftercommit/platform/shutdown'
import type { EngineEvent } from '@aftercommit/outbox/engine'
import { z } from 'zod'
import { createDispatcher, type ProviderSettings } from './dispatcher.ts'

const Env = z
  .object({
    DISPATCHER_DATABASE_URL: z.url(),
    SEALING_KEYS: z.string().min(1),
    DATABASE_CONNECTIONS_MAX: wholeNumber({ min: 2, max: 200 }).default(20),
    LEASE_MS: wholeNumber({ min: 1_000, max: 600_000 }).default(60_000),
    POLL_MS: wholeNumber({ min: 50, max: 60_000 }).default(1_000),
    CALL_TIMEOUT_MS: wholeNumber({ min: 100, max: 120_000 }).default(15_000),
    SHUTDOWN_GRACE_MS: wholeNumber({ min: 0, max: 600_000 }).default(20_000),
    GOOGLE_CLIENT_ID: z.string().default(''),
    GOOGLE_CLIENT_SECRET: z.string().default(''),
    GOOGLE_ROOT_URL: z.url().optional(),
    GOOGLE_TOKEN_URL: z.url().optional(),
    MICROSOFT_CLIENT_ID: z.string().default(''),
    MICROSOFT_CLIENT_SECRET: z.string().default(''),
    MICROSOFT_TENANT: z.string().default('common'),
    MICROSOFT_GRAPH_URL: z.url().optional(),
    MICROSOFT_LOGIN_URL: z.url().optional(),
    /** Exact origins on this machine that webhooks may go to over http, separated by commas. */
    WEBHOOK_ALLOW_LOOPBACK: z.string().default(''),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  })
  // Three calls may follow one another in one attempt: a token, a fresh check, a write.
  .refine((env) => env.CALL_TIMEOUT_MS * 3 < env.LEASE_MS, {
    path: ['LEASE_MS'],
    error: 'a lease must outlast three provider calls',
  })

const main = async (): Promise<void> => {
  const env = readEnv(Env)
  const log = createLog('dispatcher', env.LOG_LEVEL)
  const db = openDb({
    url: env.DISPATCHER_DATABASE_URL,
    applicationName: 'aftercommit dispatcher',
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    onHintError: (error) => log.warn('a wake-up hint was not sent', errorFields(error)),
  })
  const dispatcher = createDispatcher({
    db,
    unseal: sealingOf(env.SEALING_KEYS).unseal,
    providers: settingsOf(env),
    leaseMs: env.LEASE_MS,
    pollMs: env.POLL_MS,
    report: (event) => writeEvent(log, event),
  })
  await dispatcher.start()
  log.info('dispatching', { replicaId: dispatcher.replicaId })
  onShutdown(log, async () => {
    await dispatcher.stop(env.SHUTDOWN_GRACE_MS)
    await db.close()
  })
}

const settingsOf = (env: z.output<typeof Env>): ProviderSettings => ({
  google: {
    clientId: env.GOOGLE_CLIENT_ID,
    clientSecret: env.GOOGLE_CLIENT_SECRET,
    ...(env.GOOGLE_ROOT_URL !== undefined && { rootUrl: env.GOOGLE_ROOT_URL }),
    ...(env.GOOGLE_TOKEN_URL !== undefined && { tokenUrl: env.GOOGLE_TOKEN_URL }),
  },
  microsoft: {
    clientId: env.MICROSOFT_CLIENT_ID,
    clientSecret: env.MICROSOFT_CLIENT_SECRET,
    tenant: env.MICROSOFT_TENANT,
    ...(env.MICROSOFT_GRAPH_URL !== undefined && { baseUrl: env.MICROSOFT_GRAPH_URL }),
    ...(env.MICROSOFT_LOGIN_URL !== undefined && { loginUrl: env.MICROSOFT_LOGIN_URL }),
  },
  webhookAllowLoopback: env.WEBHOOK_ALLOW_LOOPBACK.split(',').filter((origin) => origin !== ''),
  callTimeoutMs: env.CALL_TIMEOUT_MS,
})

const writeEvent = (log: Log, event: EngineEvent): void => {
  switch (event.type) {
    case 'claimed':
      return
    case 'settled': {
      const { action, outcomeType: outcome, code, failureClass, attempts } = event
      const write = outcome === 'dead' ? log.error : log.info
      return write('settled', { action, outcome, code, failureClass, attempts })
    }
    case 'stale':
      return log.warn('stale', { action: event.action, step: event.step })
    case 'lease_lost':
      return log.warn('lease lost', { action: event.action, started: event.started })
    case 'handed_back':
      return log.info('handed back', { action: event.action })
    case 'error':
      return log.error('engine error', { where: event.where, ...errorFields(event.error) })
  }
}

await main()
