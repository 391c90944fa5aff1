/** What a dispatcher is told by its environment. */
import type { DbOptions } from '@aftercommit/platform/db'
import { wholeNumber } from '@aftercommit/platform/env'
import { linkSigner } from '@aftercommit/platform/links'
import type { Retention } from '@aftercommit/outbox/engine'
import { LoopbackOrigins } from '@aftercommit/providers/webhook/address'
import { z } from 'zod'
import type { ProviderSettings } from './dispatcher.ts'

/** What the actions themselves ask for at least. */
const SHORTEST_LEASE_MS = 60_000

export const DispatcherEnv = z
  .object({
    DISPATCHER_DATABASE_URL: z.url(),
    SEALING_KEYS: z.string().min(1),
    /** Past a pooler in transaction mode, for the one connection that listens. Absent: DISPATCHER_DATABASE_URL. */
    DISPATCHER_LISTEN_URL: z.url().optional(),
    DATABASE_CONNECTIONS_MAX: wholeNumber({ min: 2, max: 200 }).default(20),
    /** `false` behind a pooler that hands a client's statements to any connection; see docs/pgbouncer.md. */
    PREPARED_STATEMENTS: z.enum(['true', 'false']).default('true'),
    /** A statement that nothing was heard of for so long is given up with its connection; see docs/failover.md. */
    DATABASE_SILENCE_MAX_MS: wholeNumber({ min: 25_000, max: 600_000 }).default(60_000),
    /** For how many days rows are kept after they have ended, by how they ended. 0: for ever. */
    KEEP_SUCCEEDED_DAYS: wholeNumber({ min: 0, max: 36_500 }).default(180),
    KEEP_SUPPRESSED_DAYS: wholeNumber({ min: 0, max: 36_500 }).default(400),
    KEEP_SUPERSEDED_DAYS: wholeNumber({ min: 0, max: 36_500 }).default(400),
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
    /** Exact origins on this machine that webhooks may go to over http, separated by commas. The API is to be told the same. */
    WEBHOOK_ALLOW_LOOPBACK: LoopbackOrigins,
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

type Told = z.output<typeof DispatcherEnv>

export const databaseOf = (env: Told): Omit<DbOptions, 'applicationName'> => ({
  url: env.DISPATCHER_DATABASE_URL,
  ...(env.DISPATCHER_LISTEN_URL !== undefined && { listenUrl: env.DISPATCHER_LISTEN_URL }),
  connectionsMax: env.DATABASE_CONNECTIONS_MAX,
  preparedStatements: env.PREPARED_STATEMENTS === 'true',
  silenceMaxMs: env.DATABASE_SILENCE_MAX_MS,
})

/** A state without a number is kept for ever. */
export const retentionOf = (env: Told): Retention => ({
  ...(env.KEEP_SUCCEEDED_DAYS > 0 && { succeededDays: env.KEEP_SUCCEEDED_DAYS }),
  ...(env.KEEP_SUPPRESSED_DAYS > 0 && { suppressedDays: env.KEEP_SUPPRESSED_DAYS }),
  ...(env.KEEP_SUPERSEDED_DAYS > 0 && { supersededDays: env.KEEP_SUPERSEDED_DAYS }),
})

export const listOf = (text: string): readonly string[] => text.split(',').filter((part) => part !== '')

export const settingsOf = (env: Told): ProviderSettings => ({
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
  webhookAllowLoopback: env.WEBHOOK_ALLOW_LOOPBACK,
  callTimeoutMs: env.CALL_TIMEOUT_MS,
})

const mailOf = ({
  SMTP_URL: smtpUrl,
  SMTP_REQUIRE_TLS,
  MAIL_FROM: address,
  MAIL_FROM_NAME: displayName,
  PUBLIC_URL: publicUrl,
  SEALING_KEYS,
}: Told): Pick<ProviderSettings, 'mail'> =>
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
