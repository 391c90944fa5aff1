import type { SettleTx } from './db.ts'
import type { Runtime } from './runtime.ts'
import { deleteEndedRows, dropEndedMonth, type Retention } from './sql.ts'

/** Few enough that the statement is over in an instant. */
const ROWS_MAX = 1_000

/**
 * One bounded step of retention: a whole month at once where every way to end has outlived its days, single rows
 * otherwise. Answers whether there may be more to do.
 */
export const retainOnce = async <T extends SettleTx>(
  { db }: Pick<Runtime<T>, 'db'>,
  retention: Retention,
): Promise<boolean> => {
  const { succeededDays, suppressedDays, supersededDays } = retention
  if (succeededDays !== undefined && suppressedDays !== undefined && supersededDays !== undefined) {
    const longest = Math.max(succeededDays, suppressedDays, supersededDays)
    const month = await dropEndedMonth(db, longest)
    if (month !== 'none') return month === 'dropped'
  }
  return (await deleteEndedRows(db, retention, ROWS_MAX)) >= ROWS_MAX
}
