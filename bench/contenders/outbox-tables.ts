/** What the contenders of this repository share: writing rows as the product does, and looking at the tables as their owner. */
import { enqueue } from '@aftercommit/outbox/enqueue'
import { openDb, type Db } from '@aftercommit/platform/db'
import { z } from 'zod'
import type { Contender, Opened } from './contender.ts'
import { payloadOf } from './contender.ts'
import { noOp } from './action.ts'

/** Handed to a child as its one argument. */
export const Urls = z.object({ owner: z.string(), dispatcher: z.string(), tenantId: z.string() })
export type Urls = z.output<typeof Urls>

/** All contenders have as many. */
export const CONNECTIONS = 25
const CHUNK = 500
/** Rows that live, and those that have ended or were ever named. */
const TABLES = 'outbox, outbox_identity, outbox_history, outbox_attempt, outbox_dead'

export const openWorking = async (urls: Urls): Promise<Db> => {
  const db = openDb({ url: urls.dispatcher, applicationName: 'bench', connectionsMax: CONNECTIONS })
  await Promise.all(Array.from({ length: CONNECTIONS }, () => db.query('select pg_sleep(0.02)')))
  return db
}

/** Everything but the workers. */
export const outboxTables = (urls: Urls): Omit<Contender, 'open'> & Pick<Opened, 'isEmpty'> => {
  const owner = openDb({ url: urls.owner, applicationName: 'bench owner', connectionsMax: 2 })
  const writer = openDb({ url: urls.dispatcher, applicationName: 'bench writer', connectionsMax: 4 })
  const add = async (from: number, count: number): Promise<void> => {
    for (let at = from; at < from + count; at += CHUNK) {
      const size = Math.min(CHUNK, from + count - at)
      const requests = Array.from({ length: size }, (_, i) => noOp.request(payloadOf(at + i)))
      await writer.transact(urls.tenantId, (tx) => enqueue(tx, requests))
    }
  }
  return {
    prepare: () => Promise.resolve(),
    add,
    addOne: async (n, committing) => {
      await writer.transact(urls.tenantId, async (tx) => {
        await enqueue(tx, [noOp.request(payloadOf(n))])
        committing()
      })
    },
    isEmpty: async () => (await owner.query('select from outbox limit 1')).rowCount === 0,
    clear: async () => {
      await owner.query(`truncate ${TABLES}`)
    },
    end: async () => {
      await Promise.all([owner.close(), writer.close()])
    },
  }
}
