import type { ActionDefinition, Backoff } from './action.ts'
import type { Outcome, Settled } from './outcome.ts'

/** What is left of a row's budget when an attempt ends. */
export interface Budget {
  /** Attempts made, this one included. */
  readonly attempts: number
  /** Since the first attempt began; waiting in line and pauses are not counted. */
  readonly elapsedMs: number
  /** Since the first attempt began, whatever has been waited for since. */
  readonly ageMs: number
}

export type Limits = Pick<
  ActionDefinition,
  'attemptsMax' | 'elapsedMaxMs' | 'backoff' | 'repeat' | 'repairOwner' | 'ageMaxMs'
>

/** Exponential backoff with full jitter. `random` is uniform in [0, 1). */
export const backoffMs = (backoff: Backoff, attempt: number, random: number): number => {
  const ceiling = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(Math.max(attempt - 1, 0), 30))
  return Math.round(ceiling * random)
}

/**
 * Applies budget and repeat rule to what a handler reported. Pure.
 *
 * Only `transient` failures are retried by themselves. An unknown outcome becomes a retry only where repeating is
 * declared safe (or `resend`), a question to the provider where it can be asked, and a death where it can't.
 */
export const normalise = <Facts>(
  outcome: Outcome<Facts>,
  limits: Limits,
  budget: Budget,
  random: number,
): Settled<Facts> => {
  switch (outcome.type) {
    case 'done':
    case 'suppressed':
    case 'obsolete':
      return outcome
    case 'throttled': {
      const { code, account } = outcome
      const delayMs = restMs(outcome.afterMs, limits.backoff)
      if (throttledTooLong(budget, delayMs, limits)) {
        return { type: 'dead', class: 'transient', code: THROTTLED_TOO_LONG, owner: limits.repairOwner }
      }
      return { type: 'throttled', code, delayMs, account }
    }
    case 'dead':
      return {
        type: 'dead',
        class: outcome.class,
        code: outcome.code,
        owner: outcome.owner ?? limits.repairOwner,
      }
    case 'retry':
      return retryOrDie(outcome.code, 'transient', outcome.afterMs, limits, budget, random)
    case 'unknown':
      switch (limits.repeat) {
        case 'reconcile_first':
          return outcome
        case 'safe':
        case 'resend':
          return retryOrDie(outcome.code, 'uncertain', undefined, limits, budget, random)
        case 'give_up':
          return { type: 'dead', class: 'uncertain', code: outcome.code, owner: limits.repairOwner }
      }
  }
}

export const THROTTLED_TOO_LONG = 'throttled_too_long'

const AGE_MAX_MS = 7 * 24 * 60 * 60_000

/** Throttling spends neither attempts nor time, so a row that is told "not now" for ever must end by its age. */
export const throttledTooLong = (
  { ageMs }: Budget,
  delayMs: number,
  { ageMaxMs = AGE_MAX_MS }: Pick<Limits, 'ageMaxMs'>,
): boolean => ageMs + delayMs > ageMaxMs

/** However long a provider wants to be left alone, it is asked again after a day. */
const REST_MAX_MS = 24 * 60 * 60_000

/** Throttling costs no attempt, so a provider that names no time to wait must not make the row spin. */
export const restMs = (afterMs: number, backoff: Backoff): number => {
  const leastMs = Math.max(1, backoff.baseMs)
  return Number.isNaN(afterMs) ? leastMs : Math.min(REST_MAX_MS, Math.max(leastMs, Math.ceil(afterMs)))
}

const retryOrDie = (
  code: string,
  failure: 'transient' | 'uncertain',
  afterMs: number | undefined,
  limits: Limits,
  budget: Budget,
  random: number,
): Settled<never> => {
  const askedMs = afterMs !== undefined && Number.isFinite(afterMs) ? Math.ceil(afterMs) : 0
  const delayMs = Math.max(askedMs, backoffMs(limits.backoff, budget.attempts, random))
  const spent = budget.attempts >= limits.attemptsMax || budget.elapsedMs + delayMs > limits.elapsedMaxMs
  if (spent) return { type: 'dead', class: failure, code, owner: limits.repairOwner }
  return { type: 'retrying', code, delayMs }
}
