/** The product's own bundles as processes, with one API, the simulated world, and as many dispatchers as asked for. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureLogin } from '@aftercommit/platform/migrate'
import { newSealingKey } from '@aftercommit/platform/sealing'
import { createTenant } from '@aftercommit/platform/tenants'
import { z } from 'zod'
import { startProcess, type RunningProcess } from '../apps/demo/src/processes.ts'
import { simulatorControl, type SimulatorControl } from '../apps/simulator/src/index.ts'
import { urlOf } from '../packages/local-postgres/src/index.ts'
import type { Server } from './server.ts'

export interface BenchFleet {
  readonly ownerUrl: string
  readonly apiUrl: string
  readonly control: SimulatorControl
  /** Answers the body of what was made. Rejects on any refusal. */
  readonly post: (path: string, body: unknown) => Promise<{ readonly id: string }>
  /** Starts so many dispatchers. Answers how to stop them. */
  dispatch(count: number): Promise<() => Promise<void>>
  readonly stop: () => Promise<void>
}

const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const Listening = z.object({ url: z.url() })
const Made = z.object({ id: z.string() })
const PROFILE = { LEASE_MS: '60000', CALL_TIMEOUT_MS: '15000', POLL_MS: '1000' }

export const startBenchFleet = async (server: Server, database: string): Promise<BenchFleet> => {
  const urls = await server.createOutbox(database)
  const apiLogin = urlOf(urls.owner, {
    user: 'aftercommit_bench_api',
    password: randomBytes(18).toString('base64url'),
  })
  await ensureLogin(urls.owner, apiLogin, 'aftercommit_api')
  const logs = await mkdtemp(join(tmpdir(), 'aftercommit-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(logs, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  const start = async (name: string, env: Record<string, string>, ready: string): Promise<RunningProcess> => {
    const running = await startProcess({
      name: `${name}-${randomUUID()}`,
      script: join(DIST, `${name}.js`),
      env,
      logFile: join(logs, `${name}-${randomUUID()}.log`),
      isReady: ({ message, type }) => message === ready || type === ready,
    })
    return running
  }
  try {
    const sealingKeys = newSealingKey('bench')
    const simulator = await start('simulator', { PORT: '0' }, 'listening')
    stops.push(() => simulator.stop())
    const { url: simulatorUrl } = Listening.parse(simulator.ready)
    const limits = { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' }
    const api = { API_DATABASE_URL: apiLogin, SEALING_KEYS: sealingKeys, PORT: '0', ...limits }
    const running = await start('api', api, 'listening')
    stops.push(() => running.stop())
    const { url: apiUrl } = Listening.parse(running.ready)
    const { apiKey } = await createTenant(urls.owner, 'Bench')
    const env = dispatcherEnv(urls.dispatcher, sealingKeys, simulatorUrl)
    return {
      ownerUrl: urls.owner,
      apiUrl,
      control: simulatorControl(simulatorUrl),
      post: (path, body) => post(`${apiUrl}${path}`, apiKey, body),
      dispatch: async (count) => {
        const dispatchers = await Promise.all(
          Array.from({ length: count }, () => start('dispatcher', env, 'dispatching')),
        )
        const stopAll = async (): Promise<void> => {
          await Promise.all(dispatchers.map((each) => each.stop()))
        }
        return stopAll
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const post = async (url: string, apiKey: string, body: unknown): Promise<{ readonly id: string }> => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${url} answered ${response.status}: ${text}`)
  return Made.parse(JSON.parse(text))
}

const dispatcherEnv = (
  databaseUrl: string,
  sealingKeys: string,
  simulatorUrl: string,
): Record<string, string> => ({
  ...PROFILE,
  HEALTH_PORT: '0',
  DISPATCHER_DATABASE_URL: databaseUrl,
  SEALING_KEYS: sealingKeys,
  GOOGLE_CLIENT_ID: 'bench',
  GOOGLE_CLIENT_SECRET: randomBytes(12).toString('hex'),
  GOOGLE_ROOT_URL: `${simulatorUrl}/google/`,
  GOOGLE_TOKEN_URL: `${simulatorUrl}/google/token`,
  MICROSOFT_CLIENT_ID: 'bench',
  MICROSOFT_CLIENT_SECRET: randomBytes(12).toString('hex'),
  MICROSOFT_GRAPH_URL: `${simulatorUrl}/graph/`,
  MICROSOFT_LOGIN_URL: `${simulatorUrl}/login`,
})
