import type { SettleTx } from './db.ts'
import { announce } from './hints.ts'
import type { Runtime } from './runtime.ts'
import { freeSlots, takeSlots, type ClaimedRow } from './sql.ts'

const slotted = new WeakSet<ClaimedRow>()

/**
 * Of claimed rows, those that may run now: rows whose action bounds how many of an account run at a time need one of the
 * account's slots, which all dispatchers share. The others are paused by this, outside the claim index.
 */
export const takeSlotsFor = async <T extends SettleTx>(
  runtime: Runtime<T>,
  rows: readonly ClaimedRow[],
): Promise<readonly ClaimedRow[]> => {
  const asking = rows.flatMap((row) => {
    const slotsMax = runtime.registry.entryByName.get(row.action)?.action.accountConcurrencyMax
    return row.account === null || slotsMax === undefined ? [] : [{ row, slotsMax }]
  })
  if (asking.length === 0) return rows
  const asked = new Set(asking.map(({ row }) => row))
  const given = await takeSlots(
    runtime.db,
    asking.map(({ row: { id, fence }, slotsMax }) => ({ id, fence, slotsMax })),
  ).catch((error: unknown) => {
    // Without a slot nobody is called; the leases of these rows bring them back.
    runtime.report({ type: 'error', where: 'slots', error })
    return new Set<string>()
  })
  for (const row of asked) if (given.has(row.id)) slotted.add(row)
  return rows.filter((row) => !asked.has(row) || given.has(row.id))
}

export const holdsSlot = (row: ClaimedRow): boolean => slotted.has(row)

/** Gives back a row's slot, if it has one, to the next row of its account. Otherwise its lease does so. */
export const freeSlotOf = async <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): Promise<void> => {
  if (!slotted.delete(row)) return
  try {
    await freeSlotsOf(runtime, [row], row.lane)
  } catch (error) {
    runtime.report({ type: 'error', where: 'slots', error })
  }
}

/** Frees slots, and those that a dead holder left; tells whom it concerns, but for a lane that looks again by itself. */
export const freeSlotsOf = async <T extends SettleTx>(
  runtime: Runtime<T>,
  holders: readonly ClaimedRow[],
  ownLane?: string,
): Promise<number> => {
  const lanes = await freeSlots(runtime.db, holders)
  const others = lanes.filter((lane) => lane !== ownLane)
  if (others.length > 0) {
    announce(runtime.db, others).catch((error: unknown) =>
      runtime.report({ type: 'error', where: 'hint', error }),
    )
  }
  return lanes.length
}
