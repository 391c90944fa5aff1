/** What docs/webhooks.md says, held against the code, and its receiver run as its reader would run it. */
import { spawn } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { schedulingActions } from '@aftercommit/scheduling/handlers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'

const guide = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

test('the guide lists every message that is sent, and no other', () => {
  const listed = [...guide.matchAll(/^\| `([a-z]+\.[a-z_]+)` +\|/gm)].map(([, type]) => type)
  expect(listed.sort()).toEqual([...schedulingActions.notifyClient.payload.shape.event.options].sort())
})

test('the guide says how long a message is tried', () => {
  const { attemptsMax, elapsedMaxMs } = schedulingActions.notifyClient
  expect({ attemptsMax, days: elapsedMaxMs / 86_400_000 }).toEqual({ attemptsMax: 30, days: 3 })
  expect(guide).toContain('30 attempts over three days')
})

describe('the receiver of the guide', () => {
  const key = randomBytes(32)
  const lines: string[] = []
  let output: Interface
  let url = ''
  let stop = (): Promise<void> => Promise.resolve()

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'aftercommit-receiver-'))
    const file = join(folder, 'receiver.mjs')
    await writeFile(file, /```js\n(.*?)```/s.exec(guide)?.[1] ?? '')
    const env = { PATH: process.env.PATH, PORT: '0', SECRET: `whsec_${key.toString('base64')}` }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    output = createInterface({ input: child.stdout })
    const [first] = (await once(output, 'line')) as [string]
    output.on('line', (line) => lines.push(line))
    url = `http://127.0.0.1:${/\d+$/.exec(first)?.[0] ?? ''}/`
    stop = async () => {
      child.kill()
      await once(child, 'exit')
      await rm(folder, { recursive: true })
    }
  })
  afterAll(() => stop())

  const message = JSON.stringify({ type: 'meeting.confirmed', data: { meetingId: randomUUID() } })
  const now = (): string => String(Math.floor(Date.now() / 1000))

  /** Signed as the Standard Webhooks specification has it, and sent with what a test changes. */
  const deliver = async (
    change: { signedAt?: string; signedBody?: string; headers?: Record<string, string> } = {},
  ) => {
    const id = `msg_${randomUUID()}`
    const { signedAt = now(), signedBody = message, headers } = change
    const signature = createHmac('sha256', key).update(`${id}.${signedAt}.${signedBody}`).digest('base64')
    const sent = {
      'webhook-id': id,
      'webhook-timestamp': signedAt,
      'webhook-signature': `v1,${signature}`,
      ...headers,
    }
    const post = async () => (await fetch(url, { method: 'POST', headers: sent, body: message })).status
    return { status: await post(), again: post }
  }

  test('takes a genuine message once, however often it comes', async () => {
    const { status, again } = await deliver()
    expect([status, await again()]).toEqual([204, 204])
    const other = await deliver()
    expect(other.status).toBe(204)
    // Printed before it is answered, but on its way through a pipe.
    while (lines.length < 2) await once(output, 'line')
    expect(lines).toEqual([message, message])
  })

  test('takes a message that one of several signatures fits', async () => {
    const id = `msg_${randomUUID()}`
    const at = now()
    const fitting = createHmac('sha256', key).update(`${id}.${at}.${message}`).digest('base64')
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': at,
      'webhook-signature': `v1a,x v1,${randomBytes(32).toString('base64')} v1,${fitting}`,
    }
    expect((await deliver({ headers })).status).toBe(204)
  })

  test.each([
    ['a changed body', { signedBody: `${message} ` }],
    ['a foreign id', { headers: { 'webhook-id': 'msg_other' } }],
    ['a changed timestamp', { headers: { 'webhook-timestamp': String(Number(now()) - 1) } }],
    ['an old timestamp', { signedAt: String(Number(now()) - 301) }],
    ['a timestamp of tomorrow', { signedAt: String(Number(now()) + 86_400) }],
    ['a timestamp that is none', { signedAt: 'now' }],
    ['another version', { headers: { 'webhook-signature': 'v2,AAAA' } }],
    ['no signature', { headers: { 'webhook-signature': '' } }],
  ])('refuses %s', async (_what, change) => {
    expect((await deliver(change)).status).toBe(401)
  })
})
