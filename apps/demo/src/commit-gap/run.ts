/** Every way, killed at every gap, with both kinds of customers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { RunningProcess } from '../processes.ts'
import { openDatabases, type Database } from './database.ts'
import { customers, gaps, ways } from './gaps.ts'
import { playCase } from './play.ts'
import type { Case, Judged } from './verdict.ts'

export const cases: readonly Case[] = ways.flatMap((way) =>
  gaps.flatMap((gap) => customers.map((customer) => ({ way, gap, customer }))),
)

/** Most of a case is waiting: for a process to start, or for a lease to end. */
const AT_ONCE = 5

export interface CommitGapOptions {
  /** The checkout, for the bundle and the migrations. */
  readonly root: string
  readonly signal?: AbortSignal
  readonly seen?: (judged: Judged) => void
}

/** Rejects when a case cannot be played; nothing is left running either way. */
export const runCommitGap = async (options: CommitGapOptions): Promise<readonly Judged[]> => {
  const { root, signal, seen } = options
  const logFolder = await mkdtemp(join(tmpdir(), 'aftercommit-gap-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(logFolder, { recursive: true, force: true })]
  try {
    const databases = await openDatabases(join(root, 'prisma', 'migrations'))
    stops.push(() => databases.drop())
    const simulator = await startSimulator()
    stops.push(() => simulator.stop())
    const running: RunningProcess[] = []
    stops.push(() => Promise.all(running.map((each) => each.stop())))
    const control = simulatorControl(simulator.url)
    const judged = new Map<Case, Judged>()
    const waiting = [...cases].sort(longestFirst)
    const playInTurn = async (database: Database): Promise<void> => {
      for (let each = waiting.shift(); each; each = waiting.shift()) {
        signal?.throwIfAborted()
        await database.empty()
        const verdict = await playCase(each, {
          script: join(root, 'dist', 'booking', 'main.js'),
          logFolder,
          databaseUrl: database.url,
          simulatorUrl: simulator.url,
          control,
          started: (process) => void running.push(process),
        })
        judged.set(each, verdict)
        seen?.(verdict)
      }
    }
    const made: Database[] = []
    while (made.length < AT_ONCE) made.push(await databases.create())
    await allEnded(made.map(playInTurn), () => void waiting.splice(0))
    return cases.flatMap((each) => judged.get(each) ?? [])
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/** Only the outbox waits for leases to end; begun first, it waits while the others are played. */
const longestFirst = (a: Case, b: Case): number => Number(b.way === 'outbox') - Number(a.way === 'outbox')

/** Waits for all of them, whatever becomes of one; the first failure keeps the others from beginning anything more. */
const allEnded = async (players: readonly Promise<void>[], stopAll: () => void): Promise<void> => {
  for (const player of players) player.catch(stopAll)
  const failed = (await Promise.allSettled(players)).find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
}
