import type { ActionRequest, AnyAction } from './action.ts'
import type { EngineDb, SettleTx } from './db.ts'
import { enqueue } from './enqueue.ts'
import type { Envelope, OpaqueHandler } from './handler.ts'
import { announce } from './hints.ts'
import type { RecordedCall, Settled } from './outcome.ts'
import { reconcileName } from './registry.ts'
import {
  buryRow,
  finishRows,
  lockKeys,
  pauseAccount,
  promoteNext,
  releaseRow,
  restUnknown,
  type ClaimedRow,
  type Finish,
  type Sql,
} from './sql.ts'

/** Somebody else holds the row by now. Thrown inside the settling transaction, so that everything in it rolls back. */
export class StaleFence extends Error {
  constructor() {
    super('the fencing token has moved on')
    this.name = 'StaleFence'
  }
}

/** One row, how it ended, and what is needed to carry that through. */
export interface Settlement<T extends SettleTx> {
  readonly row: ClaimedRow
  readonly action: AnyAction
  readonly handler: OpaqueHandler<T>
  /** Undefined when the stored payload can't be read: then only the row can be settled, and a person must look. */
  readonly envelope: Envelope<unknown> | undefined
  readonly outcome: Settled<unknown>
  readonly plan: unknown
  readonly calls: readonly RecordedCall[]
  /** Claimed alone when it comes back. */
  readonly solo: boolean
  /** Whether the effect may exist although the row comes back; undefined when nothing new is known of it. */
  readonly uncertain: boolean | undefined
  /** Spends an attempt although none was started: preparing it failed. */
  readonly countAttempt: boolean
}

export type SettleResult = 'settled' | 'stale'

/** One throttled answer moves at most this many waiting rows out of the claim; the next one takes the rest. */
export const PAUSED_ROWS_MAX = 10_000
const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const REPEATS_MAX = 5

/**
 * Carries one outcome into domain and outbox, in one transaction and under the row's fence. The order is the same
 * everywhere: the domain locks its aggregate; ordering keys are locked; the row leaves or moves under its fence; the
 * key's next row is freed; what must follow is enqueued.
 */
export const settleRow = <T extends SettleTx>(
  db: EngineDb<T>,
  settlement: Settlement<T>,
): Promise<SettleResult> => settleTogether(db, settlement, undefined)

/** A reconcile row, ending with the row it asked about. */
export interface Answered {
  readonly question: ClaimedRow
  readonly calls: readonly RecordedCall[]
  /** Why the question ended; undefined when it was answered. */
  readonly reason: string | undefined
}

/** Settles a row and, in the same transaction and each under its own fence, the question that was asked about it. */
export const settleTogether = <T extends SettleTx>(
  db: EngineDb<T>,
  settlement: Settlement<T>,
  answered: Answered | undefined,
): Promise<SettleResult> =>
  repeatingOnConflict(async () => {
    const { handler, row, envelope, outcome, plan } = settlement
    const key = row.ordering_key === null ? undefined : { tenantId: row.tenant_id, key: row.ordering_key }
    try {
      await db.transact(row.tenant_id, async (tx) => {
        const following = envelope ? await handler.settle?.(tx, envelope, outcome, plan) : undefined
        await lockKeys(tx.sql, keysOf(row, following ?? []))
        if (answered) await endQuestion(tx.sql, answered)
        await moveRow(tx.sql, settlement)
        if (key && leavesQueue(outcome)) {
          const lane = await promoteNext(tx.sql, { ...key, afterId: row.id })
          // This process looks at the row's own lane again by itself.
          if (lane !== undefined && lane !== row.lane)
            tx.afterCommit?.((outside) => announce(outside, [lane]))
        }
        await enqueue(tx, following ?? [])
      })
      return 'settled'
    } catch (error) {
      if (error instanceof StaleFence) return 'stale'
      throw error
    }
  })

/** The row's own key and those of what follows it, to be locked together: two locks in turn can meet another's two. */
const keysOf = (
  row: ClaimedRow,
  following: readonly ActionRequest[],
): readonly { readonly tenantId: string; readonly key: string }[] =>
  [row.ordering_key, ...following.map((request) => request.orderingKey)].flatMap((key) =>
    key === null || key === undefined ? [] : [{ tenantId: row.tenant_id, key }],
  )

const endQuestion = async (sql: Sql, { question, calls, reason }: Answered): Promise<void> => {
  const { id, fence } = question
  const outcome = reason === undefined ? 'succeeded' : 'superseded'
  const ended = await finishRows(sql, [{ id, fence, outcome, reason, calls }])
  if (ended.size !== 1) throw new StaleFence()
}

/** A row that ends without a domain change, to be settled with others like it. */
export interface PlainFinish {
  readonly row: ClaimedRow
  readonly finish: Finish
}

/** Settles rows without an ordering key whose handlers change nothing in their domain, in one statement. */
export const finishUnkeyedRows = async <T extends SettleTx>(
  db: EngineDb<T>,
  items: readonly PlainFinish[],
): Promise<readonly SettleResult[]> => {
  const finishes = items.map(({ finish }) => finish)
  const gone = await repeatingOnConflict(() => finishRows(db, finishes))
  return items.map(({ row }) => (gone.get(row.id) === row.fence ? 'settled' : 'stale'))
}

