/**
 * The process that a local PostgreSQL server hangs on. It initialises the data folder if need be, starts the server,
 * prints one line of JSON, and stops the server when its standard input closes: when its parent asks, or dies.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { binariesFor, reachable } from './binaries.ts'
import { runAs, type RunAs } from './run-as.ts'

const Options = z.object({
  dataFolder: z.string().optional(),
  durability: z.enum(['durable', 'fast']),
  port: z.int().optional(),
})

const main = async (): Promise<void> => {
  const { dataFolder, durability, port: asked } = Options.parse(JSON.parse(process.argv[2] ?? ''))
  const who = await runAs()
  const temporary = dataFolder === undefined
  const folder = temporary
    ? await mkdtemp(join(tmpdir(), 'aftercommit-postgres-'))
    : await folderFor(dataFolder, who)
  const remove = async (): Promise<void> => {
    if (!temporary) return
    await rm(folder, { recursive: true, force: true })
    await rm(passwordFileOf(folder), { force: true })
  }
  try {
    const binaries = await binariesFor(who)
    const password = await initialised(folder, binaries.initdb, who)
    await takeFolder(folder)
    await stopLeftover(folder)
    const port = asked ?? (await freePort())
    const server = await started(binaries.postgres, folder, port, durability, who)
    const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`
    process.stdout.write(
      `${JSON.stringify({ type: 'ready', url, version: binaries.version, pid: server.pid })}\n`,
    )
    await orderToStop(server)
    // Fast shutdown: open transactions are rolled back, everything committed is kept.
    if (server.exitCode === null && server.kill('SIGINT')) await once(server, 'exit')
  } finally {
    await leaveFolder(folder)
    await remove()
  }
}

const passwordFileOf = (folder: string): string => `${folder.replace(/\/+$/, '')}.password`

/** The folder asked for, or, where the server's account may not go, one in the temporary folder named after it. */
const folderFor = async (asked: string, who: RunAs): Promise<string> => {
  await mkdir(dirname(asked), { recursive: true })
  if (!who.changed || (await reachable(asked))) return asked
  return join(tmpdir(), `aftercommit-data-${createHash('sha256').update(asked).digest('hex').slice(0, 12)}`)
}

/** Resolves when the parent closes our input, when somebody signals us, or when the server is gone. */
const orderToStop = (server: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.resume()
    process.stdin.on('end', resolve)
    process.stdin.on('close', resolve)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
    server.on('exit', () => resolve())
  })

/** Makes the cluster on first use. Its password is random and lies beside the data, readable by the owner only. */
const initialised = async (folder: string, initdb: string, who: RunAs): Promise<string> => {
  const passwordFile = passwordFileOf(folder)
  const known = await readFile(passwordFile, 'utf8').catch(() => undefined)
  const data = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (known !== undefined && data !== undefined) return known.trim()
  const password = randomBytes(18).toString('base64url')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chown(folder, who.uid, who.gid)
  await writeFile(passwordFile, password, { mode: 0o600 })
  const handover = join(folder, '..', `${randomBytes(8).toString('hex')}.pw`)
  await writeFile(handover, `${password}\n`, { mode: 0o600 })
  await chown(handover, who.uid, who.gid)
  try {
    const flags = ['--username=postgres', `--pwfile=${handover}`, '--auth=scram-sha-256', '--encoding=UTF8']
    await run(initdb, [`--pgdata=${folder}`, '--locale=C', ...flags], who)
  } finally {
    await rm(handover, { force: true })
  }
  await chmod(folder, 0o700)
  return password
}

const run = async (command: string, args: readonly string[], who: RunAs): Promise<void> => {
  const child = spawn(command, args, { ...who.spawn, stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${command} failed: ${errors}`)
}

const hostFileOf = (folder: string): string => `${folder.replace(/\/+$/, '')}.host`

/** Two hosts must not share a folder: the second one would take the first one's server for a leftover. */
const takeFolder = async (folder: string): Promise<void> => {
  const pid = Number(await readFile(hostFileOf(folder), 'utf8').catch(() => ''))
  const command = pid > 1 ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : ''
  if (pid !== process.pid && command.includes('host.ts')) {
    process.stderr.write(
      `The data folder ${folder} is in use: another start of this product (process ${pid}) is running. Stop that one, or name another data folder in AFTERCOMMIT_DATA.\n`,
    )
    process.exit(1)
  }
  await writeFile(hostFileOf(folder), String(process.pid), { mode: 0o600 })
}

const leaveFolder = async (folder: string): Promise<void> => {
  const pid = await readFile(hostFileOf(folder), 'utf8').catch(() => '')
  if (pid === String(process.pid)) await rm(hostFileOf(folder), { force: true })
}

/** A server that outlived its host (a SIGKILL of both at once) still holds the folder. */
const stopLeftover = async (folder: string): Promise<void> => {
  const file = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => undefined)
  const pid = Number(file?.split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1 || !(await isPostgres(pid))) return
  process.kill(pid, 'SIGINT')
  while (await isPostgres(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
}

const isPostgres = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres')
  return command.includes('postgres')
}

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

const started = async (
  postgres: string,
  folder: string,
  port: number,
  durability: 'durable' | 'fast',
  who: RunAs,
): Promise<ChildProcess> => {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=256MB',
    ...(durability === 'fast' ? ['fsync=off', 'full_page_writes=off'] : []),
  ]
  const flags = ['-D', folder, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(postgres, flags, { ...who.spawn, stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      log = `${log}${chunk.toString()}`.slice(-4_000)
      // A standby says "read-only connections".
      if (/ready to accept (read-only )?connections/.test(log)) resolve()
    })
    server.on('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)))
  })
  return server
}

await main()
