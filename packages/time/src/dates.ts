/**
 * Calendar dates, written `YYYY-MM-DD`. A day has as many hours as its zone gives it: 23, 24, 25, or none at all.
 *
 * A date that is not in the calendar is a defect of the caller (RangeError): what a person typed is checked at the
 * edge, with `isCalendarDate`.
 */
import { Temporal } from 'temporal-polyfill'
import type { TimeZone } from './zone.ts'

/** True for a `YYYY-MM-DD` that is in the calendar. */
export const isCalendarDate = (text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  if (month < 1 || month > 12 || day < 1) return false
  return day <= Temporal.PlainYearMonth.from({ year, month }).daysInMonth
}

/**
 * The first instant of a date in a zone. That is not always midnight (Cairo and Santiago skip it in spring), and a
 * date that the zone skipped altogether begins where the next one does.
 */
export const startOfDay = (date: string, zone: TimeZone): Date =>
  new Date(plainDate(date).toZonedDateTime(zone).epochMilliseconds)

/** The date a calendar on the wall of this zone shows at an instant. */
export const dateIn = (instant: Date, zone: TimeZone): string => zoned(instant, zone).toPlainDate().toString()

/** ISO day of the week, 1 for Monday to 7 for Sunday. */
export const dayOfWeek = (date: string): number => plainDate(date).dayOfWeek

/** The date so many days later, or earlier for a negative number. */
export const addDays = (date: string, days: number): string => plainDate(date).add({ days }).toString()

/** Every date from the first to the last, both included; none if the last comes before the first. */
export const eachDate = (from: string, to: string): readonly string[] => {
  const last = plainDate(to)
  const dates: string[] = []
  for (
    let date = plainDate(from);
    Temporal.PlainDate.compare(date, last) <= 0;
    date = date.add({ days: 1 })
  ) {
    dates.push(date.toString())
  }
  return dates
}

/** How far the zone's clock is ahead of UTC at an instant, in minutes; with a fraction before standard time began. */
export const offsetMinutes = (instant: Date, zone: TimeZone): number =>
  zoned(instant, zone).offsetNanoseconds / 60_000_000_000

/** The first instant after the given one at which the zone's offset is another; none if no change is planned. */
export const nextOffsetChange = (zone: TimeZone, after: Date): Date | undefined => {
  const change = zoned(after, zone).getTimeZoneTransition('next')
  return change === null ? undefined : new Date(change.epochMilliseconds)
}

// PlainDate.from alone would also take a date with a time behind it, and drop the time.
const plainDate = (date: string): Temporal.PlainDate => {
  if (!isCalendarDate(date)) throw new RangeError(`${date} is not a date`)
  return Temporal.PlainDate.from(date)
}

const zoned = (instant: Date, zone: TimeZone): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone)
