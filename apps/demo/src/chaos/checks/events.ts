/** What stands at the providers, told from their ledger. */
import type { LedgerEntry } from '@aftercommit/simulator'
import { groupBy } from './offence.ts'

export interface StandingEvent {
  readonly eventId: string
  readonly operationId: string
  readonly start: string
  readonly end: string
}

/** The effects on each event, in the order in which they happened. */
export const effectsByEvent = (ledger: readonly LedgerEntry[]): ReadonlyMap<string, readonly LedgerEntry[]> =>
  groupBy(
    ledger.filter(({ eventId }) => eventId !== undefined),
    ({ eventId = '' }) => eventId,
  )

export const standingEvents = (ledger: readonly LedgerEntry[]): readonly StandingEvent[] =>
  [...effectsByEvent(ledger)].flatMap(([eventId, effects]) => {
    const last = effects.at(-1)
    if (!last || last.effect === 'event_cancelled') return []
    const { operationId = '', start = '', end = '' } = last
    return [{ eventId, operationId, start, end }]
  })
