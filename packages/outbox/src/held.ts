import type { ClaimedRow } from './sql.ts'

/**
 * Runs a claim and notes when it was sent, on this process's own monotonic clock. A lease began no earlier than that, so what
 * is left of it can be told without comparing this clock with the database's.
 */
export const askingFor = async <C extends { readonly rows: readonly ClaimedRow[] }>(
  claim: () => Promise<C>,
): Promise<C> => {
  const askedAtMs = performance.now()
  const claimed = await claim()
  for (const row of claimed.rows) row.claimSentAtMs = askedAtMs
  return claimed
}

/** How much of a row's lease is surely left, in milliseconds; never negative. */
export const leaseLeftMs = (row: ClaimedRow, leaseMs: number): number =>
  Math.max(0, leaseEndsAtMs(row, leaseMs) - performance.now())

/** When a row's lease may end at the earliest, by `performance.now()`. */
export const leaseEndsAtMs = (row: ClaimedRow, leaseMs: number): number =>
  (row.claimSentAtMs ?? performance.now()) + leaseMs
