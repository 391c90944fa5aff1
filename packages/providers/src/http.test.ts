import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { CallContext, ProviderCall } from './call.ts'
import {
  beforeCut,
  exchange,
  exchangeThrough,
  failureOfStatus,
  networkFailure,
  openDeadline,
  readCapped,
  recordExchange,
  retryAfterMs,
  safeCode,
} from './http.ts'
import type { Answered } from './http.ts'
import { portOf } from './server.testing.ts'

const contextOf = (overrides: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  timeoutMs: 2_000,
  record: () => undefined,
  ...overrides,
})

const servers: Server[] = []
const serve = (listener: RequestListener): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer(listener)
    servers.push(server)
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${portOf(server)}/`)
    })
  })
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const get = (url: string, context = contextOf()) =>
  exchange({ url, method: 'GET', headers: new Headers(), body: undefined }, context)

const answered = (status: number, headers: Record<string, string> = {}): Answered => ({
  type: 'answered',
  status,
  headers: new Headers(headers),
  body: '',
  startedAt: new Date(0),
  durationMs: 0,
})

describe('one exchange', () => {
  it('brings the whole answer whatever its status', async () => {
    const url = await serve((_request, response) => response.writeHead(418, { 'x-kind': 'tea' }).end('short'))
    expect(await get(url)).toMatchObject({ type: 'answered', status: 418, body: 'short' })
  })

  it('does not follow a redirect', async () => {
    let requests = 0
    const url = await serve((_request, response) => {
      requests += 1
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    expect(await get(url)).toMatchObject({ type: 'answered', status: 307 })
    expect(requests).toBe(1)
  })

  it('opens a connection of its own, so that a kept one cannot die under it', async () => {
    const ports = new Set<number | undefined>()
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end()
    })
    for (let time = 0; time < 3; time += 1) await get(url)
    expect(ports.size).toBe(3)
  })

  it('is uncertain when the connection ends before, or in the middle of, the answer', async () => {
    const dropped = await serve((request) => request.socket.destroy())
    expect(await get(dropped)).toMatchObject({ type: 'lost', failure: { type: 'uncertain' } })
    const cut = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('12345', () => response.destroy())
    })
    expect(await get(cut)).toMatchObject({ type: 'lost', failure: { type: 'uncertain' } })
  })

  it('bounds the body by the same deadline as the headers', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200)
      response.write('and then nothing')
    })
    expect(await get(url, contextOf({ timeoutMs: 100 }))).toMatchObject({
      failure: { type: 'uncertain', code: 'deadline_exceeded' },
    })
  })

  it('is not sent to a name that does not exist or a port where nobody listens', async () => {
    const url = await serve((_request, response) => response.end())
    await new Promise((resolve) => servers.pop()?.close(resolve))
    expect(await get(url)).toMatchObject({ failure: { type: 'not_sent', code: 'ECONNREFUSED' } })
    // RFC 6761 keeps this name from ever resolving; without a resolver the answer is EAI_AGAIN.
    const unknown = await get('http://nowhere.invalid/')
    expect(unknown).toMatchObject({ type: 'lost', failure: { type: 'not_sent' } })
  })
})

describe('a client library', () => {
  it('gets its one request and is refused a second', async () => {
    let requests = 0
    const url = await serve((_request, response) => {
      requests += 1
      response.writeHead(503).end('try again')
    })
    const made = await exchangeThrough(contextOf(), async (fetch) => {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const response = await fetch(url, { method: 'POST', body: 'x' })
        if (response.ok) return
      }
    })
    expect(made).toMatchObject({ type: 'answered', status: 503, body: 'try again' })
    expect(requests).toBe(1)
  })

  it('that fails before it sends anything is a defect', async () => {
    const broken = () => Promise.reject(new Error('bad options'))
    await expect(exchangeThrough(contextOf(), broken)).rejects.toThrow('bad options')
    await expect(exchangeThrough(contextOf(), () => Promise.resolve())).rejects.toThrow('sent nothing')
  })
})

describe('a deadline', () => {
  it('fires at once for a context that is already over, and says that it was us', () => {
    const deadline = openDeadline({ signal: AbortSignal.abort(), timeoutMs: 1_000 })
    expect([deadline.signal.aborted, deadline.cutBy()]).toEqual([true, 'aborted'])
    deadline.close()
  })

  it('leaves nothing behind once closed', () => {
    const controller = new AbortController()
    const deadline = openDeadline({ signal: controller.signal, timeoutMs: 1_000 })
    deadline.close()
    controller.abort()
    expect(deadline.signal.aborted).toBe(false)
  })

  it('ends the wait for work that does not end, and not for work that does', async () => {
    const controller = new AbortController()
    const deadline = openDeadline({ signal: controller.signal, timeoutMs: 1_000 })
    expect(await beforeCut(Promise.resolve('done'), deadline)).toBe('done')
    const endless = beforeCut(new Promise<string>(() => undefined), deadline)
    controller.abort()
    expect(await endless).toBeUndefined()
    deadline.close()
  })
})

describe('what a network error proves', () => {
  const wrapped = (cause: unknown) => Object.assign(new TypeError('fetch failed'), { cause })

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED'])(
    '%s: nothing was sent',
    (code) => {
      expect(networkFailure(wrapped({ code }))).toEqual({ type: 'not_sent', code })
    },
  )

  it.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT', 'EHOSTUNREACH', 'SOMETHING_NEW'])(
    '%s: nothing is known',
    (code) => {
      expect(networkFailure(wrapped({ code }))).toEqual({ type: 'uncertain', code })
    },
  )

  it('a timeout while connecting: nothing was sent', () => {
    expect(networkFailure(wrapped({ code: 'ETIMEDOUT', syscall: 'connect' }))).toMatchObject({
      type: 'not_sent',
    })
    const each = { code: 'ETIMEDOUT', syscall: 'connect' }
    expect(networkFailure(wrapped({ code: 'ETIMEDOUT', errors: [each, each] }))).toMatchObject({
      type: 'not_sent',
    })
    expect(
      networkFailure(wrapped({ code: 'ETIMEDOUT', errors: [each, { code: 'ETIMEDOUT', syscall: 'read' }] })),
    ).toMatchObject({ type: 'uncertain' })
  })

  it('an error without a code: nothing is known', () => {
    expect(networkFailure(new Error('odd'))).toEqual({ type: 'uncertain', code: 'network_error' })
    expect(networkFailure('odd')).toEqual({ type: 'uncertain', code: 'network_error' })
  })
})

describe('what a status says by itself', () => {
  it.each([
    [302, 'uncertain'],
    [408, 'uncertain'],
    [429, 'throttled'],
    [500, 'uncertain'],
    [504, 'uncertain'],
    [400, 'refused'],
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [409, 'refused'],
    [412, 'refused'],
    [423, 'refused'],
  ])('%i is %s', (status, type) => {
    expect(failureOfStatus(answered(status), 'c')).toMatchObject({ type, code: 'c' })
  })
})

describe('Retry-After', () => {
  const now = new Date('2026-03-24T10:00:00Z')
  const after = (value: string, date?: string) =>
    retryAfterMs(new Headers({ 'retry-after': value, ...(date === undefined ? {} : { date }) }), now)

  it('is read as seconds or as a date', () => {
    expect(after('7')).toBe(7_000)
    expect(after('0')).toBe(0)
    expect(after('Tue, 24 Mar 2026 10:00:30 GMT')).toBe(30_000)
  })

  it('measures a date by the server’s own clock where it tells it', () => {
    expect(after('Tue, 24 Mar 2026 11:00:30 GMT', 'Tue, 24 Mar 2026 11:00:00 GMT')).toBe(30_000)
  })

  it('never lies in the past, and nonsense is no answer', () => {
    expect(after('Tue, 24 Mar 2020 10:00:30 GMT')).toBe(0)
    expect(after('soon')).toBeUndefined()
    expect(after('-5')).toBeUndefined()
    expect(retryAfterMs(new Headers(), now)).toBeUndefined()
  })
})

it('a body is read up to its cap and not beyond', async () => {
  const chunks = [Buffer.from('12345'), Buffer.from('67890')]
  expect(await readCapped(chunks, 10)).toBe('1234567890')
  expect(await readCapped(chunks, 9)).toBeUndefined()
})

it('a provider’s word becomes a code only when it is one', () => {
  expect(safeCode('rateLimitExceeded', 'other')).toBe('rateLimitExceeded')
  expect(safeCode('ada@example.com could not be found', 'other')).toBe('other')
  expect(safeCode(17, 'other')).toBe('other')
})

it('the notebook shows the provider’s request id and what the exchange came to', () => {
  const calls: ProviderCall[] = []
  const context = contextOf({ record: (call) => calls.push(call) })
  const call = { provider: 'microsoft', operation: 'events.get' }
  recordExchange(context, call, answered(404, { 'request-id': 'r-1' }), { type: 'refused', code: 'notFound' })
  expect(calls).toEqual([
    {
      ...call,
      startedAt: new Date(0),
      durationMs: 0,
      status: 404,
      outcome: 'refused:notFound',
      requestId: 'r-1',
    },
  ])
})