/** The same for keyed rows: one transaction, which locks their keys first and frees their successors last. */
export const finishKeyedRows = async <T extends SettleTx>(
  db: EngineDb<T>,
  items: readonly PlainFinish[],
): Promise<readonly { readonly result: SettleResult; readonly freedLane: string | undefined }[]> => {
  const keys = items.flatMap(({ row }) =>
    row.ordering_key === null
      ? []
      : [
          {
            tenantId: row.tenant_id,
            key: row.ordering_key,
            afterId: row.id,
            fence: row.fence,
            lane: row.lane,
          },
        ],
  )
  const finishes = items.map(({ finish }) => finish)
  const freedLaneById = new Map<string, string | undefined>()
  const gone = await repeatingOnConflict(() =>
    db.transaction(async (sql) => {
      await lockKeys(sql, keys)
      const ids = await finishRows(sql, finishes)
      for (const key of keys.filter(({ afterId, fence }) => ids.get(afterId) === fence)) {
        freedLaneById.set(key.afterId, await promoteNext(sql, key))
      }
      return ids
    }),
  )
  return items.map(({ row }) => ({
    result: gone.get(row.id) === row.fence ? 'settled' : 'stale',
    freedLane: freedLaneById.get(row.id),
  }))
}

const leavesQueue = (outcome: Settled<unknown>): boolean => {
  switch (outcome.type) {
    case 'done':
    case 'suppressed':
    case 'obsolete':
    case 'dead':
      return true
    case 'retrying':
    case 'throttled':
    case 'unknown':
      return false
  }
}

/** Moves the row as its outcome says, or throws StaleFence. */
const moveRow = async <T extends SettleTx>(sql: Sql, settlement: Settlement<T>): Promise<void> => {
  if (!(await tryMove(sql, settlement))) throw new StaleFence()
}

const tryMove = async <T extends SettleTx>(sql: Sql, settlement: Settlement<T>): Promise<boolean> => {
  const { row, action, outcome, calls, solo, uncertain, countAttempt } = settlement
  const hold = { id: row.id, fence: row.fence, calls }
  switch (outcome.type) {
    case 'done':
    case 'suppressed':
    case 'obsolete':
      return (await finishRows(sql, [{ ...hold, ...finishOf(outcome) }])).size === 1
    case 'retrying':
      return releaseRow(sql, {
        ...hold,
        outcome: 'retrying',
        code: outcome.code,
        delayMs: outcome.delayMs,
        attemptsChange: countAttempt ? 1 : 0,
        solo,
        uncertain,
      })
    case 'throttled': {
      const { code, delayMs } = outcome
      const account = outcome.account ?? row.account
      if (account !== null) await pauseAccount(sql, { account, delayMs, code, limit: PAUSED_ROWS_MAX })
      return releaseRow(sql, {
        ...hold,
        outcome: 'throttled',
        code,
        delayMs,
        attemptsChange: -1,
        solo,
        uncertain,
      })
    }
    case 'unknown':
      return restUnknown(sql, {
        ...hold,
        code: outcome.code,
        correlation: outcome.correlation,
        reconcileAction: reconcileName(action.name),
      })
    case 'dead': {
      const { class: failure, code, owner } = outcome
      return buryRow(sql, {
        ...hold,
        death: { class: failure, code, owner },
        provedAbsent: uncertain === false,
      })
    }
  }
}

export const finishOf = (
  outcome: Extract<Settled<unknown>, { type: 'done' | 'suppressed' | 'obsolete' }>,
): { outcome: 'succeeded' | 'suppressed' | 'superseded'; reason: string | undefined } => {
  switch (outcome.type) {
    case 'done':
      return { outcome: 'succeeded', reason: undefined }
    case 'suppressed':
      return { outcome: 'suppressed', reason: outcome.reason }
    case 'obsolete':
      return { outcome: 'superseded', reason: outcome.reason }
  }
}

/** A settle that lost a deadlock is repeated: its outcome is known and must not be asked for again. */
export const repeatingOnConflict = async <R>(work: () => Promise<R>): Promise<R> => {
  for (let repeat = 1; ; repeat++) {
    try {
      return await work()
    } catch (error) {
      if (repeat >= REPEATS_MAX || !isConflict(error)) throw error
    }
  }
}

const isConflict = (error: unknown): boolean =>
  // Prisma reports a conflict of its own statements as P2034.
  codesOf(error).some((code) => code === DEADLOCK || code === SERIALIZATION_FAILURE || code === 'P2034')

/**
 * Whether the database was away, rather than against it: no connection, a connection that was cut, a server that
 * starts or stops (SQLSTATE classes 08 and 57P), that has no room, memory or connection left (class 53), that lets nobody
 * write (25006: a standby that is not promoted yet), or that was too slow (57014, 55P03); or no free connection in time.
 */
export const isOutage = (error: unknown): boolean =>
  codesOf(error).some((code) =>
    /^(08|53|57P)|^(25006|55P03|57014)$|^E[A-Z]+$|^P(1001|1002|1008|1017|2024|2028)$/.test(code),
  ) ||
  (error instanceof Error &&
    /connection (terminated|timeout)|timeout exceeded when trying to connect/i.test(error.message))

/** The codes of an error and of what caused it, outermost first. */
const codesOf = (error: unknown): readonly string[] => {
  const codes: string[] = []
  for (
    let cause: unknown = error, depth = 0;
    cause instanceof Error && depth < 5;
    cause = cause.cause, depth++
  ) {
    const code: unknown = Reflect.get(cause, 'code')
    if (typeof code === 'string') codes.push(code)
  }
  return codes
}
