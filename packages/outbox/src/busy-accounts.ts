import { batcher } from './batcher.ts'
import type { EngineDb, SettleTx } from './db.ts'
import { announce } from './hints.ts'
import type { Registry } from './registry.ts'
import type { EngineEvent } from './runtime.ts'
import { resumePaused, type ClaimedRow } from './sql.ts'

const ENDED_MAX = 500

type Ended = Pick<ClaimedRow, 'lane' | 'solo'> & { readonly account: string }

/**
 * For rows whose action bounds how many of an account run at a time: tells that one has ended, so that another of its
 * account may run. Undefined for any other row. Never rejects: a row that nobody resumes comes back by itself.
 */
export const pausedResumer = <T extends SettleTx>(
  db: EngineDb<T>,
  registry: Registry<T>,
  report: (event: EngineEvent) => void,
): ((row: ClaimedRow) => Promise<void> | undefined) => {
  const tell = batcher(async (ended: readonly Ended[]) => {
    const lanes = await resumePaused(
      db,
      ended.map(({ account }) => account),
    )
    // A lane whose row has ended here looks again by itself; a row that was claimed alone was no lane's.
    const others = lanes.filter((lane) => ended.every((row) => row.solo || row.lane !== lane))
    if (others.length > 0) {
      announce(db, others).catch((error: unknown) => report({ type: 'error', where: 'hint', error }))
    }
    return ended
  }, ENDED_MAX)
  return ({ account, action, lane, solo }) => {
    if (account === null) return undefined
    const bound = registry.entryByName.get(action)?.action.accountConcurrencyMax
    if (bound === undefined) return undefined
    return tell({ account, lane, solo }).then(
      () => undefined,
      (error: unknown) => report({ type: 'error', where: 'accounts', error }),
    )
  }
}
