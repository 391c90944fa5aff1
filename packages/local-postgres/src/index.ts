import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const Ready = z.object({ type: z.literal('ready'), url: z.string(), version: z.string(), pid: z.int() })

export interface LocalPostgres {
  /** Superuser URL of the database `postgres`. */
  readonly url: string
  readonly version: string
  /** The postmaster's process id, for tests that kill it. */
  readonly pid: number
  /** Stops the server; a temporary one leaves no folder behind. */
  stop(): Promise<void>
}

export interface LocalPostgresOptions {
  /** Where the data stays between runs; a temporary folder, removed at the end, when left out. */
  readonly dataFolder?: string
  /** `durable` keeps every commit through a power loss; `fast` keeps it through the death of any process. */
  readonly durability: 'durable' | 'fast'
  /** Where to listen, for a server that comes back where it was; any free port when left out. */
  readonly port?: number
}

/**
 * Starts a PostgreSQL server from npm's binaries on a free loopback port. The server hangs on a host process of its
 * own, which stops it when this process ends in any way, so that nothing is left running.
 */
export const startLocalPostgres = async (options: LocalPostgresOptions): Promise<LocalPostgres> => {
  const host = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('./host.ts', import.meta.url)), JSON.stringify(options)],
    // Its own process group: Ctrl-C reaches the caller first, which still needs the database to end in order.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true, env: { ...process.env, NODE_OPTIONS: '' } },
  )
  const exited = once(host, 'exit')
  const lines = createInterface({ input: host.stdout })
  const first = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    exited.then(() => {
      throw new Error('PostgreSQL did not start; see its messages above')
    }),
  ])
  const { url, version, pid } = Ready.parse(JSON.parse(first))
  return {
    url,
    version,
    pid,
    stop: async () => {
      host.stdin.end()
      await exited
    },
  }
}

/** The same server's URL for another database, login or password. */
export const urlOf = (
  url: string,
  change: { readonly database?: string; readonly user?: string; readonly password?: string },
): string => {
  const next = new URL(url)
  if (change.database !== undefined) next.pathname = `/${encodeURIComponent(change.database)}`
  if (change.user !== undefined) next.username = encodeURIComponent(change.user)
  if (change.password !== undefined) next.password = encodeURIComponent(change.password)
  return next.href
}
