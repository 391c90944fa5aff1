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
/** pg-boss 12 needs Node 22.12; an older one borrows this, from npm, and all contenders run on it. */
const BORROWED_NODE = 'node@24.21.0'
const PG_BOSS_NODE_MIN = 22

export interface Peers {
  readonly graphileVersion: string
  readonly pgBossVersion: string
}

export interface Node {
  readonly path: string
  readonly version: string
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
  const { dependencies } = Manifest.parse(JSON.parse(wanted))
  return {
    graphileVersion: dependencies['graphile-worker'],
    pgBossVersion: dependencies['pg-boss'],
  }
}

let found: Promise<Node> | undefined

/** The one Node that runs every contender. */
export const contestNode = (): Promise<Node> => (found ??= findNode())

const findNode = async (): Promise<Node> => {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= PG_BOSS_NODE_MIN) return { path: process.execPath, version: process.versions.node }
  const borrowed = ['-y', '-p', BORROWED_NODE, 'node', '-p', 'process.execPath + " " + process.versions.node']
  const [path = '', version = ''] = (await run('npx', borrowed)).stdout.trim().split(' ')
  return { path, version }
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
