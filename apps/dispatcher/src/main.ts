import { openDb, type Db } from '@aftercommit/platform/db'
import { readEnv, wholeNumber } from '@aftercommit/platform/env'
import { createLog, errorFields, type Log } from '@aftercommit/platform/log'
import { collectProcessMetrics, createMetrics, startSampling } from '@aftercommit/platform/metrics'
import { isMigrated } from '@aftercommit/platform/schema'
import { linkSigner } from '@aftercommit/platform/links'
import { sealingOf } from '@aftercommit/platform/sealing'
import { onShutdown } from '@aftercommit/platform/shutdown'
import { openSpans } from '@aftercommit/platform/spans'
import { z } from 'zod'
import { createDispatcher, type ProviderSettings } from './dispatcher.ts'
import { startHealthServer, type HealthOptions, type HealthServer, type Readiness } from './health.ts'
import { engineMetrics, outboxGauges } from './metrics.ts'
import { reportTo } from './report.ts'

/** What the actions themselves ask for at least. */
const SHORTEST_LEASE_MS = 60_000

const Env = z
  .object({
    DISPATCHER_DATABASE_URL: z.url(),
    SEALING_KEYS: z.string().min(1),
    DATABASE_CONNECTIONS_MAX: wholeNumber({ min: 2, max: 200 }).default(20),
    /** Takes the place of every action's own lease. */
    LEASE_MS: wholeNumber({ min: 1_000, max: 600_000 }).optional(),
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
    /** `smtp://user:password@host:port`, or `smtps://…`. Absent: nobody is written to. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    /** `false` also sends unencrypted, for a mail server on the same machine. */
    SMTP_REQUIRE_TLS: z.enum(['true', 'false']).default('true'),
    /** Who the mails are from. */
    MAIL_FROM: z.email().optional(),
    MAIL_FROM_NAME: z.string().optional(),
    /** Where people outside reach the API, for the links in mails. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** Exact origins on this machine that webhooks may go to over http, separated by commas. */
    WEBHOOK_ALLOW_LOOPBACK: z.string().default(''),
    /** Names of actions that no code will know again, separated by commas: their rows become dead letters at once. */
    RETIRED_ACTIONS: z.string().default(''),
    /** Base address of an OTLP/HTTP receiver for spans. Absent: none are made. */
    OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    HOST: z.string().default('127.0.0.1'),
    /** Where /healthz, /readyz and /metrics are. 0: wherever the system has room. */
    HEALTH_PORT: wholeNumber({ min: 0, max: 65_535 }).default(9464),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  })
  // Three calls may follow one another in one attempt: a token, a fresh check, a write.
  .refine((env) => env.CALL_TIMEOUT_MS * 3 < (env.LEASE_MS ?? SHORTEST_LEASE_MS), {
    path: ['LEASE_MS'],
    error: 'a lease must outlast three provider calls',
  })
  .refine(
    (env) => env.SMTP_URL === undefined || (env.MAIL_FROM !== undefined && env.PUBLIC_URL !== undefined),
    {
      path: ['SMTP_URL'],
      error: 'sending mail needs MAIL_FROM and PUBLIC_URL as well',
    },
  )

const main = async (): Promise<void> => {
  const env = readEnv(Env)
  const log = createLog('dispatcher', env.LOG_LEVEL)
  const db = openDb({
    url: env.DISPATCHER_DATABASE_URL,
    applicationName: 'aftercommit dispatcher',
    connectionsMax: env.DATABASE_CONNECTIONS_MAX,
    onHintError: (error) => log.warn('a wake-up hint was not sent', errorFields(error)),
  })
  const metrics = createMetrics()
  collectProcessMetrics(metrics)
  const count = engineMetrics(metrics)
  const write = reportTo(log)
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const spans = await openSpans({
    service: 'dispatcher',
    endpoint,
    onError: (error) => log.warn('spans were not exported', errorFields(error)),
  })
  const dispatcher = createDispatcher({
    db,
    ...(endpoint !== undefined && { spans }),
    unseal: sealingOf(env.SEALING_KEYS).unseal,
    providers: settingsOf(env),
    ...(env.LEASE_MS !== undefined && { leaseMs: env.LEASE_MS }),
    pollMs: env.POLL_MS,
    retiredActions: listOf(env.RETIRED_ACTIONS),
    report: (event) => {
      count(event)
      write(event)
    },
  })
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  const readiness = async (): Promise<Readiness> => (phase === 'running' ? readinessOf(db) : phase)
  const health = await tryHealthServer(log, { host: env.HOST, port: env.HEALTH_PORT, metrics, readiness })
  const stopSampling = startSampling({
    everyMs: SAMPLE_MS,
    sample: outboxGauges(metrics, db),
    onError: (error) => log.warn('the outbox was not sampled', errorFields(error)),
  })
  await dispatcher.start()
  phase = 'running'
  log.info('dispatching', { replicaId: dispatcher.replicaId, healthUrl: health?.url })
  onShutdown(log, async () => {
    phase = 'stopping'
    await Promise.all([dispatcher.stop(env.SHUTDOWN_GRACE_MS), stopSampling()])
    await spans.close()
    await db.close()
    await health?.stop()
  })
}

const SAMPLE_MS = 10_000

const readinessOf = (db: Db): Promise<Readiness> =>
  isMigrated(db).then(
    (migrated) => (migrated ? 'ready' : 'not_migrated'),
    () => 'database_unreachable',
  )

/** Work goes on where nobody can look at it: a taken port is told to the log and stops nothing else. */
const tryHealthServer = (log: Log, options: HealthOptions): Promise<HealthServer | undefined> =>
  startHealthServer(options).catch((error: unknown) => {
    log.error('health and metrics are not served', { port: options.port, ...errorFields(error) })
    return undefined
  })

const listOf = (text: string): readonly string[] => text.split(',').filter((part) => part !== '')

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
  ...mailOf(env),
  webhookAllowLoopback: listOf(env.WEBHOOK_ALLOW_LOOPBACK),
  callTimeoutMs: env.CALL_TIMEOUT_MS,
})

const mailOf = ({
  SMTP_URL: smtpUrl,
  SMTP_REQUIRE_TLS,
  MAIL_FROM: address,
  MAIL_FROM_NAME: displayName,
  PUBLIC_URL: publicUrl,
  SEALING_KEYS,
}: z.output<typeof Env>): Pick<ProviderSettings, 'mail'> =>
  smtpUrl === undefined || address === undefined || publicUrl === undefined
    ? {}
    : {
        mail: {
          smtpUrl,
          requireTls: SMTP_REQUIRE_TLS === 'true',
          from: { address, ...(displayName !== undefined && { displayName }) },
          publicUrl: publicUrl.replace(/\/$/, ''),
          links: linkSigner(SEALING_KEYS),
        },
      }

await main()
