import type { SettleTx } from './db.ts'
import { askingFor } from './held.ts'
import type { Runtime } from './runtime.ts'
import { claimRows, noteLaneTurn, type Claim, type Claimant, type ClaimedRow, type Place } from './sql.ts'
import { watermark } from './watermark.ts'

/** Claims up to that many rows of one lane. `thorough`: nothing that is ready may be left for a later look. */
export type LaneClaim = (rowsMax: number, thorough: boolean) => Promise<readonly ClaimedRow[]>

export const laneClaimOf = <T extends SettleTx>(
  runtime: Runtime<T>,
  claimant: Claimant,
  lane: string,
): LaneClaim => {
  const { db } = runtime
  const mark = watermark()
  const tell = laneTurnTeller(runtime, lane)

  const look = async (rowsMax: number, from: Place | undefined): Promise<Claim> => {
    const claimed = await askingFor(() => claimRows(db, claimant, lane, rowsMax, from))
    mark.note(from, claimed.last)
    return claimed
  }
  const claim = async (rowsMax: number, thorough: boolean): Promise<Claim> => {
    const from = mark.from()
    const claimed = await look(rowsMax, from)
    const enough = claimed.last || !from || !(thorough || mark.looksAgain())
    return enough ? claimed : look(rowsMax, undefined)
  }
  return async (rowsMax, thorough) => {
    for (;;) {
      const { rows, last, paused } = await claim(rowsMax, thorough)
      if (!last) return rows
      runtime.report({ type: 'claimed', lane, rows: rows.length })
      // Nobody waits for it: the rows can begin.
      void tell(BigInt(last.turn), rows.length + paused)
      // Rows of busy accounts have left the lane; behind them there may be others.
      if (rows.length > 0) return rows
    }
  }
}

/** New tenants are given the lane's turn, so this long a lane may serve them first at the most. */
const TELL_MS = 250
/** While tenants share a turn or two there is nothing to tell, but that many rows are told all the same. */
const TURNS_MIN = 16n
const ROWS_MAX = 500

/** Tells the database now and then which turn a lane is at: the next one after those being served. */
const laneTurnTeller = <T extends SettleTx>(
  runtime: Runtime<T>,
  lane: string,
): ((served: bigint, rows: number) => Promise<void>) => {
  let told: bigint | undefined
  let toldAtMs = -Infinity
  let rowsSince = 0
  return async (served, rows) => {
    rowsSince += rows
    const turn = served + 1n
    if (performance.now() - toldAtMs < TELL_MS) return
    if (told !== undefined && turn - told < TURNS_MIN && rowsSince < ROWS_MAX) return
    // Said before it is done, because nobody waits: the next claim must not tell the same.
    told = turn
    toldAtMs = performance.now()
    rowsSince = 0
    try {
      await noteLaneTurn(runtime.db, lane, turn)
    } catch (error) {
      // The rows are claimed and will be run: until the next telling, an old turn only serves newcomers earlier.
      runtime.report({ type: 'error', where: 'turn', error })
    }
  }
}
