/** HTTP in, rows committed, nothing sent. No path from here reaches a provider, a handler or the engine. */
import type { Db } from '@aftercommit/platform/db'
import type { Log } from '@aftercommit/platform/log'
import { createMetrics, type Registry } from '@aftercommit/platform/metrics'
import type { LinkSigner } from '@aftercommit/platform/links'
import type { Seal } from '@aftercommit/platform/sealing'
import { readReplyForm, recordReply } from '@aftercommit/scheduling'
import { noSpans, type Spans } from '@aftercommit/platform/spans'
import express, { type Express } from 'express'
import { healthRoutes } from './health.ts'
import { requireApiKey } from './keys.ts'
import { httpMetrics } from './metrics.ts'
import { mount } from './mount.ts'
import { openApiOf } from './openapi.ts'
import type { ReplyPageDeps } from './pages/deps.ts'
import { replyPages } from './pages/reply.ts'
import { ProblemError, problemHandler } from './problem.ts'
import { limitRate, type RateLimit } from './rate-limit.ts'
import { referenceRoutes } from './reference.ts'
import { noteRequests } from './request.ts'
import { speakPlainly } from './rules.ts'
import type { Route } from './route.ts'
import { askingRoutes } from './routes/asking.ts'
import { endingRoutes } from './routes/ending.ts'
import { exceptionRoutes } from './routes/exceptions.ts'
import { inboundMailRoutes } from './routes/inbound-mail.ts'
import { repairRoutes } from './routes/repairs.ts'
import { readNow } from './store.ts'
import { connectionRoutes } from './routes/connections.ts'
import { schedulingRoutes } from './routes/scheduling.ts'

export interface ApiOptions {
  readonly db: Db
  readonly seal: Seal
  readonly log: Log
  readonly metrics?: Registry
  /** Absent: no limit. */
  readonly rateLimit?: RateLimit
  /** Verifies the links in mails. Absent: there are no pages for people without an account. */
  readonly links?: LinkSigner
  /** Origins on this machine that webhooks may go to over http, as the dispatchers are told them. Absent: none. */
  readonly webhookAllowLoopback?: readonly string[]
  /** Absent: requests leave no spans. */
  readonly spans?: Spans
}

/** Every route there is: all that may be asked of this server with a key. */
export const routesOf = ({
  seal,
  webhookAllowLoopback = [],
}: Pick<ApiOptions, 'seal' | 'webhookAllowLoopback'>): readonly Route[] => [
  ...schedulingRoutes(),
  ...connectionRoutes({ seal, webhookAllowLoopback }),
  ...askingRoutes(),
  ...endingRoutes(),
  ...exceptionRoutes(),
  ...repairRoutes(),
  ...inboundMailRoutes(),
]

export const createApi = (options: ApiOptions): Express => {
  const { db, log, metrics = createMetrics(), rateLimit, links, spans = noSpans } = options
  speakPlainly()
  const routes = routesOf(options)
  const app = express()
  app.disable('x-powered-by')
  // Tags are made by routes that know a version; one made from bytes would cost the whole answer to compare.
  app.disable('etag')
  app.use(noteRequests(log, httpMetrics(metrics), spans))
  app.use(healthRoutes(db, metrics))
  app.use(referenceRoutes((now) => openApiOf(routes, now)))
  if (links) app.use(replyPages(pagesOver(db, links)))
  app.use('/v1', requireApiKey(db))
  if (rateLimit) app.use('/v1', limitRate(rateLimit))
  app.use(mount(routes, db))
  app.use(() => {
    throw new ProblemError('no-such-address')
  })
  app.use(problemHandler)
  return app
}

const pagesOver = (db: Db, links: LinkSigner): ReplyPageDeps => ({
  links,
  now: () => readNow(db),
  readReplyForm: (claims) => readReplyForm(db, claims),
  recordReply: (claims, answer) => recordReply(db, claims, answer),
})
