import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import type { Peers } from './peers.ts'

/** Where and on what a run was made. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly postgres: string
  /** That every contender in a process of its own ran on. */
  readonly node: string
  readonly peers: Readonly<Record<string, string>>
  /** Mean number of runnable processes in the minute before the run. */
  readonly loadBefore: number
  /** Others used the machine: the numbers say little. */
  readonly loaded: boolean
}

const LOAD_MAX = 2

export const describeMachine = (postgres: string, node: string, peers: Peers | undefined): Machine => {
  const [loadBefore = 0] = loadavg()
  const [first] = cpus()
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    postgres,
    node,
    peers: peers
      ? {
          'graphile-worker': peers.graphileVersion,
          'pg-boss': peers.pgBossVersion,
        }
      : {},
    loadBefore,
    loaded: loadBefore >= LOAD_MAX,
  }
}
