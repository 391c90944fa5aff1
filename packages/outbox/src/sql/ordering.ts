/** Ordering keys: their locks, and who is next. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

/** Locks ordering keys until the transaction ends, in one global order. Comes before any row lock. */
export const lockKeys = async (
  sql: Sql,
  keys: readonly { readonly tenantId: string; readonly key: string }[],
): Promise<void> => {
  if (keys.length === 0) return
  await sql.query('select outbox_lock_keys($1::uuid[], $2::text[])', [
    keys.map((key) => key.tenantId),
    keys.map((key) => key.key),
  ])
}

/**
 * Frees the next row of a key. Call under the key's lock, after the statement that removed the row `afterId`. Answers
 * the lane that has work now, if one has.
 */
export const promoteNext = async (
  sql: Sql,
  key: { readonly tenantId: string; readonly key: string; readonly afterId: string },
): Promise<string | undefined> => {
  const { rows } = await sql.query<{ lane: string | null }>('select outbox_promote($1, $2, $3) as lane', [
    key.tenantId,
    key.key,
    key.afterId,
  ])
  return one(rows).lane ?? undefined
}
