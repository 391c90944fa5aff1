/** Made twice, or made without anybody's word. */
import type { Seen } from '../seen.ts'
import { standingEvents } from './events.ts'
import { groupBy, type Offence } from './offence.ts'

export const doubled = (seen: Seen): readonly Offence[] => [
  ...twice(seen.meetings, ({ purpose }) => purpose, 'one request opened more than one meeting'),
  ...cancelledTwice(seen),
  ...twice(
    seen.ledger.filter(({ effect }) => effect === 'event_created'),
    ({ operationId = 'without identity' }) => operationId,
    'one operation created more than one event',
  ),
  ...twice(
    seen.ledger.filter(({ effect }) => effect === 'event_patched'),
    ({ eventId = '', start = '' }) => `${eventId.slice(0, 24)} ${start}`,
    'one change was made more than once',
  ),
  ...twice(
    seen.told,
    ({ type, data }) => `${type} ${data.meetingId} ${data.occasionId}`,
    'the client was told the same under more than one id',
  ),
  ...unasked(seen),
]

const twice = <T>(items: readonly T[], keyOf: (item: T) => string, what: string): readonly Offence[] =>
  [...groupBy(items, keyOf)].flatMap(([id, same]) =>
    same.length > 1 ? [{ id, what: `${what}: ${same.length}` }] : [],
  )

/** Nobody but its one client ends a meeting here, so "it has ended already" answers its own first request. */
const cancelledTwice = ({ asked }: Seen): readonly Offence[] =>
  asked.flatMap(({ path, about, answer, unanswered }) =>
    path.endsWith('/cancel') && answer?.status === 409 && unanswered > 0
      ? [{ id: about, what: 'a repeated cancellation was carried out again' }]
      : [],
  )

/** An event that stands, and a message that came, each belong to something that was decided. */
const unasked = ({ ledger, approvals, rows, told }: Seen): readonly Offence[] => {
  const operations = new Set(approvals.map(({ operationId }) => operationId))
  const decided = new Set(
    rows.map(({ payload, meetingId }) => `${payload.event} ${meetingId} ${payload.occasionId}`),
  )
  return [
    ...standingEvents(ledger)
      .filter(({ operationId }) => !operations.has(operationId))
      .map(({ eventId }) => ({ id: eventId, what: 'an event stands that nobody approved' })),
    ...told
      .filter(({ type, data }) => !decided.has(`${type} ${data.meetingId} ${data.occasionId}`))
      .map(({ type, data }) => ({
        id: data.meetingId,
        what: `the client was told ${type}, and no row says so`,
      })),
  ]
}
