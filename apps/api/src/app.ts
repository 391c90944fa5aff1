/** HTTP in, rows committed, nothing sent. No path from here reaches a provider, a handler or the engine. */
import type { Db } from '@aftercommit/platform/db'
import type { Log } from '@aftercommit/platform/log'
import type { Seal } from '@aftercommit/platform/sealing'
import express, { type Express } from 'express'
import { requireApiKey } from './keys.ts'
import { problem, problemHandler, sendProblem } from './problem.ts'
import { schedulingRoutes } from './routes/scheduling.ts'

export interface ApiOptions {
  readonly db: Db
  readonly seal: Seal
  readonly log: Log
}

const BODY_MAX = '256kb'

export const createApi = ({ db, seal, log }: ApiOptions): Express => {
  const app = express()
  app.disable('x-powered-by')
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
  app.get('/readyz', async (_request, response) => {
    await db.query('select 1')
    response.json({ status: 'ready' })
  })
  app.use('/v1', requireApiKey(db), express.json({ limit: BODY_MAX }), schedulingRoutes({ db, seal }))
  app.use((_request, response) => {
    sendProblem(response, problem(404, 'not-found', 'There is nothing at this address.'))
  })
  app.use(problemHandler(log))
  return app
}
