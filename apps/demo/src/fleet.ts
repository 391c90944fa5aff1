/** The product's processes as they run in production, and the simulated world around them, over one migrated database. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { portNear, startProcess, type RunningProcess } from './processes.ts'

export interface FleetOptions {
  /** The checkout, for the bundles. */
  readonly root: string
  readonly logFolder: string
  /** One login per process role. */
  readonly logins: { readonly api: string; readonly dispatcher: string }
  readonly sealingKeys: string
  /** Where to listen if nobody else does; 0 takes any free port. */
  readonly ports: { readonly api: number; readonly simulator: number }
  /** Leases and time limits of the dispatchers. */
  readonly profile: Readonly<Record<string, string>>
  /** Further receivers on this machine that webhooks may go to. */
  readonly receivers?: readonly string[]
  readonly tell: (line: string) => void
}

export interface Fleet {
  readonly apiUrl: string
  readonly simulatorUrl: string
  readonly dispatchers: readonly RunningProcess[]
  /** Starts one more dispatcher, as an orchestrator would after one has died. */
  addDispatcher(): Promise<void>
  readonly stop: () => Promise<void>
}

const DISPATCHERS = 2

export const startFleet = async (options: FleetOptions): Promise<Fleet> => {
  const { root, logFolder, logins, sealingKeys, ports, tell } = options
  const started: RunningProcess[] = []
  let stopped = false
  const stop = async (): Promise<void> => {
    stopped = true
    for (const each of started.splice(0).reverse()) await each.stop()
  }
  const start = async (name: string, script: string, env: Record<string, string>, ready: string) => {
    const running = await startProcess({
      name,
      script: join(root, 'dist', `${script}.js`),
      env,
      logFile: join(logFolder, `${name}.log`),
      isReady: (line) => line.message === ready || line.type === ready,
    })
    started.push(running)
    // It came up while the others were going down.
    if (stopped) {
      await stop()
      throw new Error('the stack has been stopped')
    }
    return running
  }
  const listen = async (name: string, port: number, env: Record<string, string>) => {
    const free = port === 0 ? 0 : await portNear(port)
    const { ready } = await start(name, name, { ...env, PORT: String(free) }, 'listening')
    const used = new URL(Listening.parse(ready).url).port
    if (port !== 0 && used !== String(port)) {
      tell(`Port ${port} is taken; ${names[name] ?? name} listens on ${used}.`)
    }
    return ready
  }
  try {
    const { url: simulatorUrl, smtpUrl } = SimulatorListening.parse(
      await listen('simulator', ports.simulator, {}),
    )
    const api = {
      API_DATABASE_URL: logins.api,
      SEALING_KEYS: sealingKeys,
      ...webhookEnv(options, simulatorUrl),
    }
    const { url: apiUrl } = Listening.parse(await listen('api', ports.api, api))
    const dispatchers: RunningProcess[] = []
    const addDispatcher = async (): Promise<void> => {
      const name = `dispatcher-${dispatchers.length + 1}`
      const env = dispatcherEnv(options, { simulatorUrl, smtpUrl, apiUrl })
      dispatchers.push(await start(name, 'dispatcher', env, 'dispatching'))
    }
    for (let n = 0; n < DISPATCHERS; n++) await addDispatcher()
    return { apiUrl, simulatorUrl, dispatchers, addDispatcher, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const names: Readonly<Record<string, string>> = { api: 'the API', simulator: 'the simulator' }

const Listening = z.object({ url: z.url() })
const SimulatorListening = Listening.extend({ smtpUrl: z.string() })

/** All that a dispatcher is told of where it is. */
export const dispatcherEnv = (
  {
    logins,
    sealingKeys,
    profile,
    receivers = [],
  }: Pick<FleetOptions, 'sealingKeys' | 'profile' | 'receivers'> & {
    readonly logins: { readonly dispatcher: string }
  },
  { simulatorUrl, smtpUrl, apiUrl }: { simulatorUrl: string; smtpUrl: string; apiUrl: string },
): Record<string, string> => ({
  ...profile,
  // Any free port: there are several dispatchers on this machine.
  HEALTH_PORT: '0',
  DISPATCHER_DATABASE_URL: logins.dispatcher,
  SEALING_KEYS: sealingKeys,
  GOOGLE_CLIENT_ID: 'demo',
  GOOGLE_CLIENT_SECRET: randomBytes(12).toString('hex'),
  GOOGLE_ROOT_URL: `${simulatorUrl}/google/`,
  GOOGLE_TOKEN_URL: `${simulatorUrl}/google/token`,
  MICROSOFT_CLIENT_ID: 'demo',
  MICROSOFT_CLIENT_SECRET: randomBytes(12).toString('hex'),
  MICROSOFT_GRAPH_URL: `${simulatorUrl}/graph/`,
  MICROSOFT_LOGIN_URL: `${simulatorUrl}/login`,
  SMTP_URL: smtpUrl,
  // The simulated mail server is on this machine and speaks no TLS.
  SMTP_REQUIRE_TLS: 'false',
  MAIL_FROM: 'meetings@aftercommit.example',
  MAIL_FROM_NAME: 'Meetings',
  // The API has the pages on which people without a calendar answer.
  PUBLIC_URL: apiUrl,
  ...webhookEnv({ receivers }, simulatorUrl),
})

/** Whoever takes an address in is told the same as whoever sends there. */
export const webhookEnv = (
  { receivers = [] }: Pick<FleetOptions, 'receivers'>,
  simulatorUrl: string,
): Record<string, string> => ({ WEBHOOK_ALLOW_LOOPBACK: [simulatorUrl, ...receivers].join(',') })
