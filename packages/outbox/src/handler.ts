import type { z } from 'zod'
import type { ActionRequest, AnyAction, Catalog } from './action.ts'
import type { Correlation, Outcome, Prepared, Reconciled, RecordedCall, Settled } from './outcome.ts'
import type { Sql } from './connection.ts'

/** The least a transaction must offer the engine. A domain's own transaction type may offer more. */
export interface EngineTx {
  readonly tenantId: string
  readonly now: Date
  readonly sql: Sql
}

/** A row as its handler sees it. */
export interface Envelope<Payload> {
  readonly id: string
  readonly tenantId: string
  readonly identity: string
  /** Under which the world knows this action; the same on every attempt. */
  readonly operationId: string
  readonly payload: Payload
  readonly aggregateRevision: number | undefined
  readonly traceParent: string | undefined
  /** Attempts started before this one, but for those that were given back: a throttled one costs nothing. */
  readonly attempts: number
  /** Whether any attempt was started before this one, given back or not: somebody may have been called. */
  readonly startedBefore: boolean
}

/** One attempt's leave to touch the world. */
export interface Attempt {
  /** Database time when the row was claimed. */
  readonly now: Date
  /** Aborts when the lease nears its end or the process must go. */
  readonly signal: AbortSignal
  /** Notes an exchange for the attempt's history. */
  readonly record: (call: RecordedCall) => void
  /** W3C traceparent of what caused the action, to be sent on to whoever is called. */
  readonly traceParent: string | undefined
}

type PayloadOf<A extends AnyAction> = z.output<A['payload']>

interface HandlerParts<A extends AnyAction, T extends EngineTx, Plan, Facts> {
  /**
   * Re-reads what the action is about, inside the tenant's transaction and before any contact. This is where
   * superseded, revoked or newly answered work ends.
   */
  readonly prepare: (tx: T, envelope: Envelope<PayloadOf<A>>) => Promise<Prepared<Plan>>
  /** The only code that touches the world. Runs outside any transaction. Throwing counts as an unknown outcome. */
  readonly perform: (plan: Plan, attempt: Attempt) => Promise<Outcome<Facts>>
  /**
   * Carries the outcome into the domain and answers what must follow. Runs in the transaction that settles the row,
   * before the fence is checked: a stale holder's changes are rolled back. `plan` is undefined when the row ends
   * without a live attempt. May run again with the same outcome when the transaction has to be repeated.
   */
  readonly settle?: (
    tx: T,
    envelope: Envelope<PayloadOf<A>>,
    outcome: Settled<Facts>,
    plan: Plan | undefined,
  ) => Promise<readonly ActionRequest[]>
}

interface ReconcilePart<A extends AnyAction, T extends EngineTx, Question, Facts> {
  /** Loads what the question needs. Never ends the row: an effect that may exist must be accounted for. */
  readonly load: (tx: T, envelope: Envelope<PayloadOf<A>>) => Promise<Question>
  /** Asks the provider what became of the effect. Reads only. */
  readonly ask: (question: Question, correlation: Correlation, attempt: Attempt) => Promise<Reconciled<Facts>>
}

/** An action that declares `reconcile_first` must say how to ask; no other may. */
export type Handler<A extends AnyAction, T extends EngineTx, Plan, Facts, Question = never> = HandlerParts<
  A,
  T,
  Plan,
  Facts
> & { readonly reconcile?: ReconcilePart<A, T, Question, Facts> } & (A['repeat'] extends 'reconcile_first'
    ? { readonly reconcile: object }
    : { readonly reconcile?: never })

/** A handler with its action, as the registry holds it. What lies between its steps is its own affair. */
export interface Registration<T extends EngineTx, A extends AnyAction = AnyAction> {
  readonly action: A
  readonly handler: OpaqueHandler<T>
}

/** A handler seen by the engine, which passes plans, facts and questions on without looking into them. */
export interface OpaqueHandler<T extends EngineTx> {
  /** Without it the envelope is the plan, and the row costs no transaction before contact. */
  readonly prepare?: (tx: T, envelope: Envelope<unknown>) => Promise<Prepared<unknown>>
  readonly perform: (plan: unknown, attempt: Attempt) => Promise<Outcome<unknown>>
  readonly settle?: (
    tx: T,
    envelope: Envelope<unknown>,
    outcome: Settled<unknown>,
    plan: unknown,
  ) => Promise<readonly ActionRequest[]>
  readonly reconcile?: {
    readonly load: (tx: T, envelope: Envelope<unknown>) => Promise<unknown>
    readonly ask: (
      question: unknown,
      correlation: Correlation,
      attempt: Attempt,
    ) => Promise<Reconciled<unknown>>
  }
}

/**
 * Joins an action with its handler. Curried, so that the transaction type is given once and everything between the
 * handler's steps is inferred from `prepare`, `perform` and `reconcile`.
 */
export const handlerOf =
  <T extends EngineTx>() =>
  <A extends AnyAction, Plan, Facts, Question = never>(
    action: A,
    handler: Handler<A, T, Plan, Facts, Question>,
  ): Registration<T, A> => ({ action, handler: handler as unknown as OpaqueHandler<T> })

/**
 * The same for an action whose payload says all that there is to do: its handler reads nothing first, and performs on the
 * envelope. It costs a row no transaction before contact, and cannot notice that the work is no longer wanted.
 */
export const payloadHandlerOf =
  <T extends EngineTx>() =>
  <A extends AnyAction, Facts, Question = never>(
    action: A,
    handler: Omit<Handler<A, T, Envelope<PayloadOf<A>>, Facts, Question>, 'prepare'>,
  ): Registration<T, A> => ({ action, handler: handler as unknown as OpaqueHandler<T> })

/** One handler per action of the catalog. A missing one, or one for another action, does not compile. */
export type Handlers<C extends Catalog, T extends EngineTx> = {
  readonly [K in keyof C]: Registration<T, C[K]>
}
