import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Starts the run's PostgreSQL in a process of its own, which ends when this one does, however it ends. */
export default async function globalSetup() {
  const cluster = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('../packages/testing/src/cluster.ts', import.meta.url))],
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true, env: { ...process.env, NODE_OPTIONS: '' } },
  )
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: cluster.stdout }).once('line', resolve)
    cluster.once('exit', () => reject(new Error('the test database did not start')))
  })
  process.env.AFTERCOMMIT_TEST_CLUSTER = line
  globalThis.aftercommitTestCluster = cluster
}
