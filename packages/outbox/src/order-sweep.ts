import type { SettleTx } from './db.ts'
import { announce } from './hints.ts'
import type { Runtime } from './runtime.ts'
import { findBrokenKeys, mendKey, type KeyRef } from './sql.ts'

/** Keys looked at in one go. */
const KEYS_MAX = 1_000

/**
 * Looks at the next keys, round and round, and puts in order what is not. Nothing should ever need it; each row that it
 * moves is reported. Answers how many it moved.
 */
export const orderSweepOf = <T extends SettleTx>(
  runtime: Pick<Runtime<T>, 'db' | 'report'>,
): (() => Promise<number>) => {
  let after: KeyRef | undefined
  return async () => {
    const { db, report } = runtime
    const { broken, last } = await findBrokenKeys(db, after, KEYS_MAX)
    after = last
    let total = 0
    for (const key of broken) {
      const { mended, lane } = await mendKey(db, key)
      total += mended
      if (mended > 0) report({ type: 'order_mended', rows: mended })
      if (lane !== undefined) {
        announce(db, [lane]).catch((error: unknown) => report({ type: 'error', where: 'hint', error }))
      }
    }
    return total
  }
}
