import type { EnqueueTx } from './enqueue.ts'
import type { EngineTx } from './handler.ts'
import type { Sql } from './sql.ts'

/** A transaction the engine may settle in. */
export type SettleTx = EngineTx & EnqueueTx

/** The database as the engine needs it; the application's own door fits. */
export interface EngineDb<T extends SettleTx> extends Sql {
  transact<R>(tenantId: string, work: (tx: T) => Promise<R>): Promise<R>
  transaction<R>(work: (sql: Sql) => Promise<R>): Promise<R>
  listen(
    channel: string,
    heard: (payload: string) => void,
    lost: (error: Error) => void,
  ): Promise<() => Promise<void>>
}
