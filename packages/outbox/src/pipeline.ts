import type { AnyAction } from './action.ts'
import type { SettleTx } from './db.ts'
import { envelopeOf } from './envelope.ts'
import type { Attempt, Envelope, OpaqueHandler } from './handler.ts'
import type { Outcome, Prepared, RecordedCall, Settled } from './outcome.ts'
import type { Entry } from './registry.ts'
import { normalise } from './retry.ts'
import { CLAIMS_MAX, settleReserveMs, type Runtime } from './runtime.ts'
import { finishOf, settleRow, type Settlement } from './settle.ts'
import { releaseRow, type ClaimedRow } from './sql.ts'

type ActionEntry<T extends SettleTx> = Extract<Entry<T>, { type: 'action' }>

/** Takes one claimed row from claim to settle. Never throws: what it can't settle, its lease gives back. */
export const runAction = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ActionEntry<T>,
  row: ClaimedRow,
): Promise<void> => {
  const { action, handler } = entry
  const finish = settler(runtime, entry, row)
  const ended = endedBeforeWork(row, action)
  if (ended) return finish(ended, {})

  const envelope = readEnvelope(row, action)
  if (!envelope) {
    return finish(dead('validation', 'payload_unreadable', action), {})
  }
  const prepared = await prepare(runtime, handler, envelope)
  if (prepared.type !== 'go') {
    return finish(normalise(prepared, action, budgetOf(row, 0), runtime.random()), { envelope })
  }
  if (runtime.stopping()) return handBack(runtime, row)
  if ((await runtime.markStarted(row)) === 'stale') {
    return runtime.report({ type: 'stale', action: row.action, step: 'start' })
  }

  const { attempt, calls, close } = openAttempt(runtime, row)
  const outcome = await perform(runtime, handler, prepared.plan, attempt)
  close()
  const interrupted = runtime.shutdown.aborted && (outcome.type === 'retry' || outcome.type === 'unknown')
  if (interrupted && action.repeat === 'safe') return handBack(runtime, row, calls)
  const settled = normalise(outcome, action, budgetOf(row, 1), runtime.random())
  return finish(settled, { envelope, plan: prepared.plan, calls })
}

const dead = (
  failure: 'validation' | 'terminal' | 'transient',
  code: string,
  action: AnyAction,
): Settled<never> => ({ type: 'dead', class: failure, code, owner: action.repairOwner })

/** Rows that are claimed only to be ended. */
export const endedBeforeWork = (row: ClaimedRow, action: AnyAction): Settled<never> | undefined => {
  if (row.doomed) return dead('terminal', 'predecessor_dead', action)
  if (row.claims > CLAIMS_MAX) return dead('transient', 'crash_loop', action)
  return undefined
}

export const readEnvelope = (row: ClaimedRow, action: AnyAction): Envelope<unknown> | undefined => {
  try {
    return envelopeOf(row, action)
  } catch {
    // The reason is the row's content, which no log may show; the caller names the row dead with a code.
    return undefined
  }
}

export const budgetOf = (row: ClaimedRow, startedNow: 0 | 1): { attempts: number; elapsedMs: number } => ({
  attempts: row.attempts + startedNow,
  elapsedMs: row.budget_from === null ? 0 : Math.max(0, row.now.getTime() - row.budget_from.getTime()),
})

const prepare = async <T extends SettleTx>(
  runtime: Runtime<T>,
  handler: OpaqueHandler<T>,
  envelope: Envelope<unknown>,
): Promise<Prepared<unknown>> => {
  try {
    return await runtime.db.transact(envelope.tenantId, (tx) => handler.prepare(tx, envelope))
  } catch (error) {
    runtime.report({ type: 'error', where: 'prepare', error })
    return { type: 'retry', code: 'prepare_failed' }
  }
}

