import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { CallContext, ProviderCall } from '../call.ts'
import { portOf } from '../server.testing.ts'
import { isLoopbackAddress, isPublicAddress } from './address.ts'
import { signedHeaders } from './signature.ts'
import { webhookSender } from './webhook.ts'
import type { WebhookMessage } from './webhook.ts'

const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

const messageTo = (url: string, changes: Partial<WebhookMessage> = {}): WebhookMessage => ({
  url,
  id: `msg_${randomUUID()}`,
  timestamp: new Date(),
  body: JSON.stringify({ type: 'meeting.confirmed', note: 'Grüße' }),
  secret: newSecret(),
  ...changes,
})

const contextOf = (overrides: Partial<CallContext> = {}) => {
  const calls: ProviderCall[] = []
  const record = (call: ProviderCall) => calls.push(call)
  return { signal: new AbortController().signal, timeoutMs: 2_000, record, calls, ...overrides }
}

const servers: Server[] = []
const listen = (listener: RequestListener, host = '127.0.0.1'): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer(listener)
    servers.push(server)
    server.listen(0, host, () => {
      resolve(portOf(server))
    })
  })
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Delivers once to a receiver of our own, which the sender is allowed to reach. */
const deliverTo = async (listener: RequestListener, context = contextOf()) => {
  const origin = `http://127.0.0.1:${await listen(listener)}`
  return webhookSender({ allowLoopback: [origin] }).deliver(messageTo(`${origin}/hook`), context)
}

const resolving =
  (...addresses: readonly string[]) =>
  (): Promise<readonly LookupAddress[]> =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

