/** Which dates of a window the name of a day stands for. */
import { addDays, dayOfWeek, isCalendarDate } from '@aftercommit/time'
import type { DayName, PartialDate } from './tokens.ts'

export interface ClauseContext {
  /** The window's dates from today on, in order. */
  readonly dates: readonly string[]
  readonly today: string
  readonly thisMonday: string
  readonly durationMinutes: number
  /** Parts of a day are times only on a clock that is known. */
  readonly clockIsKnown: boolean
}

export type Doubt = 'date' | 'time' | 'outside_window'

/** The dates of the window that a name stands for; none of them is an answer of its own. */
export const datesNamed = (
  day: DayName,
  dates: readonly string[],
  context: ClauseContext,
): readonly string[] | Doubt => {
  switch (day.type) {
    case 'any_day':
      return someOf(dates)
    case 'weekdays':
      return someOf(dates.filter((date) => dayOfWeek(date) <= 5))
    case 'in_days':
      return someOf(dates.filter((date) => date === addDays(context.today, day.days)))
    case 'weekday': {
      const found = dates.filter((date) => dayOfWeek(date) === day.day)
      // Of two Tuesdays, which one?
      return found.length > 1 && !day.every ? 'date' : someOf(found)
    }
    case 'weekday_range': {
      const length = ((day.last - day.first + 7) % 7) + 1
      const found = dates.filter((date) => (dayOfWeek(date) - day.first + 7) % 7 < length)
      const [first, last] = [found.at(0), found.at(-1)]
      const isOneRun = first === undefined || last === undefined || last < addDays(first, length)
      return isOneRun ? someOf(found) : 'date'
    }
    case 'date': {
      const found = fullDates(day.date, dates)
      if (found.some((date) => day.weekday !== undefined && dayOfWeek(date) !== day.weekday)) return 'date'
      return found.length > 1 || !isInSomeYear(day.date) ? 'date' : someOf(found)
    }
    case 'date_range': {
      if (!isInSomeYear(day.first) || !isInSomeYear(day.last)) return 'date'
      const [from, to] = [sortableOf(day.first, dates), sortableOf(day.last, dates)]
      if (from === undefined || to === undefined || from > to) return 'date'
      return someOf(dates.filter((date) => from <= date && date <= to))
    }
  }
}

const someOf = (dates: readonly string[]): readonly string[] | 'outside_window' =>
  dates.length === 0 ? 'outside_window' : dates

const fullDates = ({ year, month, day }: PartialDate, dates: readonly string[]): readonly string[] =>
  dates.filter(
    (date) =>
      Number(date.slice(8)) === day &&
      (month === undefined || Number(date.slice(5, 7)) === month) &&
      (year === undefined || Number(date.slice(0, 4)) === year),
  )

/** False for 30 February and for a month 13, which somebody must have meant otherwise. */
const isInSomeYear = ({ year = 2028, month = 1, day }: PartialDate): boolean =>
  isCalendarDate(dateText(year, month, day))

/** An end of a range, in the year in which the window begins unless it names its own. */
const sortableOf = ({ year, month, day }: PartialDate, dates: readonly string[]): string | undefined => {
  const first = dates[0]
  if (first === undefined || month === undefined) return undefined
  const firstYear = Number(first.slice(0, 4))
  // Without a year it is the next such date that is not half a year over.
  const monthsOver = Number(first.slice(5, 7)) - month
  return dateText(year ?? (monthsOver > 6 ? firstYear + 1 : firstYear), month, day)
}

const dateText = (year: number, month: number, day: number): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
