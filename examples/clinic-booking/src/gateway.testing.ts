/** The message gateway: does nothing twice under one Idempotency-Key, and remembers what it did for whom. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gate, type Gate } from '@aftercommit/testing'

export interface Gateway {
  readonly url: string
  /** Calls that came in, repeated ones too. */
  calls(): number
  /** To whom a message went, in order. */
  readonly sent: readonly string[]
  /** The next call has its effect, and its answer waits for the gate. */
  holdNext(): Gate
  stop(): Promise<void>
}

export const startGateway = async (): Promise<Gateway> => {
  let calls = 0
  const sent: string[] = []
  const keys = new Set<string>()
  let held: Gate | undefined
  const take = async (key: string, body: string): Promise<void> => {
    calls += 1
    if (!keys.has(key)) sent.push((JSON.parse(body) as { to: string }).to)
    keys.add(key)
    const waiting = held
    held = undefined
    await waiting?.pass()
  }
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => take(String(request.headers['idempotency-key']), body))
      .then(() => response.writeHead(202).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    sent,
    holdNext: () => (held = gate()),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
