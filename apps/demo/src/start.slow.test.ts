import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { dataFolder } from './data-folder.testing.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const start = (folder: string, ...args: string[]) =>
  spawn(process.execPath, ['scripts/run.mjs', 'start', ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', AFTERCOMMIT_DATA: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const Trace = z.object({
  passed: z.boolean(),
  meeting: z.object({ state: z.object({ type: z.string() }) }),
  faults: z.array(z.object({ id: z.string(), fired: z.array(z.object({ at: z.string() })) })),
  ledger: z.array(z.object({ effect: z.string() })),
})

/** What happened first is told first, whoever noticed it: the trace, the world outside, or whoever sent a signal. */
const TOLD_IN_ORDER = new RegExp(
  [
    'Approved ',
    'dispatcher-1 is dead',
    'It happens: the answer to the write is lost',
    'had its effect',
    'It happens: the call in the middle of which a dispatcher is frozen',
    'went silent',
    'woke after another',
    '1 event created',
  ].join('.*'),
  's',
)

test('npm start -- --once confirms the meeting through every arranged fault, with one event in the ledger', async () => {
  const data = await dataFolder()
  try {
    const file = join(data.folder, 'trace.json')
    const child = start(data.folder, '--once', '--json', file)
    const [story, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>])
    expect(story).toMatch(TOLD_IN_ORDER)
    const trace = Trace.parse(JSON.parse(await readFile(file, 'utf8')))
    expect({ code, passed: trace.passed, state: trace.meeting.state.type }).toEqual({
      code: 0,
      passed: true,
      state: 'confirmed',
    })
    expect(trace.faults.filter(({ fired }) => fired.length === 0)).toEqual([])
    expect(trace.faults.length).toBeGreaterThanOrEqual(5)
    expect(trace.ledger.filter(({ effect }) => effect === 'event_created')).toHaveLength(1)
  } finally {
    await data.remove()
  }
}, 180_000)

test('Ctrl-C ends npm start, and nothing of it answers any more', async () => {
  const data = await dataFolder()
  try {
    const child = start(data.folder)
    const exited = once(child, 'exit')
    const urls: string[] = []
    const up = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        urls.push(...(line.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []))
        if (line.includes('Ctrl-C stops everything')) resolve()
      })
    })
    await Promise.race([
      up,
      exited.then(() => {
        throw new Error('npm start ended before it was up')
      }),
    ])
    child.kill('SIGTERM')
    await exited
    expect(new Set(urls).size).toBeGreaterThan(1)
    for (const url of new Set(urls)) await expect(fetch(url)).rejects.toThrow('fetch failed')
  } finally {
    await data.remove()
  }
}, 180_000)
