import { afterEach, expect, test } from '@jest/globals'
import { createMetrics } from '@aftercommit/platform/metrics'
import supertest from 'supertest'
import { startHealthServer, type HealthServer, type Readiness } from './health.ts'

const servers: HealthServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

const start = async (readiness: () => Promise<Readiness>, port = 0): Promise<HealthServer> => {
  const server = await startHealthServer({ host: '127.0.0.1', port, metrics: createMetrics(), readiness })
  servers.push(server)
  return server
}

test('a dispatcher lives while its event loop turns, whatever its database does', async () => {
  const { url } = await start(() => Promise.resolve('database_unreachable'))
  await supertest(url).get('/healthz').expect(200, { status: 'ok' })
  await supertest(url).get('/readyz?verbose').expect(503, { status: 'database_unreachable' })
  await supertest(url).get('/metrics').expect(200)
  await supertest(url).get('/').expect(404)
})

test('readiness follows the dispatcher from its start to its stop', async () => {
  let now: Readiness = 'starting'
  const { url } = await start(() => Promise.resolve(now))
  for (const each of ['starting', 'ready', 'not_migrated', 'stopping'] as const) {
    now = each
    await supertest(url)
      .get('/readyz')
      .expect(each === 'ready' ? 200 : 503, { status: each })
  }
})

test('a port that is taken is told to whoever starts the server', async () => {
  const { url } = await start(() => Promise.resolve('ready'))
  await expect(start(() => Promise.resolve('ready'), Number(new URL(url).port))).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