describe('a delivery', () => {
  it('reaches a receiver who verifies the signature, and a repeat is recognised by its id', async () => {
    const simulator = await startSimulator()
    try {
      const control = simulatorControl(simulator.url)
      const secret = newSecret()
      await control.putWebhookSettings('acme', { secret })
      const sender = webhookSender({ allowLoopback: [simulator.url] })
      const message = messageTo(`${simulator.url}/webhooks/acme`, { secret })
      expect(await sender.deliver(message, contextOf())).toEqual({ type: 'accepted', status: 204 })
      const later = { ...message, timestamp: new Date(message.timestamp.getTime() + 1_000) }
      expect(await sender.deliver(later, contextOf())).toEqual({ type: 'accepted', status: 204 })
      const forged = { ...message, secret: newSecret() }
      expect(await sender.deliver(forged, contextOf())).toMatchObject({ type: 'refused', status: 401 })
      const inbox = await control.readWebhooks('acme')
      expect(inbox).toMatchObject({
        refused: 1,
        received: [{ webhookId: message.id, verified: true, body: message.body, duplicates: 1 }],
      })
    } finally {
      await simulator.stop()
    }
  })

  it('bears the trace it belongs to, and none when there is none', async () => {
    const simulator = await startSimulator()
    try {
      const sender = webhookSender({ allowLoopback: [simulator.url] })
      const traceParent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
      const message = messageTo(`${simulator.url}/webhooks/acme`)
      await sender.deliver(message, contextOf({ traceParent }))
      await sender.deliver(message, contextOf({}))
      const requests = await simulatorControl(simulator.url).readRequests()
      expect(requests.map(({ traceparent }) => traceparent)).toEqual([traceParent, undefined])
    } finally {
      await simulator.stop()
    }
  })

  it.each([
    [200, { type: 'accepted', status: 200 }],
    [204, { type: 'accepted', status: 204 }],
    [301, { type: 'refused', reason: 'redirect', status: 301 }],
    [307, { type: 'refused', reason: 'redirect', status: 307 }],
    [400, { type: 'refused', reason: 'client_error', status: 400 }],
    [404, { type: 'refused', reason: 'client_error', status: 404 }],
    [410, { type: 'refused', reason: 'gone', status: 410 }],
    [408, { type: 'uncertain', code: 'http_408' }],
    [500, { type: 'uncertain', code: 'http_500' }],
    [503, { type: 'uncertain', code: 'http_503' }],
    [429, { type: 'throttled', status: 429, retryAfterMs: 30_000 }],
  ])('answered with %i is told as it is', async (status, answer) => {
    let requests = 0
    const delivered = await deliverTo((_request, response) => {
      requests += 1
      response.writeHead(status, { 'retry-after': '30', location: 'http://127.0.0.1:1/' }).end('noted')
    })
    expect(delivered).toEqual(answer)
    expect(requests).toBe(1)
  })

  it('is throttled without a time when the receiver names none', async () => {
    const delivered = await deliverTo((_request, response) => response.writeHead(429).end())
    expect(delivered).toEqual({ type: 'throttled', status: 429, retryAfterMs: undefined })
  })

  it('is uncertain when the connection breaks or the deadline comes', async () => {
    expect(await deliverTo((request) => request.socket.destroy())).toEqual({
      type: 'uncertain',
      code: 'ECONNRESET',
    })
    const silent = await deliverTo(() => undefined, contextOf({ timeoutMs: 100 }))
    expect(silent).toEqual({ type: 'uncertain', code: 'deadline_exceeded' })
  })

  it('is accepted by its status even if the rest of the answer never ends or is endless', async () => {
    const hanging: RequestListener = (_request, response) => {
      response.writeHead(200)
      response.write('and then nothing')
    }
    expect(await deliverTo(hanging, contextOf({ timeoutMs: 150 }))).toEqual({ type: 'accepted', status: 200 })
    const endless: RequestListener = (_request, response) => {
      const more = () => response.writable && response.write(Buffer.alloc(32 * 1024), more)
      response.writeHead(200)
      more()
    }
    expect(await deliverTo(endless)).toEqual({ type: 'accepted', status: 200 })
  })

  it('is not sent where nobody listens, where the name is unknown, or once we were told to stop', async () => {
    const port = await listen(() => undefined)
    await new Promise((resolve) => servers.pop()?.close(resolve))
    const origin = `http://127.0.0.1:${port}`
    const sender = webhookSender({ allowLoopback: [origin] })
    expect(await sender.deliver(messageTo(origin), contextOf())).toEqual({
      type: 'not_sent',
      code: 'ECONNREFUSED',
    })
    const stopped = contextOf({ signal: AbortSignal.abort() })
    expect(await sender.deliver(messageTo(origin), stopped)).toEqual({ type: 'not_sent', code: 'aborted' })
    const nowhere = webhookSender({
      allowLoopback: [],
      resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENODATA' })),
    })
    expect(await nowhere.deliver(messageTo('https://hooks.example.com/'), contextOf())).toEqual({
      type: 'not_sent',
      code: 'ENODATA',
    })
  })

  it('ends the wait for a name that is never resolved', async () => {
    const sender = webhookSender({ allowLoopback: [], resolve: () => new Promise(() => undefined) })
    const answer = await sender.deliver(messageTo('https://hooks.example.com/'), contextOf({ timeoutMs: 50 }))
    expect(answer).toEqual({ type: 'not_sent', code: 'deadline_exceeded' })
  })

  it('with a malformed secret is a defect, not a lost answer', async () => {
    const sender = webhookSender({ allowLoopback: ['http://127.0.0.1:4003'] })
    const message = messageTo('http://127.0.0.1:4003/', { secret: 'plain' })
    await expect(sender.deliver(message, contextOf())).rejects.toThrow(TypeError)
  })

  it('is noted once, without the URL, the body or the secret', async () => {
    const context = contextOf()
    await deliverTo((_request, response) => response.writeHead(410).end(), context)
    expect(context.calls).toMatchObject([
      { provider: 'webhook', operation: 'webhook.deliver', status: 410, outcome: 'refused:gone' },
    ])
    expect(JSON.stringify(context.calls)).not.toMatch(/127\.0\.0\.1|meeting|whsec/)
  })
})

