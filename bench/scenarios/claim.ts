import { randomUUID } from 'node:crypto'
import { openDb, type Db, type Sql } from '@aftercommit/platform/db'
import { resumePaused, claimRows, finishRows, type Claimant } from '../../packages/outbox/src/sql.ts'
import { watermark } from '../../packages/outbox/src/watermark.ts'
import { noOp } from '../contenders/action.ts'
import { createTenants, insertRows } from '../outbox-sql.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const ROWS = { full: 20_000, quick: 4_000 }
const BLOCKED = { full: 100_000, quick: 10_000 }
const CLAIM_MAX = 100
const TENANTS = 50
const LANES = ['bench_a', 'bench_b', 'bench_c', 'bench_d']
const ACCOUNTS = 200
const CAP = 10

const WITHOUT = 'claim without'
const WITH = 'claim with everything'
const WITH_NO_CAPS = 'claim with everything but caps'

interface Side {
  readonly name: string
  readonly owner: string
  readonly db: Db
  readonly tenants: readonly string[]
  readonly lanes: readonly string[]
  readonly accounts: number
}

export const claim: Scenario = {
  name: 'claim',
  title: 'What lanes, caps, fairness, row-level security and rows that may not run cost a claim',
  needsPeers: false,
  run: async ({ server, quick, repetitions, tell }) => {
    const rows = quick ? ROWS.quick : ROWS.full
    const { note, series } = recorder()
    const sides = [
      await plainSide(server),
      await fullSide(server, WITH, ACCOUNTS, quick ? BLOCKED.quick : BLOCKED.full),
      await fullSide(server, WITH_NO_CAPS, 0, quick ? BLOCKED.quick : BLOCKED.full),
    ]
    try {
      await inTurns(repetitions, sides, async (side, repetition) => {
        await server.on(side.owner, (sql) =>
          insertRows(sql, { ...side, prefix: `${repetition}-`, state: 'ready', count: rows }),
        )
        await server.settle(side.owner)
        const { ms, claimed } = await claimAll(side)
        if (claimed !== rows) throw new Error(`${claimed} rows were claimed, and ${rows} were ready`)
        note(side.name, 'claim', 'rows/s', rows / (ms / 1_000))
        tell(`${repetition + 1}. ${side.name}: ${(rows / (ms / 1_000)).toFixed(0)} rows/s`)
      })
    } finally {
      for (const { db } of sides) await db.close()
    }
    const notes = [
      `${rows} ready rows, claimed ${CLAIM_MAX} at a time by one connection; the time of the claims alone, settled in between.`,
      `“${WITH}”: the dispatcher's role under its policies, ${LANES.length} lanes, ${TENANTS} tenants that take turns, ${ACCOUNTS} accounts that run ${CAP} rows at a time, and ${quick ? BLOCKED.quick : BLOCKED.full} rows that are scheduled, paused or waiting. “${WITHOUT}”: the owner, one lane, one tenant, no account, nothing else in the table.`,
    ]
    return { scenario: 'claim', title: claim.title, series, notes }
  },
}

const plainSide = async (server: Server): Promise<Side> => {
  const { owner, tenantId } = await server.createOutbox('claim_plain')
  const db = openDb({ url: owner, applicationName: 'bench', connectionsMax: 1 })
  return { name: WITHOUT, owner, db, tenants: [tenantId], lanes: [noOp.lane], accounts: 0 }
}

const fullSide = async (server: Server, name: string, accounts: number, blocked: number): Promise<Side> => {
  const { owner, dispatcher } = await server.createOutbox(`claim_full_${accounts}`)
  const tenants = await server.on(owner, async (sql: Sql) => {
    const made = await createTenants(sql, TENANTS)
    const common = { tenants: made, lanes: LANES, accounts, count: blocked / 4 }
    await insertRows(sql, { ...common, prefix: 'later', state: 'scheduled', count: blocked / 2 })
    // Of accounts that rest, so that nobody resumes them.
    await insertRows(sql, { ...common, prefix: 'resting', accountPrefix: 'resting', state: 'paused' })
    await sql.query(
      `insert into outbox_account_pause (account, until, code)
         select distinct account, now() + interval '1 day', 'rate_limited' from outbox where state = 'paused' and account is not null`,
    )
    await insertRows(sql, { ...common, prefix: 'behind', state: 'waiting', orderingKey: 'one' })
    return made
  })
  const db = openDb({ url: dispatcher, applicationName: 'bench', connectionsMax: 1 })
  return { name, owner, db, tenants, lanes: LANES, accounts }
}

/** Claims lane after lane until nothing is ready. Answers how long the claims took, and how many rows they gave. */
const claimAll = async ({
  db,
  lanes,
  accounts,
}: Side): Promise<{ readonly ms: number; readonly claimed: number }> => {
  const claimant: Claimant = {
    replicaId: randomUUID(),
    terms: [
      { action: noOp.name, leaseMs: noOp.leaseMs, ...(accounts > 0 && { accountConcurrencyMax: CAP }) },
    ],
  }
  const marks = lanes.map((lane) => ({ lane, mark: watermark() }))
  let ms = 0
  let claimed = 0
  for (let open = marks; open.length > 0;) {
    const next: typeof marks = []
    for (const each of open) {
      const began = performance.now()
      const from = each.mark.from()
      const { rows, last } = await claimRows(db, claimant, each.lane, CLAIM_MAX, from)
      each.mark.note(from, last)
      ms += performance.now() - began
      claimed += rows.length
      if (!last) continue
      next.push(each)
      await finishRows(
        db,
        rows.map(({ id, fence }) => ({ id, fence, outcome: 'succeeded', reason: undefined, calls: [] })),
      )
      await resumePaused(
        db,
        rows.flatMap(({ account }) => account ?? []),
      )
    }
    open = next
  }
  return { ms, claimed }
}
