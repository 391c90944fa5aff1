import type { SettleTx } from './db.ts'
import type { Settled } from './outcome.ts'
import { budgetOf, readEnvelope, settler, untilLeaseEnds } from './pipeline.ts'
import type { Entry } from './registry.ts'
import { normalise } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { releaseRow, takeOverLostRows, type ClaimedRow } from './sql.ts'

const RESCUED_ROWS_MAX = 100

/**
 * Takes over rows whose lease ran out and decides what each becomes: not started → ready, no attempt spent; started
 * → as its repeat rule says. Whatever comes back is claimed alone. Answers how many it took.
 */
export const rescueLostRows = async <T extends SettleTx>(runtime: Runtime<T>): Promise<number> => {
  const { registry, leaseMs } = runtime
  const rows = await takeOverLostRows(runtime.db, {
    actions: registry.names,
    limit: RESCUED_ROWS_MAX,
    leaseMs,
  })
  for (const row of rows) {
    const entry = registry.entryByName.get(row.action)
    if (entry) await rescue(runtime, entry, row)
  }
  return rows.length
}

const rescue = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: Entry<T>,
  row: ClaimedRow,
): Promise<void> => {
  const started = row.started_at !== null
  runtime.report({ type: 'lease_lost', action: row.action, started })
  // A question to the provider is a read: asking it again is always safe.
  if (!started || entry.type === 'reconcile') return giveBack(runtime, row)
  const outcome = afterLostLease(entry, row)
  if (outcome.type === 'retrying') return giveBack(runtime, row)
  const envelope = readEnvelope(row, entry.action)
  await settler(runtime, entry, row)(outcome, { ...(envelope && { envelope }), solo: true })
}

const afterLostLease = <T extends SettleTx>(entry: Entry<T>, row: ClaimedRow): Settled<never> =>
  normalise(
    { type: 'unknown', code: 'lease_lost', correlation: {} },
    entry.action,
    // The attempt that lost its lease was counted when it started.
    budgetOf(row, 0),
    0,
  )

const giveBack = <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): Promise<void> =>
  untilLeaseEnds(runtime, 'rescue', async () => {
    await releaseRow(runtime.db, {
      id: row.id,
      fence: row.fence,
      outcome: 'lease_lost',
      code: 'lease_lost',
      delayMs: 0,
      uncountAttempt: false,
      solo: true,
      calls: [],
    })
  })
