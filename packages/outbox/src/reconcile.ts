import type { SettleTx } from './db.ts'
import type { Envelope } from './handler.ts'
import type { Reconciled, RecordedCall, Settled } from './outcome.ts'
import {
  budgetOf,
  endedBeforeWork,
  handBack,
  openAttempt,
  readEnvelope,
  reportSettled,
  untilLeaseEnds,
} from './pipeline.ts'
import type { Entry } from './registry.ts'
import { normalise } from './retry.ts'
import type { Runtime } from './runtime.ts'
import { settleTogether } from './settle.ts'
import { finishRows, pauseAccount, readTarget, releaseRow, type ClaimedRow, type TargetRow } from './sql.ts'

type ReconcileEntry<T extends SettleTx> = Extract<Entry<T>, { type: 'reconcile' }>

interface Loaded {
  readonly target: TargetRow
  readonly envelope: Envelope<unknown>
  readonly question: unknown
}

/** Asks the provider what became of an unknown effect, and settles the question together with its target. */
export const runReconcile = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
): Promise<void> => {
  const loaded = await load(runtime, entry, row)
  if (loaded === 'failed')
    return release(runtime, row, 'retrying', 'prepare_failed', entry.policy.backoff.maxMs, [])
  if (loaded === 'target_gone') return endAlone(runtime, row)
  if (runtime.stopping()) return handBack(runtime, row)
  const ended = endedBeforeWork(row, entry.action)
  if (ended) return resolve(runtime, entry, row, loaded, exhausted(entry), [], 'exhausted')
  if ((await runtime.markStarted(row)) === 'stale') {
    return runtime.report({ type: 'stale', action: row.action, step: 'start' })
  }
  const { attempt, calls, close } = openAttempt(runtime, row)
  let answer: Reconciled<unknown>
  try {
    answer = await entry.reconcile.ask(loaded.question, loaded.target.correlation ?? {}, attempt)
  } catch (error) {
    runtime.report({ type: 'error', where: 'reconcile', error })
    answer = { type: 'retry', code: 'handler_threw' }
  }
  close()
  await act(runtime, entry, row, loaded, answer, calls)
}

const load = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
): Promise<Loaded | 'target_gone' | 'failed'> => {
  const { target_id: id, target_fence: fence } = row
  if (id === null || fence === null) return 'target_gone'
  try {
    return await runtime.db.transact(row.tenant_id, async (tx) => {
      const target = await readTarget(tx.sql, { id, fence })
      if (!target) return 'target_gone'
      const envelope = readEnvelope(target, entry.action)
      if (!envelope) return 'failed'
      return { target, envelope, question: await entry.reconcile.load(tx, envelope) }
    })
  } catch (error) {
    runtime.report({ type: 'error', where: 'reconcile', error })
    return 'failed'
  }
}

const act = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  row: ClaimedRow,
  loaded: Loaded,
  answer: Reconciled<unknown>,
  calls: readonly RecordedCall[],
): Promise<void> => {
  const { action, policy } = entry
  switch (answer.type) {
    case 'found':
      return resolve(runtime, entry, row, loaded, { type: 'done', facts: answer.facts }, calls, undefined)
    case 'conflicting': {
      const outcome = {
        type: 'dead',
        class: 'uncertain',
        code: answer.code,
        owner: action.repairOwner,
      } as const
      return resolve(runtime, entry, row, loaded, outcome, calls, undefined)
    }
    case 'absent': {
      const graceLeftMs = row.created_at.getTime() + policy.graceMs - row.now.getTime()
      if (graceLeftMs > 0) return release(runtime, row, 'absent', 'within_grace', graceLeftMs, calls)
      const again = normalise(
        { type: 'retry', code: 'proved_absent', afterMs: 0 },
        action,
        budgetOf(loaded.target, 0),
        0,
      )
      return resolve(runtime, entry, row, loaded, again, calls, undefined)
    }
    case 'throttled': {
      if (row.account !== null) {
        const { code, afterMs: delayMs } = answer
        await pauseAccount(runtime.db, { account: row.account, delayMs, code, limit: 10_000 })
      }
      return release(runtime, row, 'throttled', answer.code, answer.afterMs, calls)
    }
    case 'retry': {
      const limits = { ...policy, repeat: 'safe', repairOwner: action.repairOwner } as const
      const settled = normalise(answer, limits, budgetOf(row, 1), runtime.random())
      if (settled.type === 'retrying') {
        return release(runtime, row, 'retrying', settled.code, settled.delayMs, calls)
      }
      return resolve(runtime, entry, row, loaded, exhausted(entry), calls, 'exhausted')
    }
  }
}

const exhausted = <T extends SettleTx>(entry: ReconcileEntry<T>): Settled<never> => ({
  type: 'dead',
  class: 'uncertain',
  code: 'reconcile_exhausted',
  owner: entry.action.repairOwner,
})

const resolve = <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ReconcileEntry<T>,
  question: ClaimedRow,
  { target, envelope }: Loaded,
  outcome: Settled<unknown>,
  calls: readonly RecordedCall[],
  reason: string | undefined,
): Promise<void> =>
  untilLeaseEnds(runtime, 'settle', async () => {
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
    }
    const result = await settleTogether(runtime.db, settlement, { question, calls, reason })
    if (result === 'stale') runtime.report({ type: 'stale', action: question.action, step: 'settle' })
    else reportSettled(runtime, target, outcome)
  })

const release = <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  outcome: 'retrying' | 'throttled' | 'absent',
  code: string,
  delayMs: number,
  calls: readonly RecordedCall[],
): Promise<void> =>
  untilLeaseEnds(runtime, 'settle', async () => {
    const uncountAttempt = outcome !== 'retrying'
    await releaseRow(runtime.db, {
      id: row.id,
      fence: row.fence,
      outcome,
      code,
      delayMs,
      uncountAttempt,
      solo: false,
      calls,
    })
  })

/** The target was settled by other means: the question has lost its subject. */
const endAlone = <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): Promise<void> =>
  untilLeaseEnds(runtime, 'settle', async () => {
    const { id, fence } = row
    await finishRows(runtime.db, [{ id, fence, outcome: 'superseded', reason: 'target_moved_on', calls: [] }])
  })
