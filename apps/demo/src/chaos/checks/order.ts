/** A row of an ordering key ran before the one ahead of it had ended. */
import type { Seen, SeenRow } from '../seen.ts'
import { effectsByEvent } from './events.ts'
import { groupBy, type Offence } from './offence.ts'

export const outOfOrder = (seen: Seen): readonly Offence[] => [
  ...rowsOutOfOrder(seen),
  ...effectsOutOfOrder(seen),
]

const rowsOutOfOrder = ({ rows }: Seen): readonly Offence[] =>
  [
    ...groupBy(
      rows.filter(({ orderingKey }) => orderingKey !== null),
      ({ orderingKey }) => orderingKey ?? '',
    ),
  ].flatMap(([key, keyed]) => {
    const sorted = [...keyed].sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
    return sorted.flatMap((row, place) => overtaken(key, row, sorted.slice(0, place)))
  })

const overtaken = (
  key: string,
  { id, startedAt, action }: SeenRow,
  before: readonly SeenRow[],
): readonly Offence[] => {
  if (startedAt === null) return []
  const open = before.find(({ endedAt }) => endedAt === null || endedAt > startedAt)
  return open ? [{ id, what: `${action} began before ${open.action} (${open.id}) of ${key} had ended` }] : []
}

/** The same seen from the provider: nothing happens to an event after its cancellation, or before its creation. */
const effectsOutOfOrder = ({ ledger }: Seen): readonly Offence[] =>
  [...effectsByEvent(ledger)].flatMap(([id, effects]) => {
    const names = effects.map(({ effect }) => effect)
    const wrong = names[0] !== 'event_created' || names.slice(0, -1).includes('event_cancelled')
    return wrong ? [{ id: id.slice(0, 24), what: `the provider saw ${names.join(', ')}` }] : []
  })
