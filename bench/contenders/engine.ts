/** The engine as the dispatcher runs it: claim, prepare in the tenant's transaction and mark if the handler asks for it, perform, settle with history. */
import { createEngine } from '@aftercommit/outbox/engine'
import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { doingNothing, noOp, preparingNothing } from './action.ts'
import { serve, type Contender } from './contender.ts'
import { openWorking, outboxTables, Urls } from './outbox-tables.ts'

const Argument = Urls.extend({ prepares: z.boolean() })

const engineContender = (argument: string): Contender => {
  const { prepares, ...urls } = Argument.parse(JSON.parse(argument))
  const tables = outboxTables(urls)
  return {
    ...tables,
    open: async () => {
      const db = await openWorking(urls)
      return {
        start: async (handled) => {
          const engine = createEngine<Tx>({
            db,
            registrations: [(prepares ? preparingNothing : doingNothing)(noOp, handled)],
            laneByName: { [noOp.lane]: { concurrency: 2_000, claimMax: 500 } },
            report: (event) => {
              if (event.type === 'error') process.stderr.write(`${event.where}: ${String(event.error)}\n`)
            },
          })
          await engine.start()
          return () => engine.stop(10_000)
        },
        isEmpty: tables.isEmpty,
        close: () => db.close(),
      }
    },
  }
}

serve(engineContender)
