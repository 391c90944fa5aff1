/** The whole product on one machine: PostgreSQL, the provider simulator, the API, and two dispatchers. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startLocalPostgres, urlOf } from '@aftercommit/local-postgres'
import { ensureLogin, migrate } from '@aftercommit/platform/migrate'
import { newSealingKey } from '@aftercommit/platform/sealing'
import pg from 'pg'
import { counted } from './counted.ts'
import { startFleet, type Fleet, type FleetOptions } from './fleet.ts'
import { sentenceOf } from './sentence.ts'

export interface Stack extends Fleet {
  readonly ownerUrl: string
  readonly databaseNote: string
}

/** Short leases, so that a story about crashes is told in seconds. Three calls must fit into one lease. */
const DEMO_PROFILE = { LEASE_MS: '10000', CALL_TIMEOUT_MS: '3000', POLL_MS: '250', SHUTDOWN_GRACE_MS: '3000' }
/** Where a person finds them again; whoever asks by program needs no place that it knows. */
const KNOWN_PORTS: FleetOptions['ports'] = { api: 8080, simulator: 8090 }
/** Where whoever reads docs/webhooks.md runs the receiver that it shows. */
const READER_RECEIVER = 'http://127.0.0.1:9090'

/** `root` is the checkout, for bundles and migrations; `data` keeps database, key and logs between runs. */
export const startStack = async (
  root: string,
  data: string,
  tell: (line: string) => void,
  ports = KNOWN_PORTS,
): Promise<Stack> => {
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    const database = await openDatabase(data, tell)
    stops.push(database.stop)
    const logins = await prepareDatabase(root, database.ownerUrl, tell)
    const sealingKeys = await keptSealingKey(data)
    const fleet = await startFleet({
      root,
      logFolder: join(data, 'logs'),
      logins,
      sealingKeys,
      ports,
      profile: DEMO_PROFILE,
      receivers: [READER_RECEIVER],
      tell,
    })
    stops.push(fleet.stop)
    return { ...fleet, ownerUrl: database.ownerUrl, databaseNote: database.note, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

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
  tell(
    applied.length === 0 ? 'The schema is current.' : `${counted(applied.length, 'migration', 'applied')}.`,
  )
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
