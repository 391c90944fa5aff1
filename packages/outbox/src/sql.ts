/**
 * Every statement on the engine's tables, by what it is for; no file outside `sql/` names them. The functions that must
 * be atomic for a role that may not touch the tables live in the migration, and are called from here.
 *
 * Rules that hold for all of them: time is the database's (`app_now()`); a row is changed by primary key and fence
 * alone, never by state, or the planner may drive the statement from a bloated partial index; many rows are named by
 * `id = any(…)` and not joined, or a plan made for an empty table walks the whole index at every call; key locks come before
 * row locks, and a promotion is a later statement than the removal it follows.
 */
export type { Sql } from './connection.ts'
export * from './sql/accounts.ts'
export * from './sql/claim.ts'
export * from './sql/dead-letters.ts'
export * from './sql/due.ts'
export * from './sql/enqueue.ts'
export * from './sql/gauges.ts'
export * from './sql/operate.ts'
export * from './sql/ordering.ts'
export * from './sql/prisma.ts'
export * from './sql/reconcile.ts'
export * from './sql/replicas.ts'
export * from './sql/retention.ts'
export * from './sql/settle.ts'
export * from './sql/sweep.ts'
export type { ClaimedRow, Hold } from './sql/rows.ts'
