import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import type { Peers } from './peers.ts'

/** Where and on what a run was made. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly postgres: string
  readonly node: string
  readonly peers: Readonly<Record<string, string>>
  /** Mean number of runnable processes in the minute before the run. */
  readonly loadBefore: number
  /** Others used the machine: the numbers say little. */
  readonly loaded: boolean
}

const LOAD_MAX = 2

export const describeMachine = (postgres: string, peers: Peers | undefined): Machine => {
  const [loadBefore = 0] = loadavg()
  const [first] = cpus()
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    postgres,
    node: process.versions.node,
    peers: peers
      ? {
          'graphile-worker': `${peers.graphileVersion} on Node ${process.versions.node}`,
          'pg-boss': `${peers.pgBossVersion} on Node ${peers.pgBossNodeVersion}`,
        }
      : {},
    loadBefore,
    loaded: loadBefore >= LOAD_MAX,
  }
}
