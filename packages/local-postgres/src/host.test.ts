import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const host = (dataFolder: string): ChildProcessByStdio<Writable, Readable, Readable> =>
  spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      fileURLToPath(new URL('./host.ts', import.meta.url)),
      JSON.stringify({ dataFolder, durability: 'fast' }),
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } },
  )

test('whoever starts a second time on one data folder is told by what name another is given', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'aftercommit-host-'))
  // As root, the server runs under another account, which must be let in.
  await chmod(folder, 0o755)
  const first = host(join(folder, 'postgres'))
  const ended = once(first, 'exit')
  try {
    await once(first.stdout, 'data')
    const second = host(join(folder, 'postgres'))
    const [said, exit] = await Promise.all([text(second.stderr), once(second, 'exit')])
    expect(exit).toEqual([1, null])
    expect(said).toContain(`is in use: another start of this product (process ${first.pid}) is running.`)
    expect(said).toContain('AFTERCOMMIT_DATA')
  } finally {
    first.stdin.end()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)
