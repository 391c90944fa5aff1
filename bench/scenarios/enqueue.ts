import { enqueue as enqueueRows } from '@aftercommit/outbox/enqueue'
import { openDb, type Db, type Sql } from '@aftercommit/platform/db'
import { noOp } from '../contenders/action.ts'
import { payloadOf } from '../contenders/contender.ts'
import type { Urls } from '../contenders/outbox-tables.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'

const TRANSACTIONS = { full: 5_000, quick: 1_000 }
const CLIENTS = 4

const BARE_TABLE = `
  create table bare (like outbox including defaults including identity, primary key (id), unique (tenant_id, identity));
  grant select, insert on bare to aftercommit_dispatcher`

const BARE_INSERT = `
  insert into bare (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type, aggregate_id,
      lane, successor_rule, state, not_before, available_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'ready', now(), now())`

type Way = (db: Db, tenantId: string, n: number) => Promise<unknown>

const insertBare = (sql: Sql, tenantId: string, n: number): Promise<unknown> => {
  const request = noOp.request(payloadOf(n))
  const { identity, action, payloadVersion, policyVersion, payload, subject, lane, successorRule } = request
  const versions = [payloadVersion, policyVersion]
  return sql.query(BARE_INSERT, [
    ...[tenantId, identity, action, ...versions, JSON.stringify(payload)],
    ...[subject.type, subject.id, lane, successorRule],
  ])
}

/** The same transaction by the same client, with the one or the other statement in it. */
const ways: Readonly<Record<string, Way>> = {
  'bare INSERT': (db, tenantId, n) => db.transaction((sql) => insertBare(sql, tenantId, n)),
  enqueue: (db, tenantId, n) =>
    db.transaction((sql) => enqueueRows({ sql, tenantId }, [noOp.request(payloadOf(n))])),
  'bare INSERT, through transact': (db, tenantId, n) =>
    db.transact(tenantId, ({ sql }) => insertBare(sql, tenantId, n)),
  'enqueue, through transact': (db, tenantId, n) =>
    db.transact(tenantId, (tx) => enqueueRows(tx, [noOp.request(payloadOf(n))])),
}

export const enqueue: Scenario = {
  name: 'enqueue',
  title: 'Enqueue in a transaction, beside a bare INSERT of the same columns and unique key',
  needsPeers: false,
  run: async ({ server, quick, repetitions, tell }) => {
    const transactions = quick ? TRANSACTIONS.quick : TRANSACTIONS.full
    const { note, series } = recorder()
    const urls: Urls = await server.createOutbox('enqueue')
    for (const statement of BARE_TABLE.split(';')) await server.on(urls.owner, (sql) => sql.query(statement))
    const db = openDb({ url: urls.dispatcher, applicationName: 'bench', connectionsMax: CLIENTS })
    try {
      let from = 0
      const timed = async (way: Way, count: number): Promise<number> => {
        let n = from
        const until = (from += count)
        const began = performance.now()
        const client = async (): Promise<void> => {
          while (n < until) await way(db, urls.tenantId, n++)
        }
        await Promise.all(Array.from({ length: CLIENTS }, client))
        return count / ((performance.now() - began) / 1_000)
      }
      for (const way of Object.values(ways)) await timed(way, transactions / 5)
      await inTurns(repetitions, Object.entries(ways), async ([name, way], repetition) => {
        await server.settle(urls.owner)
        const rate = await timed(way, transactions)
        note(name, 'transactions', 'per second', rate)
        tell(`${repetition + 1}. ${name}: ${rate.toFixed(0)} per second`)
      })
    } finally {
      await db.close()
    }
    const notes = [
      `${transactions} transactions of one row each, ${CLIENTS} connections, as the dispatcher's role.`,
      'Enqueue also keeps the identity for ever in a table of its own, with a hash of the content, and gives the row its place among tenants; the bare INSERT has one unique key and no other index.',
      '“Through transact”: by the door of the product, which shares its transaction with Prisma.',
    ]
    return { scenario: 'enqueue', title: enqueue.title, series, notes }
  },
}
