/** One of the example's processes, as its reader starts it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Started {
  /** Its first line. */
  readonly ready: { readonly url?: string }
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM: it ends what it has begun. */
  stop(): Promise<void>
}

export const start = async (file: string, env: Readonly<Record<string, string>>): Promise<Started> => {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL(file, import.meta.url))], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    exited.then(() => Promise.reject(new Error(`${file} ended before it was ready`))),
  ])
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await exited
  }
  return {
    ready: JSON.parse(line) as { url?: string },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
