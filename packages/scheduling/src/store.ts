/**
 * Every statement on scheduling's tables, a file per table's owner. Reads answer parsed domain values; row-level security
 * keeps them inside the transaction's tenant, so no statement here names one except to insert.
 */
export * from './store/meetings.ts'
export * from './store/evidence.ts'
export * from './store/proposals.ts'
export * from './store/events.ts'
export * from './store/exceptions.ts'
export * from './store/connections.ts'
export * from './store/lists.ts'
export * from './store/contacts.ts'
export * from './store/holds.ts'
export * from './store/decisions.ts'
export * from './store/repairs.ts'
export * from './store/tracing.ts'
