import { openAttempt, type OpenAttempt } from './attempt.ts'
import type { SettleTx } from './db.ts'
import type { Envelope } from './handler.ts'
import type { Reconciled, RecordedCall, Settled } from './outcome.ts'
import {
  budgetOf,
  domainIsTold,
  endedBeforeWork,
  handBack,
  readEnvelope,
  reportSettled,
  untilLeaseEnds,
} from './pipeline.ts'
import type { Entry } from './registry.ts'
import { normalise, restMs, THROTTLED_TOO_LONG, throttledTooLong } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { PAUSED_ROWS_MAX, settleTogether } from './settle.ts'
import { finishRows, pauseAccount, readTarget, releaseRow, type ClaimedRow } from './sql.ts'

type ReconcileEntry<T extends SettleTx> = Extract<Entry<T>, { type: 'reconcile' }>

/** The row in question. Without an envelope when its payload can't be read: then it can only be ended. */
interface Asked {
  readonly target: ClaimedRow
  readonly envelope: Envelope<unknown> | undefined
}

/** Asks the provider what became of an unknown effect, and settles the question together with its target. */
export const runReconcile = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
): Promise<void> => {
  if (runtime.stopping()) return handBack(runtime, row, { contact: false, begun: false })
  const { target_id: id, target_fence: fence } = row
  const target = id === null || fence === null ? undefined : await readTarget(runtime.db, { id, fence })
  if (!target) return endAlone(runtime, row)
  const envelope = readEnvelope(target, entry.action)
  const asked = { target, envelope: domainIsTold(row) ? envelope : undefined }
  if (endedBeforeWork(row, entry.action)) {
    return resolve(runtime, entry, row, asked, uncertainDeath(entry, 'reconcile_exhausted'), [], 'exhausted')
  }
  if (!envelope) {
    return resolve(runtime, entry, row, asked, uncertainDeath(entry, 'payload_unreadable'), [], 'unreadable')
  }
  if ((await runtime.markStarted(row)) === 'stale') {
    runtime.report({ type: 'stale', action: row.action, step: 'start' })
    return
  }
  const opened = openAttempt(runtime, row)
  const { calls } = opened
  const answer = await ask(runtime, entry, row, { target, envelope }, opened)
  opened.close()
  if (runtime.shutdown.isOver() && answer.type === 'retry') {
    return handBack(runtime, row, { contact: true, uncertain: false, calls })
  }
  await act(runtime, entry, row, asked, answer, calls)
}

/** One question. Failing to put it counts like a provider that gives no answer: the question's own limits bound both. */
const ask = async <T extends SettleTx>(
  runtime: Runtime<T>,
  { reconcile }: ReconcileEntry<T>,
  row: ClaimedRow,
  { target, envelope }: { readonly target: ClaimedRow; readonly envelope: Envelope<unknown> },
  { attempt, inTime }: OpenAttempt,
): Promise<Reconciled<unknown>> => {
  try {
    const question = await runtime.db.transact(row.tenant_id, (tx) => reconcile.load(tx, envelope))
    const answer = await inTime(() => reconcile.ask(question, target.correlation ?? {}, attempt))
    return answer ?? { type: 'retry', code: 'handler_overran' }
  } catch (error) {
    runtime.report({ type: 'error', where: 'reconcile', error })
    return { type: 'retry', code: 'handler_threw' }
  }
}

