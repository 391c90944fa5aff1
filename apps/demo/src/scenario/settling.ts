/** Waiting for a moment at which nothing is due. */
import type { OutboxLedger } from './stage.ts'

const LOOK_EVERY_MS = 30
const SETTLE_MAX_MS = 40_000

/** Resolves when no row is worked on and none could be; answers when the next one falls due. */
export const untilQuiet = async (
  ledger: Pick<OutboxLedger, 'outlook'>,
  work: () => Promise<unknown>,
): Promise<Date | undefined> => {
  const giveUpAt = Date.now() + SETTLE_MAX_MS
  for (;;) {
    await work()
    const { busy, nextDueAt } = await ledger.outlook()
    if (busy === 0) return nextDueAt
    if (Date.now() > giveUpAt) throw new Error('work that is due is not done')
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
