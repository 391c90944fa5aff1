import type { ClaimedRow } from './sql.ts'

/**
 * Runs a claim and notes when it was sent, on this process's own monotonic clock. A lease began no earlier than that, so what
 * is left of it can be told without comparing this clock with the database's.
 */
export const askingFor = async (
  claim: () => Promise<readonly ClaimedRow[]>,
): Promise<readonly ClaimedRow[]> => {
  const askedAtMs = performance.now()
  const rows = await claim()
  for (const row of rows) row.claimSentAtMs = askedAtMs
  return rows
}

/** How much of a row's lease is surely left, in milliseconds; never negative. */
export const leaseLeftMs = (row: ClaimedRow, leaseMs: number): number => {
  const nowMs = performance.now()
  return Math.max(0, (row.claimSentAtMs ?? nowMs) + leaseMs - nowMs)
}
