/** An HTTP server for one test: says what it is told to say, and remembers what it was asked. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { z } from 'zod'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Scripted {
  readonly status: number
  /** Sent as JSON. */
  readonly body: unknown
}

/** The port a server was given; throws for one that does not listen on TCP. */
export const portOf = (server: Server): number => z.object({ port: z.int() }).parse(server.address()).port

export const withServer = async <T>(
  answer: (asked: Asked, url: string) => Scripted,
  act: (url: string, asked: readonly Asked[]) => Promise<T>,
): Promise<T> => {
  const seen: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString() }
      seen.push(asked)
      const { status, body } = answer(asked, `http://${headers.host ?? ''}`)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await act(`http://127.0.0.1:${portOf(server)}`, seen)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
