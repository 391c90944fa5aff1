/** The peers: installed for this benchmark alone, into its own folder, at the versions its lock file names. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'

const run = promisify(execFile)
const FOLDER = fileURLToPath(new URL('./peers', import.meta.url))
/** pg-boss 12 needs Node 22.12; an older one borrows this, from npm. */
const BORROWED_NODE = 'node@24.21.0'
const PG_BOSS_NODE_MIN = 22

export interface Peers {
  readonly graphileVersion: string
  readonly pgBossVersion: string
  /** The Node that runs pg-boss, and its version. */
  readonly pgBossNode: string
  readonly pgBossNodeVersion: string
}

export const peerScript = (name: 'graphile-worker' | 'pg-boss' | 'bare-express'): string =>
  join(FOLDER, `${name}.mjs`)

let installed: Promise<Peers> | undefined

/** Installs once per process, and only when a scenario asks. */
export const installPeers = (): Promise<Peers> => (installed ??= install())

const install = async (): Promise<Peers> => {
  const wanted = await readFile(join(FOLDER, 'package.json'), 'utf8')
  if (!(await areInstalled(wanted))) {
    process.stderr.write('Installing the peers into bench/peers …\n')
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER })
  }
  const [major = 0] = process.versions.node.split('.').map(Number)
  const own = major >= PG_BOSS_NODE_MIN
  const borrowed = ['-y', '-p', BORROWED_NODE, 'node', '-p', 'process.execPath + " " + process.versions.node']
  const [pgBossNode = '', pgBossNodeVersion = ''] = own
    ? [process.execPath, process.versions.node]
    : (await run('npx', borrowed)).stdout.trim().split(' ')
  const { dependencies } = Manifest.parse(JSON.parse(wanted))
  return {
    graphileVersion: dependencies['graphile-worker'],
    pgBossVersion: dependencies['pg-boss'],
    pgBossNode,
    pgBossNodeVersion,
  }
}

const Manifest = z.object({
  dependencies: z.object({ 'graphile-worker': z.string(), 'pg-boss': z.string() }),
})
const Installed = z.object({ version: z.string() })

const areInstalled = async (wanted: string): Promise<boolean> => {
  for (const [name, version] of Object.entries(Manifest.parse(JSON.parse(wanted)).dependencies)) {
    const manifest = join(FOLDER, 'node_modules', name, 'package.json')
    if (!existsSync(manifest)) return false
    if (Installed.parse(JSON.parse(await readFile(manifest, 'utf8'))).version !== version) return false
  }
  return true
}
