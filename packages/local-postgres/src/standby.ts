/**
 * A copy of a running server that follows it, for tests of fail-over. The binaries from npm bring no `pg_basebackup`, so this
 * is PostgreSQL's own low-level way: start of the backup, copy of the data folder, end of the backup.
 */
import { appendFile, chmod, chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { runAs, type RunAs } from './run-as.ts'

/** One connection to the primary as a superuser; the backup is a matter of its session. */
export interface BackupConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

export interface StandbyOptions {
  readonly connection: BackupConnection
  /** Superuser URL of the primary; the copy has the same password. */
  readonly primaryUrl: string
  /** The port by which the standby reaches its primary, where that is another than the clients'. */
  readonly replicationPort?: number
  /** Its application_name, for synchronous_standby_names, and its replication slot. */
  readonly name: string
  /** Where the copy goes; a folder that does not exist. */
  readonly dataFolder: string
}

/** Of these the folder is copied and its content is not: it means something to the running server only, or is streamed. */
const EMPTY: ReadonlySet<string> = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
])
const LEFT_OUT = /^(postmaster\.(pid|opts)|backup_label|tablespace_map|standby\.signal|pgsql_tmp.*)$/

/** Makes the folder of a standby. `startLocalPostgres` starts it. */
export const copyAsStandby = async (options: StandbyOptions): Promise<void> => {
  const { connection, name, dataFolder } = options
  const who = await runAs()
  const [{ folder }] = z
    .tuple([z.object({ folder: z.string() })])
    .parse((await connection.query(`select current_setting('data_directory') as folder`)).rows)
  // From here on the primary keeps what the standby has not received.
  await connection.query('select pg_create_physical_replication_slot($1, true)', [name])
  await connection.query('select pg_backup_start($1, fast => true)', [name])
  await copyFolder(folder, dataFolder, who)
  const [{ label }] = z
    .tuple([z.object({ label: z.string() })])
    .parse((await connection.query('select labelfile as label from pg_backup_stop(false)')).rows)
  const write = async (file: string, text: string): Promise<void> => {
    await writeFile(join(dataFolder, file), text, { mode: 0o600 })
    await chown(join(dataFolder, file), who.uid, who.gid)
  }
  await write('backup_label', label)
  await write('standby.signal', '')
  await appendFile(join(dataFolder, 'postgresql.auto.conf'), settingsOf(options))
  await writeFile(`${dataFolder}.password`, passwordIn(options.primaryUrl), { mode: 0o600 })
}

const passwordIn = (url: string): string => decodeURIComponent(new URL(url).password)

const settingsOf = ({ primaryUrl, replicationPort, name }: StandbyOptions): string => {
  const { hostname, port, username } = new URL(primaryUrl)
  const primary = [
    `host=${hostname}`,
    `port=${replicationPort ?? port}`,
    `user=${decodeURIComponent(username)}`,
    `password=${passwordIn(primaryUrl)}`,
    `application_name=${name}`,
  ].join(' ')
  return [
    // Copied with the primary's settings: once promoted, it must not wait for a standby that it does not have.
    `synchronous_standby_names = ''`,
    `primary_conninfo = '${primary}'`,
    `primary_slot_name = '${name}'`,
    `wal_retrieve_retry_interval = '200ms'`,
    '',
  ].join('\n')
}

const copyFolder = async (from: string, to: string, who: RunAs): Promise<void> => {
  await mkdir(to, { mode: 0o700 })
  await chown(to, who.uid, who.gid)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (LEFT_OUT.test(entry.name)) continue
    if (EMPTY.has(entry.name)) {
      await mkdir(target, { mode: 0o700 })
      await chown(target, who.uid, who.gid)
    } else if (entry.isDirectory()) await copyFolder(source, target, who)
    else await copyOne(source, target, who)
  }
}

const copyOne = async (source: string, target: string, who: RunAs): Promise<void> => {
  try {
    await copyFile(source, target)
  } catch (error) {
    // The server removes files meanwhile; what that means for the others is told by the log that is replayed.
    if (Reflect.get(Object(error) as object, 'code') === 'ENOENT') return
    throw error
  }
  await chmod(target, 0o600)
  await chown(target, who.uid, who.gid)
}
