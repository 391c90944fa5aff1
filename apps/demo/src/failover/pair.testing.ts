/** A primary and a standby that follows it, behind one address; docs/failover.md in code. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalPostgres, type LocalPostgres } from '@aftercommit/local-postgres'
import { copyAsStandby } from '@aftercommit/local-postgres/standby'
import pg from 'pg'
import { z } from 'zod'
import { openAddress, type Address } from './address.testing.ts'

/** One server of the pair, for as long as its folder is there. */
export interface Node {
  readonly name: string
  readonly port: number
  readonly dataFolder: string
  /** Superuser URL past the address, straight to this server. */
  readonly url: string
}

export interface Pair {
  readonly primary: Node
  readonly standby: Node
  /** What clients connect to. */
  readonly address: Address
  /** What the standby streams through. */
  readonly link: Address
  /** Superuser URL through the address. */
  readonly url: string
  /** From now on no commit is acknowledged that the standby has not on its disk. */
  commitTogether(): Promise<void>
  /** The primary's machine dies: the postmaster and every process of it at once, and nothing gets through any more. */
  killPrimary(): Promise<void>
  /** The standby becomes the primary. The address is the caller's to move. */
  promote(): Promise<void>
  /** What was the primary starts again as it was: it takes itself for the primary still. */
  startOldPrimary(): Promise<void>
  /** A new standby of what is now the primary, in place of the old primary, which is stopped if it runs. */
  rebuild(): Promise<Node>
  stop(): Promise<void>
}

const newFolder = (): string => join(tmpdir(), `aftercommit-failover-${randomBytes(5).toString('hex')}`)

export const startPair = async (): Promise<Pair> => {
  const running = new Map<string, LocalPostgres>()
  const folders: string[] = []
  const start = async (name: string, dataFolder: string, port?: number): Promise<Node> => {
    folders.push(dataFolder)
    const server = await startLocalPostgres({
      dataFolder,
      durability: 'durable',
      ...(port !== undefined && { port }),
    })
    running.set(name, server)
    return { name, dataFolder, url: server.url, port: Number(new URL(server.url).port) }
  }
  const follow = async (node: Node, name: string, replicationPort: number): Promise<Node> => {
    const dataFolder = newFolder()
    folders.push(dataFolder)
    await asSuperuser(node.url, (connection) =>
      copyAsStandby({ connection, primaryUrl: node.url, replicationPort, name, dataFolder }),
    )
    return start(name, dataFolder)
  }
  const primary = await start('one', newFolder())
  const [address, link] = [await openAddress(primary.port), await openAddress(primary.port)]
  const standby = await follow(primary, 'two', link.port)
  return {
    primary,
    standby,
    address,
    link,
    url: atPort(primary.url, address.port),
    commitTogether: () => commitWith(primary, standby.name),
    killPrimary: async () => {
      await killAll(primary, running.get(primary.name))
      address.close()
      link.close()
      await running.get(primary.name)?.stop()
      running.delete(primary.name)
    },
    promote: () =>
      asSuperuser(standby.url, async (connection) => {
        const promoted = z.array(z.object({ done: z.literal(true) })).length(1)
        promoted.parse((await connection.query('select pg_promote(true, 30) as done')).rows)
      }),
    startOldPrimary: async () => {
      await start(primary.name, primary.dataFolder, primary.port)
    },
    rebuild: async () => {
      await running.get(primary.name)?.stop()
      running.delete(primary.name)
      const rebuilt = await follow(standby, 'three', standby.port)
      await commitWith(standby, rebuilt.name)
      return rebuilt
    },
    stop: async () => {
      await address.stop()
      await link.stop()
      for (const server of running.values()) await server.stop()
      for (const folder of folders) {
        await rm(folder, { recursive: true, force: true })
        await rm(`${folder}.password`, { force: true })
      }
    },
  }
}

const atPort = (url: string, port: number): string => {
  const next = new URL(url)
  next.port = String(port)
  return next.href
}

export const asSuperuser = async <T>(
  url: string,
  work: (connection: pg.Client) => Promise<T>,
): Promise<T> => {
  const connection = new pg.Client({ connectionString: url, application_name: 'test failover' })
  // A server that is killed under it is reported by the statement.
  connection.on('error', () => undefined)
  await connection.connect()
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}

/** Resolves when the standby is the one that commits wait for. */
const commitWith = ({ url }: Node, standby: string): Promise<void> =>
  asSuperuser(url, async (connection) => {
    await connection.query(`alter system set synchronous_standby_names = ${pg.escapeIdentifier(standby)}`)
    await connection.query('select pg_reload_conf()')
    await until(connection, `select from pg_stat_replication where sync_state = 'sync'`)
  })

const LOOK_EVERY_MS = 20

/** Resolves when the question has an answer. Looks now and then, for the one who is asked has work to do. */
export const until = async (connection: pg.Client, question: string): Promise<void> => {
  for (;;) {
    const { rowCount } = await connection.query(question)
    if (rowCount !== null && rowCount > 0) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

const killAll = async ({ url }: Node, server: LocalPostgres | undefined): Promise<void> => {
  const pids = await asSuperuser(url, async (connection) => {
    const { rows } = await connection.query('select pid from pg_stat_activity')
    return z.array(z.object({ pid: z.int() })).parse(rows)
  })
  if (!server) throw new Error('the primary does not run')
  // The postmaster first: nobody is started any more, and nobody is told to end in order.
  for (const pid of [server.pid, ...pids.map((row) => row.pid)]) killIfThere(pid)
}

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (Reflect.get(Object(error) as object, 'code') !== 'ESRCH') throw error
  }
}
