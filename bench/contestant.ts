/** A contender in its child process, as the scenarios see it. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, Request } from './contenders/contender.ts'
import type { Urls } from './contenders/outbox-tables.ts'
import { contestNode, installPeers, peerScript } from './peers.ts'
import type { Server } from './server.ts'

export interface Contestant {
  readonly name: string
  /** The owner's URL of its database. */
  readonly url: string
  readonly ask: (request: Request) => Promise<Answer>
  end(): Promise<void>
}

/** The names that bars.json and the tables use. */
export const ENGINE = 'aftercommit'
export const ENGINE_PREPARING = 'aftercommit, preparing'
export const FLOOR = 'bare statements'
export const GRAPHILE_BATCHED = 'graphile-worker, batched'
export const GRAPHILE = 'graphile-worker'
export const PG_BOSS = 'pg-boss, batch 500'

/** As scripts/build.mjs left it. */
const bundled = (contender: 'engine' | 'floor'): string =>
  fileURLToPath(new URL(`../dist/bench/${contender}.js`, import.meta.url))
const TSX = ['--import', 'tsx']
const QUIET = ['--disable-warning=ExperimentalWarning']

export const startContestant = async (
  server: Server,
  name: string,
  database: string,
): Promise<Contestant> => {
  switch (name) {
    case ENGINE:
    case ENGINE_PREPARING:
    case FLOOR:
      return startOnOutbox(name, await server.createOutbox(database))
    case GRAPHILE:
    case GRAPHILE_BATCHED: {
      await installPeers()
      const url = await server.createEmpty(database)
      const argument = { url, batched: name === GRAPHILE_BATCHED }
      const script = peerScript('graphile-worker')
      return forked({ name, url, script, argument, execArgv: [...QUIET, ...TSX] })
    }
    case PG_BOSS: {
      await installPeers()
      const url = await server.createEmpty(database)
      return forked({ name, url, script: peerScript('pg-boss'), argument: { url }, execArgv: QUIET })
    }
    default:
      throw new Error(`there is no contender named ${name}`)
  }
}

/** Over a database that is there already, and may hold something. */
export const startOnOutbox = (
  name: typeof ENGINE | typeof ENGINE_PREPARING | typeof FLOOR,
  urls: Urls,
): Promise<Contestant> => {
  const script = bundled(name === FLOOR ? 'floor' : 'engine')
  const argument = { ...urls, prepares: name === ENGINE_PREPARING }
  return forked({ name, url: urls.owner, script, argument, execArgv: [] })
}

interface Fork {
  readonly name: string
  readonly url: string
  readonly script: string
  readonly argument: object
  readonly execArgv: readonly string[]
}

/** On one Node for all of them; see `contestNode`. */
const forked = async ({ name, url, script, argument, execArgv }: Fork): Promise<Contestant> => {
  const { path: execPath } = await contestNode()
  const child = fork(script, [JSON.stringify(argument)], {
    execPath,
    execArgv: [...execArgv],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC' },
  })
  const exited = once(child, 'exit').then(() => undefined)
  const ask = async (request: Request): Promise<Answer> => {
    const answered = new Promise<Answer>((resolve) =>
      child.once('message', (answer: Answer) => resolve(answer)),
    )
    child.send(request)
    const answer = await Promise.race([answered, exited])
    if (!answer) throw new Error(`${name} ended in the middle of “${request.type}”`)
    if (answer.error !== undefined) throw new Error(`${name}, “${request.type}”: ${answer.error}`)
    return answer
  }
  const end = async (): Promise<void> => {
    if (!child.connected) {
      await exited
      return
    }
    const kill = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ask({ type: 'end' }).catch(() => child.kill('SIGKILL'))
    await exited
    clearTimeout(kill)
  }
  try {
    await ask({ type: 'prepare' })
  } catch (error) {
    await end()
    throw error
  }
  return { name, url, ask, end }
}
