import { randomUUID } from 'node:crypto'
import { openDb } from '@aftercommit/platform/db'
import { claimRows, finishRows, type Claimant } from '../../packages/outbox/src/sql.ts'
import { ENGINE } from '../contestant.ts'
import { noOp } from '../contenders/action.ts'
import { insertRows } from '../outbox-sql.ts'
import { recorder, type Scenario } from '../scenario.ts'

const RACES = 1_000
const CONNECTIONS = 20

export const stale: Scenario = {
  name: 'stale',
  title: 'A holder whose lease ran out settles at the same time as its successor',
  needsPeers: false,
  run: async ({ server }) => {
    const { note, series } = recorder()
    const { owner, dispatcher, tenantId } = await server.createOutbox('stale')
    const db = openDb({ url: dispatcher, applicationName: 'bench', connectionsMax: CONNECTIONS })
    const claimantNow = (): Claimant => ({
      replicaId: randomUUID(),
      terms: [{ action: noOp.name, leaseMs: noOp.leaseMs }],
    })
    try {
      await server.on(owner, (sql) =>
        insertRows(sql, { prefix: '', state: 'ready', count: RACES, tenants: [tenantId] }),
      )
      const { rows: late } = await claimRows(db, claimantNow(), noOp.lane, RACES)
      // As if every lease had run out and been taken over.
      await server.on(owner, (sql) =>
        sql.query(`update outbox set state = 'ready', lease_until = null, lease_owner = null`),
      )
      const { rows: successors } = await claimRows(db, claimantNow(), noOp.lane, RACES)
      const settle = async ({ id, fence }: { id: string; fence: string }): Promise<number> =>
        (await finishRows(db, [{ id, fence, outcome: 'succeeded', reason: undefined, calls: [] }])).size
      const successorById = new Map(successors.map((row) => [row.id, row]))
      const races = late.map(async (row, n) => {
        const next = successorById.get(row.id)
        if (!next) return { ofLate: await settle(row), ofSuccessor: 0 }
        // Every second race is begun by the other side.
        const [first, second] = n % 2 === 0 ? [row, next] : [next, row]
        const [a, b] = await Promise.all([settle(first), settle(second)])
        return first === row ? { ofLate: a, ofSuccessor: b } : { ofLate: b, ofSuccessor: a }
      })
      const ends = await Promise.all(races)
      note(ENGINE, 'races', 'count', ends.length)
      note(
        ENGINE,
        'stale settles accepted',
        'count',
        ends.reduce((sum, { ofLate }) => sum + ofLate, 0),
      )
      note(
        ENGINE,
        'settled by its holder',
        'count',
        ends.reduce((sum, { ofSuccessor }) => sum + ofSuccessor, 0),
      )
    } finally {
      await db.close()
    }
    const notes = [
      'Each row is claimed twice, and both holders settle it at once over different connections.',
    ]
    return { scenario: 'stale', title: stale.title, series, notes }
  },
}
