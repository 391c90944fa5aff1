/** The whole product on one machine: PostgreSQL, the provider simulator, the API, and two dispatchers. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startLocalPostgres, urlOf } from '@aftercommit/local-postgres'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { newSealingKey } from '@aftercommit/platform/sealing'
import pg from 'pg'
import { z } from 'zod'
import { sentenceOf } from './sentence.ts'
import { portNear, startProcess, type RunningProcess } from './processes.ts'

export interface Stack {
  readonly ownerUrl: string
  readonly databaseNote: string
  readonly apiUrl: string
  readonly simulatorUrl: string
  readonly dispatchers: readonly RunningProcess[]
  /** Starts one more dispatcher, as an orchestrator would after one has died. */
  addDispatcher(): Promise<void>
  stop(): Promise<void>
}

/** Short leases, so that a story about crashes is told in seconds. Three calls must fit into one lease. */
const DEMO_PROFILE = { LEASE_MS: '6000', CALL_TIMEOUT_MS: '1500', POLL_MS: '250', SHUTDOWN_GRACE_MS: '3000' }
const DISPATCHERS = 2
const API_PORT = 8080
/** Where whoever reads docs/webhooks.md runs the receiver that it shows. */
const READER_RECEIVER = 'http://127.0.0.1:9090'
const SIMULATOR_PORT = 8090

