import type { Db, Sql } from '@aftercommit/platform/db'

/** Where in a row's life its dispatcher dies: it holds the row, or it has done what the row asks and told nobody. */
export type Moment = 'claimed' | 'performed'

/**
 * A database that one dispatcher loses for good when it works on a row of this action, as a process loses it by dying.
 * Everything that was committed stays, and nothing is committed afterwards.
 */
export const mortalDb = (
  db: Db,
  action: string,
  moment: Moment,
): { readonly db: Db; readonly died: () => boolean } => {
  let phase: 'alive' | 'doomed' | 'dead' = 'alive'
  const held = new Set<unknown>()
  const die = (): never => {
    phase = 'dead'
    throw new Error('this dispatcher is dead')
  }

  const query: Sql['query'] = async (text, values) => {
    const claims = text.includes('outbox_lease(')
    const marks = text.includes('set started_at = app_now()')
    if (phase === 'dead' && !claims) die()
    // The lanes are claimed together; a claim that comes later is still of the life before.
    if (phase === 'doomed' && !claims && !(moment === 'performed' && marks)) die()
    const result = await db.query<never>(text, values)
    const claimed = result.rows.filter(
      (row) => claims && isHeld(row) && Reflect.get(row, 'action') === action,
    )
    claimed.forEach((row) => held.add(idOf(row)))
    // Another row's mark is no sign that this one is being performed.
    const isMarked = marks && result.rows.some((row) => held.has(idOf(row)))
    if (phase === 'alive' && held.size > 0 && (moment === 'claimed' || isMarked)) phase = 'doomed'
    return result
  }
  const living = async <R>(work: () => Promise<R>): Promise<R> => (phase === 'alive' ? work() : die())

  return {
    died: () => phase === 'dead',
    db: {
      ...db,
      query,
      transact: (tenantId, work) => living(() => db.transact(tenantId, work)),
      transaction: (work) => living(() => db.transaction(work)),
    },
  }
}

/** A claim also answers rows that it paused, because their accounts are busy. */
const isHeld = (row: object): boolean => Reflect.get(row, 'state') === 'leased'
const idOf = (row: object): unknown => Reflect.get(row, 'id')
