import type { SettleTx } from './db.ts'
import type { Runtime } from './runtime.ts'
import { buryRow, lockKeys, promoteNext, takeUnknownRows } from './sql.ts'

const UNKNOWN_ROWS_MAX = 100
const LEASE_MS = 60_000

/**
 * Buries rows whose action nobody knows any more. This is the one ending that no domain hears of, because nobody is left
 * who could tell it; the dead letter itself is the message. Answers how many it buried.
 */
export const buryUnknownRows = async <T extends SettleTx>(runtime: Runtime<T>): Promise<number> => {
  const { db, registry, retired, unknownGraceMs } = runtime
  const rows = await takeUnknownRows(db, {
    known: registry.names,
    retired,
    graceMs: unknownGraceMs,
    leaseMs: LEASE_MS,
    limit: UNKNOWN_ROWS_MAX,
  })
  for (const { id, fence, tenant_id: tenantId, ordering_key: key, action } of rows) {
    const buried = await db.transaction(async (sql) => {
      if (key !== null) await lockKeys(sql, [{ tenantId, key }])
      const death = { class: 'terminal', code: 'unknown_action', owner: 'operations' } as const
      const done = await buryRow(sql, { id, fence, death, provedAbsent: false, calls: [] })
      if (done && key !== null) await promoteNext(sql, { tenantId, key, afterId: id })
      return done
    })
    if (!buried) continue
    runtime.report({
      type: 'settled',
      action,
      outcomeType: 'dead',
      code: 'unknown_action',
      failureClass: 'terminal',
      attempts: 0,
    })
  }
  return rows.length
}
