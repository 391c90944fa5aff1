/** Times, durations and lists as a trace's text writes them. Everything is in UTC. Pure. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `120 ms`, `1.20 s`, `14.0 s`, `3 min 20 s`, `5 h 10 min`, `2 d 3 h` */
export const durationText = (ms: number): string => {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(2)} s`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  if (ms < HOUR_MS) return twoUnits(ms, [MINUTE_MS, 'min'], [SECOND_MS, 's'])
  if (ms < DAY_MS) return twoUnits(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'min'])
  return twoUnits(ms, [DAY_MS, 'd'], [HOUR_MS, 'h'])
}

type Unit = readonly [ms: number, name: string]

const twoUnits = (ms: number, [bigMs, big]: Unit, [smallMs, small]: Unit): string => {
  const rest = Math.floor((ms % bigMs) / smallMs)
  return `${Math.floor(ms / bigMs)} ${big}${rest > 0 ? ` ${rest} ${small}` : ''}`
}

/** `Mon 2027-03-29 13:00Z`; without the day where `sameDayAs` has said it. */
export const spanText = (instant: string, sameDayAs?: string): string => {
  const day = instant.slice(0, 10)
  const time = `${instant.slice(11, 16)}Z`
  return sameDayAs?.slice(0, 10) === day ? time : `${weekday(instant)} ${day} ${time}`
}

/** `Mon 2027-03-29 13:00:04.120Z`; seconds that are none are left out: `Mon 2027-03-29 13:00Z` */
export const momentText = (instant: string): string =>
  instant.slice(17, 23) === '00.000'
    ? spanText(instant)
    : `${weekday(instant)} ${instant.slice(0, 10)} ${clockText(instant)}Z`

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const weekday = (instant: string): string => WEEKDAYS[new Date(instant).getUTCDay()] ?? ''

/** `13:00:04.120` */
export const clockText = (instant: string): string => instant.slice(11, 23)

/** `a, b and c` */
export const listText = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`

/** `a ×2`, `b`: each once, in the order in which they appear, and how often. */
export const timesTexts = (items: readonly string[]): readonly string[] =>
  [...new Set(items)].map((item) => {
    const count = items.filter((each) => each === item).length
    return count > 1 ? `${item} ×${count}` : item
  })

/** `1 call`, `2 calls` */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
