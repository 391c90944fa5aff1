import type { SettleTx } from './db.ts'
import type { Settled } from './outcome.ts'
import { askingFor } from './held.ts'
import { budgetOf, domainIsTold, endedBeforeWork, readEnvelope, settler, untilLeaseEnds } from './pipeline.ts'
import type { Entry } from './registry.ts'
import { normalise } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { releaseRow, takeOverLostRows, type Claimant, type ClaimedRow } from './sql.ts'

/** Few, because all of them are settled at once, each in a transaction, and must be before their new lease ends. */
export const RESCUED_ROWS_MAX = 20

/**
 * Takes over rows whose lease ran out and decides what each becomes: not started → ready, no attempt spent; started
 * → as its repeat rule says; started by the claim, which only a row is that may be repeated → ready, no attempt spent,
 * since it may be beside the one that killed its worker. Whatever comes back is claimed alone. Answers how many it took.
 */
export const rescueLostRows = async <T extends SettleTx>(
  runtime: Runtime<T>,
  claimant: Claimant,
): Promise<number> => {
  const { rows } = await askingFor(async () => ({
    rows: await takeOverLostRows(runtime.db, claimant, RESCUED_ROWS_MAX),
  }))
  await Promise.all(
    rows.map(async (row) => {
      const entry = runtime.registry.entryByName.get(row.action)
      if (entry) await rescue(runtime, entry, row)
      await runtime.resumeAnother(row)
    }),
  )
  return rows.length
}

const rescue = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: Entry<T>,
  row: ClaimedRow,
): Promise<void> => {
  const started = row.started_at !== null
  runtime.report({ type: 'lease_lost', action: row.action, started })
  // A question to the provider is a read: asking it again is always safe, and ends by its own limits.
  if (entry.type === 'reconcile') return giveBack(runtime, row, undefined)
  if (!started) return giveBack(runtime, row, undefined)
  const ended = endedBeforeWork(row, entry.action)
  if (!ended && row.begun) return giveBack(runtime, row, true)
  const outcome = ended ?? afterLostLease(entry, row)
  if (outcome.type === 'retrying') return giveBack(runtime, row, true)
  const envelope = domainIsTold(row) ? readEnvelope(row, entry.action) : undefined
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

const giveBack = <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  uncertain: true | undefined,
): Promise<void> =>
  untilLeaseEnds(runtime, row, 'rescue', async () => {
    await releaseRow(runtime.db, {
      id: row.id,
      fence: row.fence,
      outcome: 'lease_lost',
      code: 'lease_lost',
      delayMs: 0,
      attemptsChange: row.begun ? -1 : 0,
      startTakenBack: row.begun,
      solo: true,
      uncertain,
      calls: [],
    })
  })
