/** Starts and kills the processes of a run, and knows which of them live. */
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProcess, type RunningProcess } from '../processes.ts'

const programs = ['api', 'dispatcher', 'simulator'] as const
export type Program = (typeof programs)[number]

/** The log line with which each says that it is ready. */
const readyLine: Readonly<Record<Program, string>> = {
  api: 'listening',
  dispatcher: 'dispatching',
  simulator: 'listening',
}

export interface Roster {
  start(program: Program, name: string, env: Readonly<Record<string, string>>): Promise<RunningProcess>
  /** SIGKILL. Resolves when it is gone. */
  kill(running: RunningProcess): Promise<void>
  /** Every log that a program has written, killed processes included. */
  logsOf(program: Program): Promise<readonly string[]>
  /** Ends all that live. */
  stop(): Promise<void>
}

/** Bundles and logs are in the run's own folder. */
export const rosterOf = (folder: string): Roster => {
  const living = new Set<RunningProcess>()
  const logFiles: { readonly program: Program; readonly file: string }[] = []
  return {
    start: async (program, name, env) => {
      const logFile = join(folder, `${name}.log`)
      logFiles.push({ program, file: logFile })
      const running = await startProcess({
        name,
        script: scriptOf(folder, program),
        env,
        logFile,
        isReady: ({ message, type }) => message === readyLine[program] || type === readyLine[program],
      })
      living.add(running)
      return running
    },
    kill: async (running) => {
      const exited = once(running.child, 'exit')
      running.child.kill('SIGKILL')
      await exited
      living.delete(running)
    },
    logsOf: (wanted) =>
      Promise.all(
        logFiles.filter(({ program }) => program === wanted).map(({ file }) => readFile(file, 'utf8')),
      ),
    stop: async () => {
      await Promise.all([...living].map((each) => each.stop()))
    },
  }
}

const scriptOf = (folder: string, program: Program): string => join(folder, `${program}.mjs`)

/** A run keeps to the bundles that it began with, whatever is built meanwhile. `plant` changes the dispatcher's. */
export const copyBundles = async (
  root: string,
  folder: string,
  plant: (bundle: string) => string,
): Promise<void> => {
  for (const program of programs) {
    const [from, to] = [join(root, 'dist', `${program}.js`), scriptOf(folder, program)]
    if (program === 'dispatcher') await writeFile(to, plant(await readFile(from, 'utf8')))
    else await copyFile(from, to)
  }
}
