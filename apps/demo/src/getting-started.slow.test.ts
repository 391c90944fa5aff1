import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createTenant } from '@aftercommit/platform/tenants'
import { simulatorControl } from '@aftercommit/simulator'
import { expect, test } from '@jest/globals'
import { dataFolder } from './data-folder.testing.ts'
import { startStack } from './stack.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const ROUNDS = 2

/** Runs the guide as a thorough reader would: every block in one shell, in order, and all of it once more. */
const follow = async (
  guide: string,
  env: Record<string, string>,
): Promise<{ code: number; output: string }> => {
  const blocks = [...guide.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1] ?? '')
  const round = blocks.join('\n')
  const script = Array.from({ length: ROUNDS }, () => round).join('\n')
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 150_000,
  })
  let output = ''
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(shell, 'exit')) as [number | null]
  return { code: code ?? -1, output }
}

test('whoever follows the guide has a confirmed meeting of their own, and another when they follow it again', async () => {
  const data = await dataFolder()
  const stack = await startStack(root, data.folder, () => undefined, { api: 0, simulator: 0 })
  try {
    const { apiKey } = await createTenant(stack.ownerUrl, 'Reader')
    const guide = await readFile(new URL('../../../docs/getting-started.md', import.meta.url), 'utf8')
    const { code, output } = await follow(guide, { API: stack.apiUrl, KEY: apiKey, SIM: stack.simulatorUrl })
    expect({ code, output }).toMatchObject({ code: 0 })
    const events = await simulatorControl(stack.simulatorUrl).readEvents('alan@microsoft.example')
    // In each round one was moved and cancelled, and one stands although the answer to its write was lost.
    expect(events.map(({ status }) => status)).toEqual(['cancelled', 'confirmed', 'cancelled', 'confirmed'])
    const effects = (await simulatorControl(stack.simulatorUrl).readLedger()).map(({ effect }) => effect)
    expect(effects.filter((effect) => effect === 'event_patched')).toHaveLength(ROUNDS)
    expect(effects.filter((effect) => effect === 'event_created')).toHaveLength(2 * ROUNDS)
    const problem = /```json\n(.*?)```/s.exec(guide)?.[1] ?? ''
    expect(output).toContain(JSON.stringify(JSON.parse(problem)))
  } finally {
    await stack.stop()
    await data.remove()
  }
}, 240_000)
