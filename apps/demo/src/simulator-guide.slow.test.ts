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

const blocksOf = async (guide: string): Promise<string> => {
  const text = await readFile(new URL(`../../../docs/${guide}`, import.meta.url), 'utf8')
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1] ?? '').join('\n')
}

/** One shell, as the guide asks for: it goes on where the first meeting ended. */
const paste = async (
  script: string,
  env: Record<string, string>,
): Promise<{ code: number; output: string }> => {
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

test('whoever plays the people of the simulated world by its guide gets what it says', async () => {
  const data = await dataFolder()
  const stack = await startStack(root, data.folder, () => undefined, { api: 0, simulator: 0 })
  try {
    const { apiKey } = await createTenant(stack.ownerUrl, 'Reader')
    const script = `${await blocksOf('getting-started.md')}\n${await blocksOf('simulator.md')}`
    const { code, output } = await paste(script, {
      API: stack.apiUrl,
      KEY: apiKey,
      SIM: stack.simulatorUrl,
    })
    expect({ code, output }).toMatchObject({ code: 0 })
    const world = simulatorControl(stack.simulatorUrl)
    const events = await world.readEvents('alan@microsoft.example')
    const declined = events.filter(({ attendees }) =>
      attendees.some(
        ({ address, response }) => address === 'grace@google.example' && response === 'declined',
      ),
    )
    // Not the one that was cancelled before it.
    expect(declined.map(({ id }) => id)).toEqual([events.at(1)?.id])
    expect((await world.readLedger()).map(({ effect }) => effect)).toContain('mail_received')
    expect(output).toContain('"type":"meeting.cancelled"')
    expect(output).toMatch(/"type":"read","meetingId":"[^"]+"/)
    expect(output).not.toContain('curl: (23)')
    const { received, refused } = await world.readWebhooks('guide')
    expect({ verified: received.every(({ verified }) => verified), refused }).toEqual({
      verified: true,
      refused: 0,
    })
  } finally {
    await stack.stop()
    await data.remove()
  }
}, 240_000)
