/** The clinic's application: takes appointments over HTTP, commits them, and calls nobody. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { z } from 'zod'
import { book } from './book.ts'

const { APP_DATABASE_URL, CLINIC_ID, PORT } = z
  .object({
    APP_DATABASE_URL: z.string(),
    CLINIC_ID: z.uuid(),
    PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  })
  .parse(process.env)

const Body = z.object({ patientRef: z.string(), startsAt: z.coerce.date() })

const pool = new pg.Pool({ connectionString: APP_DATABASE_URL })

const take = async (request: IncomingMessage): Promise<object> => {
  const appointment = { appointmentId: randomUUID(), ...Body.parse(JSON.parse(await text(request))) }
  await book(pool, CLINIC_ID, appointment)
  return appointment
}

const isMalformed = (error: unknown): boolean => error instanceof z.ZodError || error instanceof SyntaxError

const server = createServer((request, response) => {
  take(request).then(
    (appointment) => response.writeHead(201).end(JSON.stringify(appointment)),
    (error: unknown) => response.writeHead(isMalformed(error) ? 400 : 500).end(String(error)),
  )
})
server.listen(PORT, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({ type: 'listening', url: `http://127.0.0.1:${port}` })}\n`)
