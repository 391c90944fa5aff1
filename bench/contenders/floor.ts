/** The engine's own statements in a bare loop, without the engine: what the tables and their audit cost by themselves. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { claimRows, finishRows, noteLaneTurn, type Claimant } from '../../packages/outbox/src/sql.ts'
import { watermark } from '../../packages/outbox/src/watermark.ts'
import { noOp } from './action.ts'
import { payloadOf, serve, type Contender } from './contender.ts'
import { openWorking, outboxTables, Urls } from './outbox-tables.ts'

const LOOPS = 4
const BATCH = 500
const EMPTY_PAUSE_MS = 2

const floorContender = (argument: string): Contender => {
  const urls = Urls.parse(JSON.parse(argument))
  const tables = outboxTables(urls)
  const claimant: Claimant = {
    replicaId: randomUUID(),
    terms: [{ action: noOp.name, leaseMs: noOp.leaseMs, starts: true }],
  }
  return {
    ...tables,
    open: async () => {
      const db = await openWorking(urls)
      const stopping = new AbortController()
      const mark = watermark()
      const loop = async (handled: (n: number) => void): Promise<void> => {
        while (!stopping.signal.aborted) {
          const from = mark.from()
          const { rows, last } = await claimRows(db, claimant, noOp.lane, BATCH, from)
          mark.note(from, last)
          if (!last) {
            await pause(EMPTY_PAUSE_MS)
            continue
          }
          await noteLaneTurn(db, noOp.lane, BigInt(last.turn) + 1n)
          for (const { payload } of rows) handled(numberOf(payload))
          const ends = rows.map(({ id, fence }) => ({ id, fence, outcome: 'succeeded' as const }))
          await finishRows(
            db,
            ends.map((end) => ({ ...end, reason: undefined, calls: [] })),
          )
        }
      }
      return {
        start: (handled) => {
          const loops = Array.from({ length: LOOPS }, () => loop(handled))
          return Promise.resolve(async () => {
            stopping.abort()
            await Promise.all(loops)
          })
        },
        isEmpty: tables.isEmpty,
        close: () => db.close(),
      }
    },
  }
}

const numberOf = (payload: unknown): number => noOp.payload.safeParse(payload).data?.n ?? payloadOf(-1).n

serve(floorContender)
