/** Writing rows, inside the caller's transaction. This entry needs nothing but a connection. */
import type { ActionRequest, Subject } from './action.ts'
import { announce } from './hints.ts'
import { insertRows, supersedeRows, type Sql } from './sql.ts'

export { bindTenant, throughPrisma, type RawQueries } from './sql.ts'

/**
 * An open transaction, bound to a tenant. If it is not yet, `tenantId` lets `enqueue` bind it with the rows it writes, which
 * saves the call of `bindTenant`; of a transaction bound to another tenant, that is an error. `afterCommit` runs a hint outside of it once it has committed; it is optional,
 * because polling finds every row that no hint announced.
 */
export interface EnqueueTx {
  readonly sql: Sql
  readonly tenantId?: string
  readonly afterCommit?: (hint: (outside: Sql) => Promise<void>) => void
}

export interface Enqueued {
  readonly id: string
  /** False when this transition had been enqueued before: the row already there is reported. */
  readonly fresh: boolean
}

/**
 * Writes the rows with the transaction: they exist exactly if it commits. One call per transaction is best, because
 * the ordering keys of one call are locked in one global order.
 *
 * Throws when an identity is taken by other content (a defect: two different effects claim to be one).
 */
export const enqueue = async (
  tx: EnqueueTx,
  requests: readonly ActionRequest[],
): Promise<readonly Enqueued[]> => {
  if (requests.length === 0) return []
  const rows = await insertRows(tx.sql, requests, tx.tenantId)
  const lanes = [
    ...new Set(requests.filter((_, index) => rows[index]?.state === 'ready').map((request) => request.lane)),
  ]
  if (lanes.length > 0) tx.afterCommit?.((outside) => announce(outside, lanes))
  return rows.map((row) => ({ id: row.outbox_id, fresh: row.fresh }))
}

/**
 * Ends an aggregate's pending actions of the given names, and marks their dead letters as superseded, so that these
 * hold back nothing any more. `inFlight` counts those left alone because their effect may exist: leased rows, unknown
 * ones, and rows or dead letters with an unanswered attempt in their past. If there are any, enqueue the correcting
 * action behind them under the same ordering key.
 */
export const supersede = async (
  tx: EnqueueTx,
  subject: Subject,
  actions: readonly string[],
  reason: string,
): Promise<{ ended: number; inFlight: number }> => {
  const { ended, inFlight, readyLanes } = await supersedeRows(tx.sql, subject, actions, reason)
  if (readyLanes.length > 0) tx.afterCommit?.((outside) => announce(outside, readyLanes))
  return { ended, inFlight }
}
