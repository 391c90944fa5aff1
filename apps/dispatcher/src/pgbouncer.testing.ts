/** A PgBouncer with the settings of infra/pgbouncer, in front of a test's database. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SETTINGS = new URL('../../../infra/pgbouncer/pgbouncer.ini', import.meta.url)
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534

export interface Pooler {
  /** The same login and database, through the pooler. */
  through(url: string): string
  stop(): Promise<void>
}

export const poolerIsThere = spawnSync('pgbouncer', ['--version']).status === 0

/** Fewer connections than there are clients, so that no client keeps one. */
const POOL_SIZE = 3

export const startPooler = async (urls: readonly string[]): Promise<Pooler> => {
  const [first = ''] = urls
  const server = new URL(first)
  const folder = await mkdtemp(join(tmpdir(), 'aftercommit-pgbouncer-'))
  const port = await freePort()
  const users = join(folder, 'userlist.txt')
  const settings = changed(await readFile(SETTINGS, 'utf8'), [
    [/^aftercommit = .*$/m, `* = host=${server.hostname} port=${server.port}`],
    [/^listen_addr = .*$/m, 'listen_addr = 127.0.0.1'],
    [/^listen_port = .*$/m, `listen_port = ${port}`],
    [/^auth_file = .*$/m, `auth_file = ${users}`],
    [/^default_pool_size = .*$/m, `default_pool_size = ${POOL_SIZE}`],
  ])
  const settingsFile = join(folder, 'pgbouncer.ini')
  await writeFile(settingsFile, settings, { mode: 0o600 })
  await writeFile(users, urls.map(userLine).join(''), { mode: 0o600 })
  const asRoot = process.getuid?.() === 0
  await chmod(folder, 0o700)
  if (asRoot) for (const path of [settingsFile, users, folder]) await chown(path, NOBODY, NOBODY)
  const child = spawn('pgbouncer', ['-q', settingsFile], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...(asRoot && { uid: NOBODY, gid: NOBODY }),
  })
  const exited = once(child, 'exit')
  const through = (url: string): string => {
    const next = new URL(url)
    next.port = String(port)
    return next.href
  }
  await Promise.race([
    answers(port),
    exited.then(() => {
      throw new Error('PgBouncer ended at once; see its messages above')
    }),
  ])
  return {
    through,
    stop: async () => {
      child.kill('SIGINT')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A setting that the file does not have is a defect of one of the two. */
const changed = (text: string, changes: readonly (readonly [RegExp, string])[]): string =>
  changes.reduce((now, [line, replacement]) => {
    if (!line.test(now)) throw new Error(`pgbouncer.ini has no line ${line.source}`)
    return now.replace(line, replacement)
  }, text)

const userLine = (url: string): string => {
  const { username, password } = new URL(url)
  return `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`
}

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

const LOOK_EVERY_MS = 20

/** Resolves when somebody listens there. */
const answers = async (port: number): Promise<void> => {
  for (;;) {
    const probe = connect(port, '127.0.0.1')
    const came = await new Promise<boolean>((resolve) => {
      probe.once('connect', () => resolve(true))
      probe.once('error', () => resolve(false))
    })
    probe.destroy()
    if (came) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
