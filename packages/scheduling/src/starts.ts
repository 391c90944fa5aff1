/** The times at which a meeting may start: on round times of a zone's clock. Pure. */
import { offsetMinutes, offsetStretches, type Interval, type Spans, type TimeZone } from '@aftercommit/time'

/**
 * Starts are counted from 0. Between two clock changes they are equally far apart; a change may move them against UTC
 * (Lord Howe's clock moves by half an hour).
 */
export interface Starts {
  readonly count: number
  readonly grainMs: number
  readonly stretches: readonly {
    readonly first: number
    readonly count: number
    /** How many starts there are in the stretches before this one. */
    readonly before: number
    readonly offsetMs: number
  }[]
}

export const DAY_MS = 24 * 60 * 60_000

/** The starts within a window that leave room for the meeting. */
export const startsIn = (
  window: Interval,
  { grainMs, durationMs, zone }: { grainMs: number; durationMs: number; zone: TimeZone },
): Starts => {
  const stretches: Starts['stretches'][number][] = []
  let before = 0
  for (const { start, end, offsetMs } of offsetStretches(zone, window)) {
    const first = Math.ceil((start.getTime() + offsetMs) / grainMs) * grainMs - offsetMs
    const last = Math.min(end.getTime() - 1, window.end.getTime() - durationMs)
    const count = Math.floor((last - first) / grainMs) + 1
    if (count <= 0) continue
    stretches.push({ first, count, before, offsetMs })
    before += count
  }
  return { count: before, grainMs, stretches }
}

/** Whether the clock shows a whole multiple of the grain. */
export const isRoundTime = (at: Date, { grainMs, zone }: { grainMs: number; zone: TimeZone }): boolean =>
  (at.getTime() + offsetMinutes(at, zone) * 60_000) % grainMs === 0

const stretchOf = ({ stretches }: Starts, index: number): Starts['stretches'][number] => {
  const stretch = stretches.findLast(({ before }) => before <= index)
  if (!stretch || index < 0 || index >= stretch.before + stretch.count) {
    throw new RangeError(`there is no start ${index}`)
  }
  return stretch
}

export const startAt = (starts: Starts, index: number): number => {
  const { first, before } = stretchOf(starts, index)
  return first + (index - before) * starts.grainMs
}

/** The day that the clock shows at a start, as a number: equal ones are the same day. */
export const dayAt = (starts: Starts, index: number): number =>
  Math.floor((startAt(starts, index) + stretchOf(starts, index).offsetMs) / DAY_MS)

/** How many starts there are up to a moment, and in it. */
const startsUpTo = ({ stretches, grainMs }: Starts, moment: number): number => {
  for (let index = stretches.length - 1; index >= 0; index -= 1) {
    const stretch = stretches[index]
    if (stretch && stretch.first <= moment) {
      return stretch.before + Math.min(stretch.count, Math.floor((moment - stretch.first) / grainMs) + 1)
    }
  }
  return 0
}

/** Which start lies at a moment, if one does. */
export const indexOfStart = (starts: Starts, moment: number): number | undefined => {
  const index = startsUpTo(starts, moment) - 1
  return index >= 0 && startAt(starts, index) === moment ? index : undefined
}

/** For each start, who of some people misses a meeting that starts then. */
export interface Missing {
  readonly countByStart: Int32Array
  /** The sum of their positions: where one person is missing, the position of that person. */
  readonly positionsByStart: Int32Array
}

/**
 * Counts, one person after the other, the starts at which a meeting does not fit into that person's free time. One sweep
 * over each person's boundaries, never a walk over people times starts.
 */
export const countMissing = <Person>(
  people: readonly Person[],
  freeOf: (person: Person) => Spans,
  starts: Starts,
  durationMs: number,
): Missing => {
  const countByStart = new Int32Array(starts.count + 1)
  const positionsByStart = new Int32Array(starts.count + 1)
  people.forEach((person, position) => {
    const free = freeOf(person)
    addTo(countByStart, 0, starts.count, 1)
    addTo(positionsByStart, 0, starts.count, position)
    for (let index = 0; index + 1 < free.length; index += 2) {
      const from = free[index] ?? 0
      const lastStart = (free[index + 1] ?? 0) - durationMs
      if (lastStart < from) continue
      for (const { first, count, before } of starts.stretches) {
        const low = Math.max(0, Math.ceil((from - first) / starts.grainMs))
        const high = Math.min(count, Math.floor((lastStart - first) / starts.grainMs) + 1)
        if (low >= high) continue
        addTo(countByStart, before + low, before + high, -1)
        addTo(positionsByStart, before + low, before + high, -position)
      }
    }
  })
  addUp(countByStart)
  addUp(positionsByStart)
  return { countByStart, positionsByStart }
}

/** So much more from `low` up to, not including, `high`, in a list of differences. */
const addTo = (changes: Int32Array, low: number, high: number, amount: number): void => {
  changes[low] = (changes[low] ?? 0) + amount
  changes[high] = (changes[high] ?? 0) - amount
}

const addUp = (changes: Int32Array): void => {
  for (let index = 1; index < changes.length; index += 1) {
    changes[index] = (changes[index] ?? 0) + (changes[index - 1] ?? 0)
  }
}
