import type { AnyAction } from './action.ts'
import { openAttempt, type OpenAttempt } from './attempt.ts'
import type { SettleTx } from './db.ts'
import { envelopeOf } from './envelope.ts'
import type { Envelope, OpaqueHandler } from './handler.ts'
import { leaseLeftMs } from './held.ts'
import { go, type Outcome, type Prepared, type RecordedCall, type Settled } from './outcome.ts'
import type { Entry } from './registry.ts'
import { normalise, type Budget } from './retry.ts'
import { ENDINGS_MAX, LOST_LEASES_MAX, type Runtime } from './runtime.ts'
import { finishOf, isOutage, settleRow, type Settlement } from './settle.ts'
import { releaseRow, type ClaimedRow } from './sql.ts'

type ActionEntry<T extends SettleTx> = Extract<Entry<T>, { type: 'action' }>

/** Takes one claimed row from claim to settle. What it can't settle, its lease gives back. */
export const runAction = async <T extends SettleTx>(
  runtime: Runtime<T>,
  entry: ActionEntry<T>,
  row: ClaimedRow,
): Promise<void> => {
  if (runtime.stopping()) return handBack(runtime, row, { contact: false, begun: row.begun })
  const { action, handler } = entry
  const finish = settler(runtime, entry, row)
  const envelope = readEnvelope(row, action)
  if (!envelope) return finish(dead('validation', 'payload_unreadable', action), {})
  const ended = endedBeforeWork(row, action)
  if (ended) return finish(ended, domainIsTold(row) ? { envelope } : {})

  const prepared = handler.prepare ? await prepare(runtime, handler.prepare, envelope) : go(envelope)
  if (prepared.type !== 'go') {
    const settled = normalise(prepared, action, budgetOf(row, 1), runtime.random())
    return finish(settled, { envelope, countAttempt: true })
  }
  if (runtime.stopping()) return handBack(runtime, row, { contact: false, begun: row.begun })
  if (!(row.begun || (await runtime.markStarted(row)) === 'started') || leaseIsOver(runtime, row)) {
    runtime.report({ type: 'stale', action: row.action, step: 'start' })
    return
  }

  const opened = openAttempt(runtime, row)
  const { calls } = opened
  const outcome = await perform(runtime, handler, prepared.plan, opened)
  opened.close()
  const uncertain = outcome.type === 'unknown'
  if (runtime.shutdown.isOver() && mayRepeat(outcome, action)) {
    return handBack(runtime, row, { contact: true, uncertain, calls })
  }
  const settled = normalise(outcome, action, budgetOf(row, 1), runtime.random())
  return finish(settled, { envelope, plan: prepared.plan, calls, uncertain })
}

/** A holder that woke up, or had its turn, too late must not call anybody: others may hold the row by now, or have done it. */
const leaseIsOver = <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): boolean =>
  leaseLeftMs(row, runtime.leaseMsOf(row.action)) === 0

/** Whether an attempt that a shutdown cut short may simply be made again, and is then not counted. */
const mayRepeat = (outcome: Outcome<unknown>, action: AnyAction): boolean =>
  outcome.type === 'retry' ||
  (outcome.type === 'unknown' && (action.repeat === 'safe' || action.repeat === 'resend'))

const dead = (
  failure: 'validation' | 'terminal' | 'uncertain' | 'transient',
  code: string,
  action: AnyAction,
): Settled<never> => ({ type: 'dead', class: failure, code, owner: action.repairOwner })

/** Rows that are claimed, or taken over, only to be ended. */
export const endedBeforeWork = (row: ClaimedRow, action: AnyAction): Settled<never> | undefined => {
  if (row.doomed) return dead('terminal', 'predecessor_dead', action)
  if (row.lost_leases < LOST_LEASES_MAX) return undefined
  return dead(row.started_at === null ? 'transient' : 'uncertain', 'crash_loop', action)
}

/** False once a row's ending has failed as well, time and again: then the row must end without its domain. */
export const domainIsTold = (row: ClaimedRow): boolean => row.lost_leases < LOST_LEASES_MAX + ENDINGS_MAX

export const readEnvelope = (row: ClaimedRow, action: AnyAction): Envelope<unknown> | undefined => {
  try {
    return envelopeOf(row, action)
  } catch {
    // The reason is the row's content, which no log may show; the caller names the row dead with a code.
    return undefined
  }
}

