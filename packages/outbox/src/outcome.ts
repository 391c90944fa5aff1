/** What a handler may report, what the engine makes of it, and nothing else. */

export const failureClasses = [
  'transient',
  'uncertain',
  'stale',
  'consent_blocked',
  'validation',
  'permission',
  'terminal',
] as const
export type FailureClass = (typeof failureClasses)[number]

/** Redacted JSON that lets a later read find the effect again: ids we gave and instants, never contents. */
export type Correlation = Readonly<Record<string, string | number | boolean | null>>

/** A dead letter's cause. `code` is stable and of low cardinality; it never carries the provider's own text. */
export interface Death {
  readonly class: FailureClass
  readonly code: string
  /** Who repairs it; the action's own repair owner when left out. */
  readonly owner?: string
}

/** Reported by `perform`. */
export type Outcome<Facts> =
  | { readonly type: 'done'; readonly facts: Facts }
  | { readonly type: 'retry'; readonly code: string; readonly afterMs?: number }
  /** The provider said "not now": costs no attempt, and the whole account rests. */
  | {
      readonly type: 'throttled'
      readonly code: string
      readonly afterMs: number
      /** Which account asked for rest, when it was not the row's own. */
      readonly account?: string
    }
  /** Contact may have had its effect, and no answer tells. */
  | { readonly type: 'unknown'; readonly code: string; readonly correlation: Correlation }
  | { readonly type: 'suppressed'; readonly reason: string }
  | { readonly type: 'obsolete'; readonly reason: string }
  | ({ readonly type: 'dead' } & Death)

/** Reported by `prepare`, before any contact. */
export type Prepared<Plan> =
  | { readonly type: 'go'; readonly plan: Plan }
  | Extract<Outcome<never>, { type: 'suppressed' | 'obsolete' | 'dead' | 'retry' }>

/** Reported by `reconcile.ask`: what a read at the provider proved about an unknown effect. */
export type Reconciled<Facts> =
  | { readonly type: 'found'; readonly facts: Facts }
  /** Not there. Counts as proof only after the action's grace. */
  /**
   * `verdict` is what a refusal claimed that could not be believed before: proved absent, the row dies of it instead of
   * being made again.
   */
  | { readonly type: 'absent'; readonly verdict?: Death }
  /** There more than once, or changed: no retry can mend that. */
  | { readonly type: 'conflicting'; readonly code: string }
  | Extract<Outcome<never>, { type: 'retry' | 'throttled' }>

/**
 * What a domain's `settle` sees: the outcome after budgets and repeat rules were applied, so that a domain hears of
 * exhaustion as a death and never as one more retry.
 */
export type Settled<Facts> =
  | { readonly type: 'done'; readonly facts: Facts }
  | { readonly type: 'retrying'; readonly code: string; readonly delayMs: number }
  | {
      readonly type: 'throttled'
      readonly code: string
      readonly delayMs: number
      readonly account: string | undefined
    }
  | { readonly type: 'unknown'; readonly code: string; readonly correlation: Correlation }
  | { readonly type: 'suppressed'; readonly reason: string }
  | { readonly type: 'obsolete'; readonly reason: string }
  | ({ readonly type: 'dead' } & Required<Death>)

/** One exchange with a provider, as history keeps it. Redacted: no address, token or body. */
export interface RecordedCall {
  readonly provider: string
  readonly operation: string
  readonly startedAt: Date
  readonly durationMs: number
  readonly status: number | undefined
  readonly outcome: string
  readonly requestId: string | undefined
}

export const done = <Facts>(facts: Facts): Outcome<Facts> => ({ type: 'done', facts })
export const go = <Plan>(plan: Plan): Prepared<Plan> => ({ type: 'go', plan })
