import type { AnyAction, ReconcilePolicy } from './action.ts'
import type { EngineTx, OpaqueHandler, Registration } from './handler.ts'

/** What a claimed row's action name stands for: an action itself, or the question about an unknown one. */
export type Entry<T extends EngineTx> =
  | { readonly type: 'action'; readonly action: AnyAction; readonly handler: OpaqueHandler<T> }
  | {
      readonly type: 'reconcile'
      readonly action: AnyAction
      readonly policy: ReconcilePolicy
      readonly handler: OpaqueHandler<T>
      readonly reconcile: NonNullable<OpaqueHandler<T>['reconcile']>
    }

export interface Registry<T extends EngineTx> {
  readonly entryByName: ReadonlyMap<string, Entry<T>>
  /** Every action name this replica can settle; only these are claimed. */
  readonly names: readonly string[]
  readonly lanes: readonly string[]
}

export const reconcileName = (action: string): string => `${action}#reconcile`

/** Throws on two registrations of one name: which of them ran would be chance. */
export const registryOf = <T extends EngineTx>(registrations: readonly Registration<T>[]): Registry<T> => {
  const entryByName = new Map<string, Entry<T>>()
  for (const { action, handler } of registrations) {
    if (entryByName.has(action.name)) throw new Error(`the action ${action.name} is registered twice`)
    entryByName.set(action.name, { type: 'action', action, handler })
    const policy = action.reconcile
    if (policy && handler.reconcile) {
      entryByName.set(reconcileName(action.name), {
        type: 'reconcile',
        action,
        policy,
        handler,
        reconcile: handler.reconcile,
      })
    }
  }
  return {
    entryByName,
    names: [...entryByName.keys()],
    lanes: [...new Set(registrations.map(({ action }) => action.lane))],
  }
}
