/** A small booking application as a process of its own. It says on its standard output where it is, and where it halts. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { z } from 'zod'
import { ways, type WayName } from '../gaps.ts'
import { calendarAt } from './calendar.ts'
import { readBooking } from './store.ts'
import type { Tools, Way } from './way.ts'
import { callback } from './ways/callback.ts'
import { inlineCall } from './ways/inline-call.ts'
import { memoryQueue } from './ways/memory-queue.ts'
import { sweptStatus } from './ways/swept-status.ts'

const openByName: Readonly<Record<WayName, (tools: Tools) => Way | Promise<Way>>> = {
  inline_call: inlineCall,
  callback,
  memory_queue: memoryQueue,
  swept_status: sweptStatus,
  // Loaded for itself: the other ways need none of it, and start the sooner.
  outbox: async (tools) => (await import('./ways/outbox.ts')).outbox(tools),
}

const Env = z.object({
  WAY: z.enum(ways),
  DATABASE_URL: z.string(),
  CALENDAR_URL: z.string(),
  TENANT_ID: z.uuid(),
  HALT_AT: z.enum(['before_commit', 'before_call', 'after_answer']).optional(),
})
const Body = z.object({ calendar: z.string(), startsAt: z.string() })

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const answer = async (way: Way, pool: pg.Pool, request: IncomingMessage): Promise<unknown> => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'POST') {
    const { calendar, startsAt } = Body.parse(JSON.parse(await text(request)))
    return way.book({ key: z.uuid().parse(request.headers['idempotency-key']), calendar, startsAt })
  }
  if (pathname === '/settled') return way.settled()
  return readBooking(pool, pathname.slice(1))
}

const main = async (): Promise<void> => {
  const env = Env.parse(process.env)
  const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 4 })
  const at: Tools['at'] = (point) => {
    if (point !== env.HALT_AT) return Promise.resolve()
    say({ type: 'halted', point })
    return new Promise(() => undefined)
  }
  const { DATABASE_URL: databaseUrl, TENANT_ID: tenantId } = env
  const way = await openByName[env.WAY]({
    pool,
    databaseUrl,
    tenantId,
    calendar: calendarAt(env.CALENDAR_URL),
    at,
  })
  const server = createServer((request, response) => {
    answer(way, pool, request).then(
      (body) => response.end(JSON.stringify(body ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  say({ type: 'listening', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

await main()
