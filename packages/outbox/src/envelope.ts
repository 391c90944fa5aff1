import { operationIdOf, type AnyAction } from './action.ts'
import type { Envelope } from './handler.ts'
import type { ClaimedRow } from './sql.ts'

/** The row as its handler sees it. Throws when the stored payload does not fit the action's schema. */
export const envelopeOf = (row: ClaimedRow, action: AnyAction): Envelope<unknown> => ({
  id: row.id,
  tenantId: row.tenant_id,
  identity: row.identity,
  // A hash, and most handlers ask for none.
  get operationId() {
    return operationIdOf(row.tenant_id, row.identity)
  },
  payload: action.payload.parse(row.payload),
  aggregateRevision: row.aggregate_revision ?? undefined,
  traceParent: row.trace_parent ?? undefined,
  attempts: row.attempts,
  startedBefore: row.first_started_at !== null,
})