const perform = async <T extends SettleTx>(
  runtime: Runtime<T>,
  handler: OpaqueHandler<T>,
  plan: unknown,
  attempt: Attempt,
): Promise<Outcome<unknown>> => {
  try {
    return await handler.perform(plan, attempt)
  } catch (error) {
    runtime.report({ type: 'error', where: 'perform', error })
    return { type: 'unknown', code: 'handler_threw', correlation: {} }
  }
}

/** An attempt whose signal aborts in time to settle before the lease ends, measured on this process's own clock. */
export const openAttempt = <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
): { attempt: Attempt; calls: readonly RecordedCall[]; close: () => void } => {
  const calls: RecordedCall[] = []
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), runtime.leaseMs - settleReserveMs(runtime.leaseMs))
  const signal = AbortSignal.any([deadline.signal, runtime.shutdown])
  return {
    attempt: { now: row.now, signal, record: (call) => void calls.push(call) },
    calls,
    close: () => clearTimeout(timer),
  }
}

/** Gives an unstarted (or interrupted, repeatable) row back at once; the attempt, if any, is not counted. */
export const handBack = async <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  calls?: readonly RecordedCall[],
): Promise<void> => {
  const started = calls !== undefined
  await untilLeaseEnds(runtime, 'hand_back', async () => {
    await releaseRow(runtime.db, {
      id: row.id,
      fence: row.fence,
      outcome: 'handed_back',
      code: 'shutdown',
      delayMs: 0,
      uncountAttempt: started,
      solo: false,
      calls: calls ?? [],
    })
  })
  runtime.report({ type: 'handed_back', action: row.action })
}

interface Attempted {
  readonly envelope?: Envelope<unknown>
  readonly plan?: unknown
  readonly calls?: readonly RecordedCall[]
  readonly solo?: boolean
}

/** Settles one row by the cheapest transaction that its handler allows, and reports how it went. */
export const settler =
  <T extends SettleTx>(runtime: Runtime<T>, entry: Pick<Entry<T>, 'action' | 'handler'>, row: ClaimedRow) =>
  async (
    outcome: Settled<unknown>,
    { envelope, plan, calls = [], solo = false }: Attempted,
  ): Promise<void> => {
    const { action, handler } = entry
    const settlement: Settlement<T> = { row, action, handler, envelope, outcome, plan, calls, solo }
    await untilLeaseEnds(runtime, 'settle', async () => {
      const result = await settleCheaply(runtime, settlement)
      if (result === 'stale') runtime.report({ type: 'stale', action: row.action, step: 'settle' })
      else reportSettled(runtime, row, outcome)
    })
  }

const settleCheaply = <T extends SettleTx>(runtime: Runtime<T>, settlement: Settlement<T>) => {
  const { row, handler, outcome, calls } = settlement
  const ends = outcome.type === 'done' || outcome.type === 'suppressed' || outcome.type === 'obsolete'
  if (handler.settle || !ends) return settleRow(runtime.db, settlement)
  return runtime.finishPlain({
    row,
    finish: { id: row.id, fence: row.fence, ...finishOf(outcome), calls },
  })
}

export const reportSettled = <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  outcome: Settled<unknown>,
): void => {
  const code = 'code' in outcome ? outcome.code : 'reason' in outcome ? outcome.reason : undefined
  runtime.report({
    type: 'settled',
    action: row.action,
    outcomeType: outcome.type,
    code,
    failureClass: outcome.type === 'dead' ? outcome.class : undefined,
    attempts: row.attempts,
  })
}

const SETTLE_AGAIN_MS = 200

/**
 * Tries to settle until it works or the lease is over. A known outcome is worth more than a repeat: a database that
 * is away for a moment must not turn an answered call into an unknown one.
 */
export const untilLeaseEnds = async <T extends SettleTx>(
  runtime: Runtime<T>,
  where: string,
  work: () => Promise<void>,
): Promise<void> => {
  const triesMax = Math.max(1, Math.floor(settleReserveMs(runtime.leaseMs) / SETTLE_AGAIN_MS))
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      runtime.report({ type: 'error', where, error })
      if (tries >= triesMax) return
      await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS))
    }
  }
}
