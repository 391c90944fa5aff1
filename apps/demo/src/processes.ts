import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

export interface RunningProcess {
  readonly name: string
  readonly pid: number
  /** The first log line that says it is ready. */
  readonly ready: Readonly<Record<string, unknown>>
  readonly child: ChildProcess
  /** Resolves at the first log line, past or future, that answers to the question. */
  heard(question: (line: Readonly<Record<string, unknown>>) => boolean): Promise<void>
  /** SIGTERM, and SIGKILL when it does not end in time. */
  stop(): Promise<void>
}

export interface ProcessOptions {
  readonly name: string
  /** The bundle to run. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Tells from a parsed log line whether the process is ready. */
  readonly isReady: (line: Readonly<Record<string, unknown>>) => boolean
}

const STOP_MAX_MS = 15_000
/** As the image runs them. A small young generation: these processes make much short-lived garbage and keep little. */
const NODE_FLAGS = ['--max-semi-space-size=2', '--max-old-space-size=256']

/** Starts one of the product's processes as it runs in production: its own bundle, its own login, JSON logs. */
export const startProcess = async (options: ProcessOptions): Promise<RunningProcess> => {
  await mkdir(dirname(options.logFile), { recursive: true })
  const log = createWriteStream(options.logFile)
  const child = spawn(process.execPath, [...NODE_FLAGS, options.script], {
    // Nothing of our own environment leaks in but what a process needs to run.
    env: { PATH: process.env.PATH, TZ: 'UTC', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches this process only, which then stops the others in order.
    detached: true,
  })
  child.stderr.pipe(log, { end: false })
  const exited = once(child, 'exit')
  // Its output has ended too, so nothing is written to the log after this.
  const closed = once(child, 'close')
  const lines: Readonly<Record<string, unknown>>[] = []
  const listeners = new Set<(line: Readonly<Record<string, unknown>>) => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    log.write(`${text}\n`)
    const line = parsed(text)
    if (!line) return
    lines.push(line)
    for (const listener of listeners) listener(line)
  })
  const first = (question: (line: Readonly<Record<string, unknown>>) => boolean) =>
    new Promise<Readonly<Record<string, unknown>>>((resolve) => {
      const known = lines.find(question)
      if (known) return resolve(known)
      const listener = (line: Readonly<Record<string, unknown>>): void => {
        if (!question(line)) return
        listeners.delete(listener)
        resolve(line)
      }
      listeners.add(listener)
    })
  const ready = await new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    void first(options.isReady).then(resolve)
    void exited.then(() =>
      reject(new Error(`${options.name} ended before it was ready; see ${options.logFile}`)),
    )
  })
  return {
    name: options.name,
    pid: child.pid ?? 0,
    ready,
    child,
    heard: async (question) => {
      await first(question)
    },
    stop: async () => {
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
      child.kill('SIGTERM')
      // One that was stopped by the story would not hear it.
      child.kill('SIGCONT')
      await closed
      clearTimeout(kill)
      log.end()
    },
  }
}

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const line: unknown = JSON.parse(text)
    return typeof line === 'object' && line !== null ? (line as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

const NEAR = 20

/** The preferred port if nobody has it, else the next free one, else whichever the system picks. */
export const portNear = async (preferred: number): Promise<number> => {
  for (let port = preferred; port < preferred + NEAR; port++) {
    if (await isFree(port)) return port
  }
  return 0
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
