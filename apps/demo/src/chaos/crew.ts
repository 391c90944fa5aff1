/** The product's processes as they run in production, each in a place from which it can be killed and started again. */
import { newSealingKey } from '@aftercommit/platform/sealing'
import { simulatorControl, type SimulatorControl } from '@aftercommit/simulator'
import { z } from 'zod'
import { dispatcherEnv, webhookEnv } from '../fleet.ts'
import { portNear, type RunningProcess } from '../processes.ts'
import type { ChaosDatabase } from './database.ts'
import type { Roster } from './roster.ts'
import { shiftedClock } from './shifted-clock.ts'

export interface Worker {
  readonly slot: number
  /** Also its login. */
  readonly name: string
  readonly replicaId: string
  readonly clockOffsetMs: number
  readonly running: RunningProcess
}

export interface Crew {
  readonly apiUrl: string
  readonly simulatorUrl: string
  readonly control: SimulatorControl
  /** The dispatchers that live. */
  readonly workers: ReadonlyMap<number, Worker>
  killWorker(worker: Worker): Promise<void>
  startWorker(slot: number): Promise<void>
  killApi(): Promise<void>
  startApi(): Promise<void>
}

export interface CrewOptions {
  readonly roster: Roster
  readonly database: ChaosDatabase
  readonly leaseMs: number
  readonly dispatchers: number
}

const SHIFT_MS = 10 * 60_000
/** By place: the first is right, the second fast, the third slow. */
const clockOffsetsMs = [0, SHIFT_MS, -SHIFT_MS] as const
const API_PORT = 18_080
const Listening = z.object({ url: z.url() })
const SimulatorListening = Listening.extend({ smtpUrl: z.string() })

export const startCrew = async (options: CrewOptions): Promise<Crew> => {
  const { roster, dispatchers } = options
  const sealingKeys = newSealingKey('chaos')
  const simulator = await roster.start('simulator', 'simulator', { PORT: '0' })
  const world = SimulatorListening.parse(simulator.ready)
  const api = await apiPlace(options, sealingKeys, webhookEnv({}, world.url))
  const places = workerPlaces(options, {
    sealingKeys,
    env: { simulatorUrl: world.url, smtpUrl: world.smtpUrl, apiUrl: api.url },
  })
  for (let slot = 1; slot <= dispatchers; slot++) await places.start(slot)
  return {
    apiUrl: api.url,
    simulatorUrl: world.url,
    control: simulatorControl(world.url),
    workers: places.workers,
    killWorker: (worker) => places.kill(worker),
    startWorker: (slot) => places.start(slot),
    killApi: () => api.kill(),
    startApi: () => api.start(),
  }
}

/** The client knows one address, so the API comes back where it was. */
const apiPlace = async (
  { roster, database }: CrewOptions,
  sealingKeys: string,
  webhooks: ReturnType<typeof webhookEnv>,
) => {
  const env = {
    ...webhooks,
    API_DATABASE_URL: await database.loginFor('api', 'aftercommit_api'),
    SEALING_KEYS: sealingKeys,
    RATE_LIMIT_PER_SECOND: '10000',
    RATE_LIMIT_BURST: '10000',
  }
  let starts = 0
  const startOn = (port: string) => roster.start('api', `api_${++starts}`, { ...env, PORT: port })
  let running = await startOn(String(await portNear(API_PORT)))
  const { url } = Listening.parse(running.ready)
  return {
    url,
    kill: () => roster.kill(running),
    start: async () => {
      running = await startOn(new URL(url).port)
    },
  }
}

interface Surroundings {
  readonly sealingKeys: string
  readonly env: Parameters<typeof dispatcherEnv>[1]
}

const workerPlaces = ({ roster, database, leaseMs }: CrewOptions, { sealingKeys, env }: Surroundings) => {
  const workers = new Map<number, Worker>()
  const profile = profileOf(leaseMs)
  let starts = 0
  return {
    workers,
    kill: async (worker: Worker): Promise<void> => {
      workers.delete(worker.slot)
      await roster.kill(worker.running)
    },
    start: async (slot: number): Promise<void> => {
      const name = `dispatcher_${slot}_${++starts}`
      const dispatcher = await database.loginFor(name, 'aftercommit_dispatcher')
      const clockOffsetMs = clockOffsetsMs[slot - 1] ?? 0
      const running = await roster.start('dispatcher', name, {
        ...dispatcherEnv({ logins: { dispatcher }, sealingKeys, profile }, env),
        ...(clockOffsetMs !== 0 && { NODE_OPTIONS: shiftedClock(clockOffsetMs) }),
      })
      const replicaId = String(running.ready.replicaId)
      workers.set(slot, { slot, name, replicaId, clockOffsetMs, running })
    },
  }
}

/** Three calls must fit into one lease. */
const profileOf = (leaseMs: number): Record<string, string> => ({
  LEASE_MS: String(leaseMs),
  CALL_TIMEOUT_MS: String(Math.floor(leaseMs * 0.3)),
  POLL_MS: '200',
  SHUTDOWN_GRACE_MS: '3000',
})
