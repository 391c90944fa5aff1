/**
 * When somebody works, as instants: "09:00 to 17:30, Monday to Friday, in Berlin" laid over a stretch of time.
 */
import { dateIn, nextOffsetChange, offsetMinutes, startOfDay } from './dates.ts'
import { clip } from './intervals.ts'
import type { Interval } from './intervals.ts'
import { resolveLocal } from './local.ts'
import type { DecidedPolicy } from './local.ts'
import type { TimeZone } from './zone.ts'

export interface WorkingHours {
  readonly zone: TimeZone
  /** Time of day, `HH:mm`. */
  readonly startsAt: string
  /** Time of day later than `startsAt`, `HH:mm`, or `24:00` for the end of the day. */
  readonly endsAt: string
  /** ISO days of the week, 1 for Monday to 7 for Sunday. */
  readonly days: readonly number[]
}

export type MalformedHoursReason =
  'not_a_time_of_day' | 'ends_not_after_start' | 'no_days' | 'not_a_day_of_week' | 'ends_before_it_starts'
export type WorkingWindows =
  | { readonly type: 'windows'; readonly windows: readonly Interval[] }
  | { readonly type: 'malformed'; readonly reason: MalformedHoursReason }

// Somebody who starts at a time the clock skips starts as much later; a time shown twice counts in their favour at
// both ends: they are there from the first of the two, and stay until the second.
const startPolicy: DecidedPolicy = { gap: 'shift_later', overlap: 'earlier' }
const endPolicy: DecidedPolicy = { gap: 'shift_later', overlap: 'later' }

/**
 * The working time between two instants. Hours that run past midnight are malformed rather than guessed at: they are
 * written as two sets of hours. A window that a clock change leaves without any time is not in the list.
 */
export const workingWindows = (
  hours: WorkingHours & { readonly from: Date; readonly to: Date },
): WorkingWindows => {
  const reason = whatIsWrong(hours) ?? (hours.from > hours.to ? 'ends_before_it_starts' : undefined)
  if (reason !== undefined) return { type: 'malformed', reason }
  const { from, to, zone } = hours
  const days = new Set(hours.days)
  const windows: Interval[] = []
  const steady = steadyOffsets(zone)
  // One date more on either side: a clock set back across midnight shows the date before once again.
  const last = midnightUtc(dateIn(to, zone)) + dayMs
  for (let midnight = midnightUtc(dateIn(from, zone)) - dayMs; midnight <= last; midnight += dayMs) {
    // getUTCDay has 0 for Sunday, ISO has 7.
    if (!days.has(new Date(midnight).getUTCDay() || 7)) continue
    const offsetMs = steady(midnight)
    const window = offsetMs === undefined ? windowOn(midnight, hours) : windowAt(midnight - offsetMs, hours)
    if (window !== undefined) windows.push(window)
  }
  return { type: 'windows', windows: clip(windows, { start: from, end: to }) }
}

/**
 * For dates asked in ascending order: the zone's offset, if no clock change is near the date, so that its local times
 * are plain arithmetic. A thousand people's hours over a quarter are expanded in one go, and all but a date or two
 * are like that.
 */
const steadyOffsets = (zone: TimeZone): ((midnight: number) => number | undefined) => {
  let stretch: { offsetMs: number; until: number } | undefined
  return (midnight) => {
    // No offset is as large as a day, so the instants of a date lie within a day of its 24 hours in UTC.
    const [earliest, latest] = [midnight - dayMs, midnight + 2 * dayMs]
    if (stretch === undefined || stretch.until <= earliest) {
      const at = new Date(earliest)
      const until = nextOffsetChange(zone, at)?.getTime() ?? Infinity
      stretch = { offsetMs: offsetMinutes(at, zone) * minuteMs, until }
    }
    return stretch.until > latest ? stretch.offsetMs : undefined
  }
}

/** The window of a date without a clock change, given the instant of its midnight. */
const windowAt = (midnight: number, { startsAt, endsAt }: WorkingHours): Interval => ({
  start: new Date(midnight + minutesOf(startsAt) * minuteMs),
  end: new Date(midnight + minutesOf(endsAt) * minuteMs),
})

/** The window of any date, given its midnight in UTC. */
const windowOn = (midnight: number, hours: WorkingHours): Interval | undefined => {
  const [date, next] = [dateText(midnight), dateText(midnight + dayMs)]
  // Apia had no 30 December 2011: shifted later, its hours would be those of the 31st.
  if (startOfDay(date, hours.zone).getTime() === startOfDay(next, hours.zone).getTime()) return undefined
  const startText = `${date}T${hours.startsAt}`
  const endText = hours.endsAt === endOfDay ? `${next}T00:00` : `${date}T${hours.endsAt}`
  const start = resolveLocal(startText, hours.zone, startPolicy)
  const end = resolveLocal(endText, hours.zone, endPolicy)
  if (start.type === 'malformed' || end.type === 'malformed') {
    throw new RangeError(`hours were checked, yet ${startText} or ${endText} does not read`)
  }
  return start.instant < end.instant ? { start: start.instant, end: end.instant } : undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000
const midnightUtc = (date: string): number => Date.parse(`${date}T00:00Z`)
const dateText = (midnight: number): string => new Date(midnight).toISOString().slice(0, 10)
const minutesOf = (timeOfDay: string): number =>
  Number(timeOfDay.slice(0, 2)) * 60 + Number(timeOfDay.slice(3))

const endOfDay = '24:00'
const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d$/

const whatIsWrong = (hours: WorkingHours): MalformedHoursReason | undefined => {
  const { startsAt, endsAt, days } = hours
  if (!timeOfDay.test(startsAt)) return 'not_a_time_of_day'
  if (endsAt !== endOfDay && !timeOfDay.test(endsAt)) return 'not_a_time_of_day'
  // Times of this shape sort as text.
  if (endsAt <= startsAt) return 'ends_not_after_start'
  if (days.length === 0) return 'no_days'
  if (!days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)) return 'not_a_day_of_week'
  return undefined
}
