import type { ClaimedRow } from './sql.ts'

/**
 * When this process asked for a row, on its own monotonic clock. A lease began no earlier than that, so what is left of
 * it can be told without comparing this clock with the database's.
 */
const askedAtMsByRow = new WeakMap<ClaimedRow, number>()

/** Runs a claim and remembers when it was sent. */
export const askingFor = async (
  claim: () => Promise<readonly ClaimedRow[]>,
): Promise<readonly ClaimedRow[]> => {
  const askedAtMs = performance.now()
  const rows = await claim()
  for (const row of rows) askedAtMsByRow.set(row, askedAtMs)
  return rows
}

/** How much of a row's lease is surely left, in milliseconds; never negative. */
export const leaseLeftMs = (row: ClaimedRow, leaseMs: number): number => {
  const nowMs = performance.now()
  return Math.max(0, (askedAtMsByRow.get(row) ?? nowMs) + leaseMs - nowMs)
}
