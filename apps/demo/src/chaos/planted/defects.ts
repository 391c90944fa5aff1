/**
 * Defects that the checker must find. They are written into the copy of a bundle that a run makes for itself, or into its
 * database; the product's code has no switch for any of them.
 */
import type { PromiseName } from '../checker.ts'

export interface Rewrite {
  /** Occurs exactly once in the bundle, or the defect is not planted at all. */
  readonly find: string
  readonly replace: string
}

export interface Defect {
  readonly says: string
  /** The promises of which at least one must be found broken. */
  readonly breaks: readonly PromiseName[]
  readonly inDispatcher: readonly Rewrite[]
  /** In one function of the database. */
  readonly inDatabase?: Rewrite & { readonly function: string }
}

export const defects = {
  fence: {
    says: 'a settle is accepted whatever its fencing token',
    breaks: ['stale'],
    inDispatcher: [
      {
        find: 'delete from outbox o where ${HELD}',
        replace: 'delete from outbox o where o.id = any($1::bigint[])',
      },
      {
        find: 'where h.id = $1 and h.fence = $2 for update of h),',
        replace: 'where h.id = $1 and $2::bigint is not null for update of h),',
      },
    ],
  },
  reconcile: {
    says: 'a lost answer is taken for a call that was not made, and the call is made again',
    breaks: ['blind', 'doubled'],
    inDispatcher: [
      {
        find: 'case "reconcile_first":\n          return outcome;',
        replace: 'case "reconcile_first":',
      },
    ],
  },
  order: {
    says: 'a row that waits for another one of its key is claimed all the same',
    breaks: ['order'],
    inDispatcher: [],
    inDatabase: {
      function: 'outbox_pick',
      find: "where o.state = 'ready' and not o.solo and o.lane = p_lane and (o.turn, o.id) >= (p_turn, p_id)",
      replace: "where o.state in ('ready', 'waiting') and not o.solo and o.lane = p_lane",
    },
  },
  atomic: {
    says: 'what follows a settle is written after its commit, in a transaction of its own',
    breaks: ['lost'],
    inDispatcher: [
      {
        find: 'await db.transact(row.tenant_id, async (tx) => {\n      const following =',
        replace:
          'let later = [];\n      await db.transact(row.tenant_id, async (tx) => {\n      const following =',
      },
      {
        find: 'await enqueue(tx, following ?? []);\n    });',
        // The gap is made wide enough to be met.
        replace:
          'later = following ?? [];\n      });\n      await new Promise((resolve) => setTimeout(resolve, 250));\n      await db.transact(row.tenant_id, (tx) => enqueue(tx, later));',
      },
    ],
  },
} as const satisfies Record<string, Defect>
export type DefectName = keyof typeof defects
