import { openDb, type Db } from '@aftercommit/platform/db'
import { enqueue } from './enqueue.ts'
import { done, type Outcome, type Reconciled } from './index.ts'
import {
  askable,
  changeThing,
  GRACE_MS,
  handle,
  handleAskable,
  inTurn,
  requestsOf,
  safe,
  useStage,
} from './stage.testing.ts'

/** A pooler in transaction mode hands every transaction to whichever connection is free: none may know our names. */
const stage = useStage()

let named: Db
let nameless: Db
beforeAll(() => {
  const options = { url: stage.database.urls.dispatcher, applicationName: 'test pooled', connectionsMax: 4 }
  named = openDb(options)
  nameless = openDb({ ...options, preparedStatements: false })
})
afterAll(() => Promise.all([named.close(), nameless.close()]))

/** What the connections of a door have prepared, as each of them in turn tells. */
const prepared = async (db: Db): Promise<number> => {
  const { rows } = await db.query<{ statements: number }>(
    `select count(*)::int as statements from pg_prepared_statements where name <> ''`,
  )
  return rows[0]?.statements ?? -1
}

/** A day in the life of an engine: retries, lost answers, orders, domain changes, bounded accounts, housekeeping. */
const live = async (db: Db): Promise<readonly string[]> => {
  const action = safe({ keyed: true, accountConcurrencyMax: 1, backoff: { baseMs: 1, maxMs: 2 } })
  const lost = askable()
  const { engine, events } = stage.engine(
    [
      handle(action, {
        perform: inTurn<Outcome<unknown>>({ type: 'retry', code: 'busy' }, done(undefined)),
        settle: async (tx, { payload }, outcome) => {
          if (outcome.type === 'done') await changeThing(tx, payload.id, 'settled')
          return []
        },
      }),
      handleAskable(lost, {
        perform: inTurn<Outcome<unknown>>({ type: 'unknown', code: 'lost', correlation: {} }),
        ask: inTurn<Reconciled<unknown>>({ type: 'found', facts: 1 }),
      }),
    ],
    { db },
  )
  const { id, tenant } = await stage.enqueue(requestsOf(lost, [9]))
  await db.transact(tenant, (tx) => enqueue(tx, requestsOf(action, [1, 2], { account: 'a' })(id)))
  for (let round = 0; round < 4; round++) {
    await engine.drain()
    await stage.database.advanceClock(GRACE_MS)
  }
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  return stage.ended(id)
}

test('without named statements the engine does all that it does with them, and leaves no name behind', async () => {
  const ends = ['1:succeeded', '2:succeeded', '9:succeeded', '9:succeeded']
  expect([...(await live(nameless))].sort()).toEqual(ends)
  expect([...(await live(named))].sort()).toEqual(ends)
  expect(await prepared(nameless)).toBe(0)
  expect(await prepared(named)).toBeGreaterThan(0)
})
