/**
 * From what a clock on the wall says to an instant. The only place where that happens.
 *
 * A wall clock is not a function of time: an hour of it is skipped in spring (gap) and shown twice in autumn
 * (overlap). `localToInstant` says which, and never guesses; `resolveLocal` applies a policy its caller wrote down.
 */
import { Temporal } from 'temporal-polyfill'
import { isCalendarDate } from './dates.ts'
import type { TimeZone } from './zone.ts'

export interface LocalInstant {
  readonly type: 'instant'
  readonly instant: Date
}
/** The clock skips this time. */
export interface LocalGap {
  readonly type: 'gap'
  /** The time read on the clock as it ran after the jump: the clock then shows an earlier time than was asked for. */
  readonly before: Date
  /** The time read on the clock as it ran before the jump: the clock then shows a later time than was asked for. */
  readonly after: Date
}
/** The clock shows this time twice. */
export interface LocalOverlap {
  readonly type: 'overlap'
  readonly earlier: Date
  readonly later: Date
}
export interface LocalMalformed {
  readonly type: 'malformed'
  readonly reason: 'not_a_local_date_time' | 'no_such_date'
}
export type LocalTime = LocalInstant | LocalGap | LocalOverlap | LocalMalformed

export interface LocalPolicy {
  /** `shift_later` moves the time on by the length of the jump, as RFC 5545 section 3.3.5 and Temporal do. */
  readonly gap: 'shift_later' | 'refuse'
  readonly overlap: 'earlier' | 'later' | 'refuse'
}
/** A policy that has an answer for every time a clock can be asked. */
export interface DecidedPolicy extends LocalPolicy {
  readonly gap: 'shift_later'
  readonly overlap: 'earlier' | 'later'
}

// No zone, no offset, no fraction: a text that carries its own zone must not be read in another one.
const localDateTime = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/

/** Reads `YYYY-MM-DDTHH:mm` or `YYYY-MM-DDTHH:mm:ss` on the clock of a zone. */
export const localToInstant = (local: string, zone: TimeZone): LocalTime => {
  const date = localDateTime.exec(local)?.[1]
  if (date === undefined) return { type: 'malformed', reason: 'not_a_local_date_time' }
  if (!isCalendarDate(date)) return { type: 'malformed', reason: 'no_such_date' }
  const wall = Temporal.PlainDateTime.from(local)
  const earlier = wall.toZonedDateTime(zone, { disambiguation: 'earlier' })
  const later = wall.toZonedDateTime(zone, { disambiguation: 'later' })
  if (earlier.epochMilliseconds === later.epochMilliseconds)
    return { type: 'instant', instant: dateOf(earlier) }
  // In a gap neither candidate shows the time that was asked for; in an overlap both do.
  if (earlier.toPlainDateTime().equals(wall)) {
    return { type: 'overlap', earlier: dateOf(earlier), later: dateOf(later) }
  }
  return { type: 'gap', before: dateOf(earlier), after: dateOf(later) }
}

/**
 * Reads a local time under a policy. What the policy refuses comes back as the gap or overlap it is, with both
 * candidates, so that a person can be asked.
 */
export function resolveLocal(
  local: string,
  zone: TimeZone,
  policy: DecidedPolicy,
): LocalInstant | LocalMalformed
export function resolveLocal(local: string, zone: TimeZone, policy: LocalPolicy): LocalTime
export function resolveLocal(local: string, zone: TimeZone, policy: LocalPolicy): LocalTime {
  const time = localToInstant(local, zone)
  switch (time.type) {
    case 'gap':
      return policy.gap === 'refuse' ? time : { type: 'instant', instant: time.after }
    case 'overlap':
      return policy.overlap === 'refuse' ? time : { type: 'instant', instant: time[policy.overlap] }
    case 'instant':
    case 'malformed':
      return time
  }
}

const dateOf = (time: Temporal.ZonedDateTime): Date => new Date(time.epochMilliseconds)