export const budgetOf = (row: ClaimedRow, startedNow: 0 | 1): Budget => {
  const sinceMs = (from: Date | null): number => Math.max(0, row.now.getTime() - (from ?? row.now).getTime())
  return {
    attempts: row.attempts + startedNow,
    elapsedMs: sinceMs(row.budget_from),
    ageMs: sinceMs(row.first_started_at),
  }
}

const prepare = async <T extends SettleTx>(
  runtime: Runtime<T>,
  read: NonNullable<OpaqueHandler<T>['prepare']>,
  envelope: Envelope<unknown>,
): Promise<Prepared<unknown>> => {
  try {
    return await runtime.db.transact(envelope.tenantId, (tx) => read(tx, envelope))
  } catch (error) {
    runtime.report({ type: 'error', where: 'prepare', error })
    return { type: 'retry', code: 'prepare_failed' }
  }
}

const perform = async <T extends SettleTx>(
  runtime: Runtime<T>,
  handler: OpaqueHandler<T>,
  plan: unknown,
  { attempt, inTime }: OpenAttempt,
): Promise<Outcome<unknown>> => {
  try {
    return (
      (await inTime(() => handler.perform(plan, attempt))) ?? {
        type: 'unknown',
        code: 'handler_overran',
        correlation: {},
      }
    )
  } catch (error) {
    runtime.report({ type: 'error', where: 'perform', error })
    return { type: 'unknown', code: 'handler_threw', correlation: {} }
  }
}

/** `begun`: nobody was called, but the claim has counted an attempt. */
type HandedBack =
  | { readonly contact: false; readonly begun: boolean }
  | { readonly contact: true; readonly uncertain: boolean; readonly calls: readonly RecordedCall[] }

/** Gives an untouched (or interrupted, repeatable) row back at once; the attempt, if any, is not counted. */
export const handBack = async <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  how: HandedBack,
): Promise<void> => {
  await untilLeaseEnds(runtime, row, 'hand_back', async () => {
    await releaseRow(runtime.db, {
      id: row.id,
      fence: row.fence,
      outcome: 'handed_back',
      code: 'shutdown',
      delayMs: 0,
      attemptsChange: how.contact || how.begun ? -1 : 0,
      startTakenBack: !how.contact,
      solo: row.solo,
      uncertain: how.contact && how.uncertain ? true : undefined,
      calls: how.contact ? how.calls : [],
    })
  })
  runtime.report({ type: 'handed_back', action: row.action })
}

interface Attempted {
  readonly envelope?: Envelope<unknown>
  readonly plan?: unknown
  readonly calls?: readonly RecordedCall[]
  readonly solo?: boolean
  readonly uncertain?: boolean
  readonly countAttempt?: boolean
}

/** Settles one row by the cheapest transaction that its handler allows, and reports how it went. */
export const settler =
  <T extends SettleTx>(runtime: Runtime<T>, entry: Pick<Entry<T>, 'action' | 'handler'>, row: ClaimedRow) =>
  (outcome: Settled<unknown>, attempted: Attempted): Promise<void> => {
    const { action, handler } = entry
    const { envelope, plan, calls = [], solo = false, uncertain = false, countAttempt = false } = attempted
    const settlement: Settlement<T> = {
      row,
      action,
      handler,
      envelope,
      outcome,
      plan,
      calls,
      solo,
      uncertain: uncertain ? true : undefined,
      countAttempt,
    }
    return untilLeaseEnds(runtime, row, 'settle', async () => {
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

/** A settle that fails for another reason than an outage is a defect, and gets no better by being repeated for long. */
const DEFECT_TRIES_MAX = 3

/**
 * Tries to settle until it works or the lease is over. A known outcome is worth more than a repeat: a database that
 * is away for a moment must not turn an answered call into an unknown one.
 */
export const untilLeaseEnds = async <T extends SettleTx>(
  runtime: Runtime<T>,
  row: ClaimedRow,
  where: string,
  work: () => Promise<void>,
): Promise<void> => {
  const leaseMs = runtime.leaseMsOf(row.action)
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      runtime.report({ type: 'error', where, error })
      if (tries >= DEFECT_TRIES_MAX && !isOutage(error)) return
      if (leaseLeftMs(row, leaseMs) < SETTLE_AGAIN_MS) return
      await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS))
    }
  }
}