/** `root` is the checkout, for bundles and migrations; `data` keeps database, key and logs between runs. */
export const startStack = async (
  root: string,
  data: string,
  tell: (line: string) => void,
): Promise<Stack> => {
  const stops: (() => Promise<void>)[] = []
  let stopped = false
  const stop = async (): Promise<void> => {
    stopped = true
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    const database = await openDatabase(data, tell)
    stops.push(database.stop)
    const logins = await prepareDatabase(root, database.ownerUrl, tell)
    const sealingKeys = await keptSealingKey(data)
    const start = async (name: string, script: string, env: Record<string, string>, ready: string) => {
      const running = await startProcess({
        name,
        script: join(root, 'dist', `${script}.js`),
        env,
        logFile: join(data, 'logs', `${name}.log`),
        isReady: (line) => line.message === ready || line.type === ready,
      })
      stops.push(() => running.stop())
      // It came up while the others were going down.
      if (stopped) {
        await stop()
        throw new Error('the stack has been stopped')
      }
      return running
    }
    const listen = async (name: string, port: number, env: Record<string, string>): Promise<string> => {
      const running = await start(name, name, { ...env, PORT: String(await portNear(port)) }, 'listening')
      const { url } = Listening.parse(running.ready)
      const used = new URL(url).port
      if (used !== String(port)) tell(`Port ${port} is taken; ${names[name] ?? name} listens on ${used}.`)
      return url
    }
    const simulatorUrl = await listen('simulator', SIMULATOR_PORT, {})
    const apiUrl = await listen('api', API_PORT, {
      API_DATABASE_URL: logins.api,
      SEALING_KEYS: sealingKeys,
    })
    const dispatchers: RunningProcess[] = []
    const addDispatcher = async (): Promise<void> => {
      const env = dispatcherEnv(logins.dispatcher, sealingKeys, simulatorUrl)
      const name = `dispatcher-${dispatchers.length + 1}`
      dispatchers.push(await start(name, 'dispatcher', env, 'dispatching'))
    }
    for (let n = 0; n < DISPATCHERS; n++) await addDispatcher()
    const { ownerUrl, note } = database
    return { ownerUrl, databaseNote: note, apiUrl, simulatorUrl, dispatchers, addDispatcher, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const names: Readonly<Record<string, string>> = { api: 'the API', simulator: 'the simulator' }

const Listening = z.object({ url: z.url() })

const dispatcherEnv = (databaseUrl: string, sealingKeys: string, simulatorUrl: string) => ({
  ...DEMO_PROFILE,
  // Any free port: there are several dispatchers on this machine.
  HEALTH_PORT: '0',
  DISPATCHER_DATABASE_URL: databaseUrl,
  SEALING_KEYS: sealingKeys,
  GOOGLE_CLIENT_ID: 'demo',
  GOOGLE_CLIENT_SECRET: randomBytes(12).toString('hex'),
  GOOGLE_ROOT_URL: `${simulatorUrl}/google/`,
  GOOGLE_TOKEN_URL: `${simulatorUrl}/google/token`,
  MICROSOFT_CLIENT_ID: 'demo',
  MICROSOFT_CLIENT_SECRET: randomBytes(12).toString('hex'),
  MICROSOFT_GRAPH_URL: `${simulatorUrl}/graph/`,
  MICROSOFT_LOGIN_URL: `${simulatorUrl}/login`,
  WEBHOOK_ALLOW_LOOPBACK: `${simulatorUrl},${READER_RECEIVER}`,
})

interface OpenDatabase {
  readonly ownerUrl: string
  readonly note: string
  readonly stop: () => Promise<void>
}

const DATABASE = 'aftercommit'

const openDatabase = async (data: string, tell: (line: string) => void): Promise<OpenDatabase> => {
  const outside = process.env.DATABASE_URL
  if (outside !== undefined) {
    await mustAnswer(outside)
    return { ownerUrl: outside, note: 'the database of DATABASE_URL', stop: () => Promise.resolve() }
  }
  const server = await startLocalPostgres({ dataFolder: join(data, 'postgres'), durability: 'durable' })
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const known = await admin.query('select from pg_database where datname = $1', [DATABASE])
  if (known.rowCount === 0) await admin.query(`create database ${DATABASE}`)
  await admin.end()
  const note = `PostgreSQL ${server.version}, ${known.rowCount === 0 ? 'new data folder' : 'data folder kept from before'}`
  tell(`${note}.`)
  return { ownerUrl: urlOf(server.url, { database: DATABASE }), note, stop: () => server.stop() }
}

const CONNECT_MAX_MS = 5_000

/** Throws one sentence that names the server and never the password. */
const mustAnswer = async (url: string): Promise<void> => {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Error('DATABASE_URL is not a URL such as postgresql://owner:password@host:5432/database')
  }
  const { host, pathname } = new URL(url)
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MAX_MS })
  try {
    await client.connect()
    await client.end()
  } catch (error) {
    throw new Error(
      `the database of DATABASE_URL, ${host}${pathname}, cannot be reached (${sentenceOf(error)}); unset DATABASE_URL to use one that is started here`,
      { cause: error },
    )
  }
}

/** Migrates, and gives API and dispatchers logins of their own that are named after the database. */
const prepareDatabase = async (
  root: string,
  ownerUrl: string,
  tell: (line: string) => void,
): Promise<{ api: string; dispatcher: string }> => {
  const { applied } = await migrate(ownerUrl, join(root, 'prisma', 'migrations'))
  tell(applied.length === 0 ? 'The schema is current.' : `${applied.length} migrations applied.`)
  const database = decodeURIComponent(new URL(ownerUrl).pathname.slice(1))
  const login = (name: string): string =>
    urlOf(ownerUrl, { user: `${database}_demo_${name}`, password: randomBytes(18).toString('base64url') })
  const logins = { api: login('api'), dispatcher: login('dispatcher') }
  await ensureLogin(ownerUrl, logins.api, 'aftercommit_api')
  await ensureLogin(ownerUrl, logins.dispatcher, 'aftercommit_dispatcher')
  return logins
}

/** Credentials sealed in an earlier run must still open in this one. */
const keptSealingKey = async (data: string): Promise<string> => {
  const file = join(data, 'sealing-key')
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  if (kept !== undefined) return kept.trim()
  const key = newSealingKey('demo')
  await mkdir(data, { recursive: true })
  await writeFile(file, key, { mode: 0o600 })
  return key
}