describe('an address that is not for us to call', () => {
  const sender = webhookSender({ allowLoopback: ['http://127.0.0.1:4003'] })
  const deliver = (url: string) => sender.deliver(messageTo(url), contextOf())

  it.each([
    ['not a url', 'invalid_url'],
    ['http://hooks.example.com/', 'not_https'],
    ['ftp://hooks.example.com/', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['https://someone@hooks.example.com/', 'credentials_in_url'],
    ['http://127.0.0.1:4004/', 'not_https'],
    ['http://localhost:4003/', 'not_https'],
    ['https://127.0.0.1:4003/', 'not_public'],
    ['https://localhost/', 'not_public'],
    ['https://2130706433/', 'not_public'],
    ['https://0x7f.1/', 'not_public'],
    ['https://0177.0.0.1/', 'not_public'],
    ['https://169.254.169.254/latest/meta-data', 'not_public'],
    ['https://[::1]/', 'not_public'],
    ['https://[::ffff:10.0.0.1]/', 'not_public'],
    ['https://[fd00::1]/', 'not_public'],
    ['https://0.0.0.0/', 'not_public'],
  ])('%s is refused as %s', async (url, code) => {
    expect(await deliver(url)).toEqual({ type: 'forbidden_address', code })
  })

  it('hides behind a public name or among public addresses in vain', async () => {
    const to = (...addresses: readonly string[]) =>
      webhookSender({ allowLoopback: [], resolve: resolving(...addresses) }).deliver(
        messageTo('https://hooks.example.com/'),
        contextOf(),
      )
    const forbidden = { type: 'forbidden_address', code: 'not_public' }
    expect(await to('10.1.2.3')).toEqual(forbidden)
    expect(await to('93.184.215.14', '127.0.0.1')).toEqual(forbidden)
    expect(await to('2606:4700::1111', '::ffff:127.0.0.1')).toEqual(forbidden)
    expect(await to()).toEqual(forbidden)
  })

  it('may be this machine only under an origin that was allowed, and only if it is this machine', async () => {
    const port = await listen((_request, response) => response.end())
    const origin = `http://localhost:${port}`
    const inward = webhookSender({ allowLoopback: [origin], resolve: resolving('10.1.2.3') })
    expect(await inward.deliver(messageTo(origin), contextOf())).toEqual({
      type: 'forbidden_address',
      code: 'not_loopback',
    })
  })

  // Other systems give 127.0.0.2 to nobody.
  const itOnLinux = process.platform === 'linux' ? it : it.skip
  itOnLinux(
    'cannot be reached by answering the second name lookup differently, for there is none',
    async () => {
      // Nothing listens on this port at the address that localhost really has; only the checked address answers.
      let host: string | undefined
      const port = await listen((request, response) => {
        host = request.headers.host
        response.end()
      }, '127.0.0.2')
      let lookups = 0
      const origin = `http://localhost:${port}`
      const sender = webhookSender({
        allowLoopback: [origin],
        resolve: () => {
          lookups += 1
          return resolving('127.0.0.2')()
        },
      })
      expect(await sender.deliver(messageTo(origin), contextOf())).toEqual({ type: 'accepted', status: 200 })
      expect([lookups, host]).toEqual([1, `localhost:${port}`])
    },
  )

  it.each([
    'http://127.0.0.1:4003/',
    'http://example.com',
    'http://10.0.0.1:80',
    'localhost',
    'http://127.0.0.1.example.com',
  ])('cannot be allowed by mistake: %s', (origin) => {
    expect(() => webhookSender({ allowLoopback: [origin] })).toThrow(TypeError)
  })
})

describe('public addresses', () => {
  it.each([
    '8.8.8.8',
    '93.184.215.14',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.0.1'],
    ...[
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.8',
      '192.168.1.1',
      '198.18.0.1',
      '203.0.113.9',
    ],
    ...['224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '64:ff9b::a00:1', 'fe80::1', 'fec0::1', 'fc00::1'],
    ...['fd12:3456::1', 'ff02::1', '2001:db8::1', '2001::1', '2002:7f00:1::', '::7f00:1', 'localhost', ''],
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it('are never loopback ones', () => {
    expect(['127.0.0.1', '127.8.8.8', '::1'].every(isLoopbackAddress)).toBe(true)
    expect(['8.8.8.8', '::ffff:127.0.0.1', '::', '0.0.0.0'].some(isLoopbackAddress)).toBe(false)
  })
})

describe('a signature', () => {
  it('is HMAC-SHA256 over id, timestamp and body, in base64', () => {
    const key = randomBytes(32)
    const timestamp = new Date('2026-03-24T10:00:00.900Z')
    const content = { id: 'msg_1', timestamp, body: '{"a":"ü"}', secret: `whsec_${key.toString('base64')}` }
    const seconds = '1774346400'
    const expected = createHmac('sha256', key).update(`msg_1.${seconds}.{"a":"ü"}`).digest('base64')
    expect(signedHeaders(content)).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${expected}`,
    })
  })

  it.each(['', 'whsec_', 'whsec_not base64', 'secret'])('is not made with %j', (secret) => {
    const content = { id: 'msg_1', timestamp: new Date(0), body: '', secret }
    expect(() => signedHeaders(content)).toThrow(TypeError)
  })
})
