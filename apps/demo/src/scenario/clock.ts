/** The two clocks that a stage can have. */
import { setClock } from '@aftercommit/local-postgres/movable-clock'
import type pg from 'pg'
import { readNow } from './sql.ts'
import type { Clock } from './stage.ts'

/** Of a database that was made for it; see createScenarioDatabase. */
export const movableClock = (owner: pg.Pool): Clock => ({
  isReal: false,
  now: () => readNow(owner),
  moveTo: async (at) => {
    // It runs on by itself, and may be past that moment.
    if (at > (await readNow(owner))) await setClock(owner, at)
  },
})

export const realClock = (owner: pg.Pool): Clock => ({
  isReal: true,
  now: () => readNow(owner),
  moveTo: async (at) => {
    const leftMs = at.getTime() - (await readNow(owner)).getTime()
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs))
  },
})