const act = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
  asked: Asked,
  answer: Reconciled<unknown>,
  calls: readonly RecordedCall[],
): Promise<void> => {
  const { action, policy } = entry
  switch (answer.type) {
    case 'found':
      return resolve(runtime, entry, row, asked, { type: 'done', facts: answer.facts }, calls, undefined)
    case 'conflicting': {
      const outcome = uncertainDeath(entry, answer.code)
      return resolve(runtime, entry, row, asked, outcome, calls, undefined)
    }
    case 'absent': {
      // A question whose time were unknown would be given the whole grace.
      const graceLeftMs = (row.asked_at ?? row.now).getTime() + policy.graceMs - row.now.getTime()
      if (graceLeftMs > 0) return release(runtime, row, 'absent', 'within_grace', graceLeftMs, calls)
      if (answer.verdict) {
        const died = normalise({ type: 'dead', ...answer.verdict }, action, budgetOf(asked.target, 0), 0)
        return resolve(runtime, entry, row, asked, died, calls, undefined)
      }
      const again = normalise(
        { type: 'retry', code: 'proved_absent', afterMs: 0 },
        action,
        budgetOf(asked.target, 0),
        0,
      )
      return resolve(runtime, entry, row, asked, again, calls, undefined)
    }
    case 'throttled': {
      const { code, afterMs } = answer
      const account = answer.account ?? row.account
      const delayMs = restMs(afterMs, policy.backoff)
      if (throttledTooLong(budgetOf(row, 0), delayMs, action)) {
        const outcome = uncertainDeath(entry, THROTTLED_TOO_LONG)
        return resolve(runtime, entry, row, asked, outcome, calls, 'exhausted')
      }
      return release(runtime, row, 'throttled', code, delayMs, calls, account ?? undefined)
    }
    case 'retry': {
      const limits = { ...policy, repeat: 'safe', repairOwner: action.repairOwner } as const
      const settled = normalise(answer, limits, budgetOf(row, 1), runtime.random())
      if (settled.type === 'retrying') {
        return release(runtime, row, 'retrying', settled.code, settled.delayMs, calls)
      }
      return resolve(
        runtime,
        entry,
        row,
        asked,
        uncertainDeath(entry, 'reconcile_exhausted'),
        calls,
        'exhausted',
      )
    }
  }
}

const uncertainDeath = <T extends SettleTx>(entry: ReconcileEntry<T>, code: string): Settled<never> => ({
  type: 'dead',
  class: 'uncertain',
  code,
  owner: entry.action.repairOwner,
})

const resolve = <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
  { target, envelope }: Asked,
  outcome: Settled<unknown>,
  calls: readonly RecordedCall[],
  reason: string | undefined,
): Promise<void> =>
  untilLeaseEnds(runtime, row, 'settle', async () => {
    const { action, handler } = entry
    const settlement = {
      row: target,
      action,
      handler,
      envelope,
      outcome,
      plan: undefined,
      calls: [],
      solo: true,
      // Only a proof of absence brings the row back.
      uncertain: false,
      countAttempt: false,
    }
    const result = await settleTogether(runtime.db, settlement, { question: row, calls, reason })
    if (result === 'stale') runtime.report({ type: 'stale', action: row.action, step: 'settle' })
    else reportSettled(runtime, target, outcome)
  })

/** Under the fence first: a stale holder rests no account. */
const release = <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  outcome: 'retrying' | 'throttled' | 'absent',
  code: string,
  delayMs: number,
  calls: readonly RecordedCall[],
  restingAccount?: string,
): Promise<void> =>
  untilLeaseEnds(runtime, row, 'settle', async () => {
    const released = await runtime.db.transaction(async (sql) => {
      const attemptsChange = outcome === 'retrying' ? (0 as const) : (-1 as const)
      const hold = { id: row.id, fence: row.fence, outcome, code, delayMs, attemptsChange, calls }
      const moved = await releaseRow(sql, { ...hold, solo: false, uncertain: undefined })
      if (moved && restingAccount !== undefined) {
        await pauseAccount(sql, { account: restingAccount, delayMs, code, limit: PAUSED_ROWS_MAX })
      }
      return moved
    })
    if (!released) runtime.report({ type: 'stale', action: row.action, step: 'settle' })
  })

/** The target was settled by other means: the question has lost its subject. */
const endAlone = <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): Promise<void> =>
  untilLeaseEnds(runtime, row, 'settle', async () => {
    const { id, fence } = row
    await finishRows(runtime.db, [{ id, fence, outcome: 'superseded', reason: 'target_moved_on', calls: [] }])
  })
