import type pg from 'pg'
import type { HaltPoint } from '../gaps.ts'
import type { Calendar } from './calendar.ts'
import type { Booking, StoredBooking } from './store.ts'

/** One way to make an event in a calendar follow from a booking. */
export interface Way {
  /** Takes a booking, or finds the one that was taken under the same key; answers what the customer is told. */
  book(booking: Booking): Promise<StoredBooking | undefined>
  /** Resolves when nothing is left that this process would still do. */
  settled(): Promise<void>
}

export interface Tools {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  readonly tenantId: string
  readonly calendar: Calendar
  /** Does nothing, unless the process is to be killed here: then it says so and does not go on. */
  readonly at: (point: HaltPoint) => Promise<void>
}

const TRIES = 3
const PAUSE_MS = 100

/** As everybody does with a call that may fail: again, a little later, and then into the log. */
export const withRetries = async (work: () => Promise<void>): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      if (tries === TRIES) {
        process.stderr.write(`the event was not made: ${String(error)}\n`)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
    }
  }
}
