/** A search to be given evidence by hand. */
import { ids, intentOf, meetingIn, personOf } from './cast.testing.ts'
import type { Evidence } from './evidence.ts'
import type { Participant } from './meeting.ts'
import { searchTimes, type Search } from './search.ts'
import { ZoneName } from './values.ts'

export const now = new Date('2027-03-20T00:00:00Z')
export const at = (offsetMs: number): Date => new Date(now.getTime() + offsetMs)

export type Stretches = readonly (readonly [string, string])[]
export const stretches = (pairs: Stretches) =>
  pairs.map(([start, end]) => ({ start: new Date(start), end: new Date(end) }))

const piece = (person: Participant, expiresAt = at(1)) => ({
  id: ids.evidence(),
  participantId: person.id,
  round: 1,
  source: 'google' as const,
  retrievedAt: at(-60_000),
  expiresAt,
})
/** What a calendar shows as busy. */
export const known = (person: Participant, busy: Stretches = [], expiresAt?: Date): Evidence => ({
  ...piece(person, expiresAt),
  type: 'known',
  busy: stretches(busy),
})
/** When somebody said they can. */
export const stated = (person: Participant, free: Stretches, expiresAt?: Date): Evidence => ({
  ...piece(person, expiresAt),
  source: 'reply_page',
  type: 'stated',
  free: stretches(free),
  zone: 'Europe/Berlin',
})
export const unknown = (person: Participant, code: string): Evidence => ({
  ...piece(person),
  type: 'unknown',
  code,
})

const workingDays = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }
/** Somebody who works from nine to five, Monday to Friday, in a zone. */
export const working = (timeZone: string, more: Partial<Participant> = {}): Participant =>
  personOf({ timeZone: ZoneName.parse(timeZone), workingHours: workingDays, ...more })

/** The part of an intent that says when. */
export const window = (from: string, to: string) => ({ window: { from, to } })

export const searchOf = (
  participants: readonly Participant[],
  evidence: readonly Evidence[],
  intent: Record<string, unknown> = {},
  more: Partial<Search> = {},
): Search => ({
  meeting: meetingIn({ type: 'choosing' }, { intent: intentOf(intent) }),
  participants,
  evidence,
  held: new Map(),
  now,
  ...more,
})

export const search = (...given: Parameters<typeof searchOf>) => searchTimes(searchOf(...given))

/** When the slots start, the best first, or why there are none. */
export const starts = (searched: ReturnType<typeof search>): readonly string[] | string =>
  searched.result.type === 'found'
    ? searched.result.slots.map(({ start }) => start.toISOString())
    : searched.result.type

export const firstStart = (searched: ReturnType<typeof search>): string | undefined => {
  const found = starts(searched)
  return typeof found === 'string' ? found : found[0]
}
