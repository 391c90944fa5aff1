import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A data folder for one test, so that no test meets the data of the person who runs it. */
export const dataFolder = async (): Promise<{ readonly folder: string; remove(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'aftercommit-demo-'))
  // As root, the database runs under another account, which must be let in.
  await chmod(folder, 0o755)
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
