import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { gate } from '@aftercommit/testing'
import { drain } from './drain.ts'

test('a request that runs gets its answer, and the connection its client keeps holds nothing up', async () => {
  const held = gate()
  const server = createServer((_request, response) => {
    void held.pass().then(() => response.end('answered'))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent }, resolve).on('error', reject)
  })
  await held.arrived
  const drained = drain(server)
  held.open()
  const response = await answer
  expect(response.statusCode).toBe(200)
  response.resume()
  await drained
  agent.destroy()
})
