/** A PostgreSQL that can be crashed, and comes back where it was, with what was committed. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalPostgres, type LocalPostgres } from '@aftercommit/local-postgres'

/** `kill` ends the postmaster alone and leaves the rest to notice; `immediate_stop` is PostgreSQL's own emergency stop. */
export type Crash = 'kill' | 'immediate_stop'

export interface Server {
  readonly url: string
  readonly version: string
  /** Crashes it and starts it again; it recovers from its log. */
  crash(how: Crash): Promise<void>
  stop(): Promise<void>
}

const signalOf = { kill: 'SIGKILL', immediate_stop: 'SIGQUIT' } as const satisfies Record<
  Crash,
  NodeJS.Signals
>
const STARTS_MAX = 10
const START_AGAIN_MS = 300

export const startServer = async (): Promise<Server> => {
  const dataFolder = join(tmpdir(), `aftercommit-chaos-${randomBytes(5).toString('hex')}`)
  const first = await startLocalPostgres({ dataFolder, durability: 'durable' })
  let running: LocalPostgres = first
  const port = Number(new URL(first.url).port)
  return {
    url: first.url,
    version: first.version,
    crash: async (how) => {
      process.kill(running.pid, signalOf[how])
      await running.stop()
      running = await startAgain(dataFolder, port)
    },
    stop: async () => {
      await running.stop()
      await rm(dataFolder, { recursive: true, force: true })
      await rm(`${dataFolder}.password`, { force: true })
    },
  }
}

/** What the old server left may hold its shared memory for a moment. */
const startAgain = async (dataFolder: string, port: number): Promise<LocalPostgres> => {
  for (let starts = 1; ; starts++) {
    try {
      return await startLocalPostgres({ dataFolder, durability: 'durable', port })
    } catch (error) {
      if (starts === STARTS_MAX) throw error
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS))
    }
  }
}
