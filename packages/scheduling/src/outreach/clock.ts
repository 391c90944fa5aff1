/** Times of day as people write them. Where a number could be of the morning or of the afternoon, it is not guessed. */

/** The four groups of `clockPattern`. */
export type ClockGroups = readonly [
  hour: string | undefined,
  separator: string | undefined,
  minute: string | undefined,
  mark: string | undefined,
]

// “am” is a German preposition too: “um 9 am Dienstag”.
const mark =
  'a\\.?m\\b\\.?(?!\\s+(?:\\d|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag))|p\\.?m\\b\\.?|uhr\\b|h\\b'

export const clockPattern = `(\\d{1,2})(?:([:.])(\\d{2}))?(?!\\d)(?:\\s*(${mark}))?`

const DAY = 24 * 60
const HALF = 12 * 60

interface Clock {
  readonly minutes: number
  readonly half: 'am' | 'pm' | undefined
  /** It can only be meant on a clock of 24 hours. */
  readonly is24: boolean
  /** Marked or written such that it is a time at all, and not some other number. */
  readonly isTime: boolean
  readonly dotted: boolean
}

const readClock = ([hourText = '', separator, minuteText = '00', markText]: ClockGroups):
  Clock | undefined => {
  const hour = Number(hourText)
  const minute = Number(minuteText)
  const marked = markText?.toLowerCase().replaceAll('.', '')
  const half = marked === 'am' || marked === 'pm' ? marked : undefined
  if (minute > 59 || hour > 24 || (hour === 24 && minute > 0)) return undefined
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined
  const minutes = half === undefined ? hour * 60 + minute : inHalf(hour * 60 + minute, half)
  return {
    minutes,
    half,
    is24: half === undefined && (hour > 12 || hour === 0 || hourText.startsWith('0')),
    isTime: marked !== undefined || separator === ':',
    dotted: separator === '.' && marked === undefined,
  }
}

const inHalf = (minutes: number, half: 'am' | 'pm'): number => (minutes % HALF) + (half === 'pm' ? HALF : 0)

/** Hours that nearly everybody means in the morning when they write them without saying so. */
const MORNING_FROM = 7 * 60
/** The same for a bare number, which says even less. */
const BARE_MORNING_FROM = 8 * 60

/** Minutes of the day, or undefined when the words leave a choice. */
export const momentOf = (groups: ClockGroups): number | undefined => {
  const clock = readClock(groups)
  if (!clock?.isTime || clock.dotted || clock.minutes >= DAY) return undefined
  return clock.half !== undefined || clock.is24 || clock.minutes >= MORNING_FROM ? clock.minutes : undefined
}

/** Start and end in minutes of the day, or undefined when the words leave a choice. */
export const rangeOf = (
  first: ClockGroups,
  second: ClockGroups,
): { readonly start: number; readonly end: number } | undefined => {
  // “14.30-16.00 Uhr”: what is said of the end holds for the beginning.
  const [hour, separator, minute, startMark] = first
  const endMark = second[3]
  const shared = /^(?:uhr|h)$/i.test(endMark ?? '') ? endMark : undefined
  const start = readClock([hour, separator, minute, startMark ?? shared])
  const end = readClock(second)
  if (!start || !end || start.dotted || end.dotted) return undefined
  const from = startOf(start, end)
  return from !== undefined && from < end.minutes ? { start: from, end: end.minutes } : undefined
}

const startOf = (start: Clock, end: Clock): number | undefined => {
  if (start.half !== undefined) return end.half === undefined && !end.is24 ? undefined : start.minutes
  if (end.half !== undefined) {
    if (start.is24) return start.minutes
    // “2-4pm” is one afternoon, “11-1pm” goes across noon.
    const same = inHalf(start.minutes, end.half)
    return same < end.minutes ? same : inHalf(start.minutes, end.half === 'pm' ? 'am' : 'pm')
  }
  const earliest = start.isTime ? MORNING_FROM : BARE_MORNING_FROM
  return start.is24 || start.minutes >= earliest ? start.minutes : undefined
}
