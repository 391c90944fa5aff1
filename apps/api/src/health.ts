/** What an orchestrator and a monitor ask. None of it needs a key: keep these addresses inside your network. */
import type { Db } from '@aftercommit/platform/db'
import { errorFields } from '@aftercommit/platform/log'
import type { Registry } from '@aftercommit/platform/metrics'
import { isMigrated } from '@aftercommit/platform/schema'
import { Router } from 'express'
import { factsOf } from './request.ts'

/** `/healthz` never asks the database: a process is not cured of its absence by being restarted. */
export const healthRoutes = (db: Db, metrics: Registry): Router => {
  const router = Router()
  router.get('/healthz', (_request, response) => {
    factsOf(response).route = '/healthz'
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const facts = factsOf(response)
    facts.route = '/readyz'
    const status = await isMigrated(db).then(
      (migrated) => (migrated ? 'ready' : 'not_migrated'),
      (error: unknown) => {
        facts.log.warn('not ready', errorFields(error))
        return 'database_unreachable' as const
      },
    )
    response.status(status === 'ready' ? 200 : 503).json({ status })
  })
  router.get('/metrics', async (_request, response) => {
    factsOf(response).route = '/metrics'
    response.type(metrics.contentType).send(await metrics.metrics())
  })
  return router
}
