import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { normalise } from './intervals.ts'
import type { Interval } from './intervals.ts'
import { workingWindows } from './working.ts'
import type { WorkingHours } from './working.ts'
import { clockChanges, countedOn, hourMs, minuteMs, showing, wallMinutes, zoneNamed } from './wall.testing.ts'
import type { WallMinute } from './wall.testing.ts'

const between = (start: string, end: string): Interval => ({ start: new Date(start), end: new Date(end) })
const weekdays = [1, 2, 3, 4, 5]
const everyDay = [1, 2, 3, 4, 5, 6, 7]

const windowsOf = (zone: string, hours: Omit<WorkingHours, 'zone'>, from: string, to: string): unknown =>
  workingWindows({ zone: zoneNamed(zone), ...hours, from: new Date(from), to: new Date(to) })

/** Date by date, with every edge looked up among the minutes the clock shows. */
const windowsLookedUp = (
  minutes: readonly WallMinute[],
  hours: WorkingHours,
  within: Interval,
): Interval[] => {
  const edge = (local: string, side: 0 | -1): number =>
    showing(minutes, local).at(side) ?? countedOn(minutes, local)
  const dates = [...new Set(minutes.map((minute) => minute.shows.slice(0, 10)))].sort()
  const windows = dates.slice(1, -2).flatMap((date): Interval[] => {
    const weekday = new Date(`${date}T12:00Z`).getUTCDay()
    if (!hours.days.includes(weekday === 0 ? 7 : weekday)) return []
    const midnightAfter = new Date(Date.parse(`${date}T00:00Z`) + 24 * hourMs).toISOString().slice(0, 16)
    const start = edge(`${date}T${hours.startsAt}`, 0)
    const end = edge(hours.endsAt === '24:00' ? midnightAfter : `${date}T${hours.endsAt}`, -1)
    const from = Math.max(start, within.start.getTime())
    const to = Math.min(end, within.end.getTime())
    return from < to ? [{ start: new Date(from), end: new Date(to) }] : []
  })
  return normalise(windows)
}

describe('working hours', () => {
  test('are the same on the clock and another instant after a clock change', () => {
    const hours = { startsAt: '09:00', endsAt: '17:30', days: weekdays }
    expect(windowsOf('Europe/Berlin', hours, '2026-03-27T00:00Z', '2026-03-31T00:00Z')).toEqual({
      type: 'windows',
      windows: [
        between('2026-03-27T08:00Z', '2026-03-27T16:30Z'),
        between('2026-03-30T07:00Z', '2026-03-30T15:30Z'),
      ],
    })
  })

  test('that begin or end in a skipped hour do so as much later', () => {
    const newYork = 'America/New_York'
    const day = ['2026-03-08T05:00Z', '2026-03-09T04:00Z'] as const
    expect(windowsOf(newYork, { startsAt: '02:30', endsAt: '09:00', days: everyDay }, ...day)).toEqual({
      type: 'windows',
      windows: [between('2026-03-08T07:30Z', '2026-03-08T13:00Z')],
    })
    expect(windowsOf(newYork, { startsAt: '00:00', endsAt: '02:30', days: everyDay }, ...day)).toEqual({
      type: 'windows',
      windows: [between('2026-03-08T05:00Z', '2026-03-08T07:30Z')],
    })
  })

  test('that a skipped hour leaves without time are not there', () => {
    const hours = { startsAt: '02:45', endsAt: '03:15', days: everyDay }
    expect(windowsOf('America/New_York', hours, '2026-03-08T05:00Z', '2026-03-09T04:00Z')).toEqual({
      type: 'windows',
      windows: [],
    })
  })

  test('begin with the first and end with the second of two equal times', () => {
    const hours = { startsAt: '01:15', endsAt: '01:45', days: everyDay }
    expect(windowsOf('America/New_York', hours, '2026-11-01T04:00Z', '2026-11-02T05:00Z')).toEqual({
      type: 'windows',
      windows: [between('2026-11-01T05:15Z', '2026-11-01T06:45Z')],
    })
  })

  test('reach the end of the day as 24:00, and join those of the day after', () => {
    const hours = { startsAt: '00:00', endsAt: '24:00', days: [6, 7] }
    expect(windowsOf('America/Santiago', hours, '2026-09-01T00:00Z', '2026-09-10T00:00Z')).toEqual({
      type: 'windows',
      windows: [between('2026-09-05T04:00Z', '2026-09-07T03:00Z')],
    })
  })

  test('go on when the clock, set back across midnight, shows the date before once more', () => {
    // At one minute past midnight of 7 November 2010, St. John's went back to 23:01 of the 6th.
    const hours = { startsAt: '09:00', endsAt: '24:00', days: [6] }
    expect(windowsOf('America/St_Johns', hours, '2010-11-07T02:30:30Z', '2010-11-08T00:00Z')).toEqual({
      type: 'windows',
      windows: [between('2010-11-07T02:30:30Z', '2010-11-07T03:30Z')],
    })
  })

  test('do not exist on a date that the zone left out', () => {
    const hours = { startsAt: '09:00', endsAt: '17:00', days: everyDay }
    expect(windowsOf('Pacific/Apia', hours, '2011-12-29T10:00Z', '2011-12-31T10:00Z')).toEqual({
      type: 'windows',
      windows: [
        between('2011-12-29T19:00Z', '2011-12-30T03:00Z'),
        between('2011-12-30T19:00Z', '2011-12-31T03:00Z'),
      ],
    })
  })

  test('are cut off where the stretch asked about begins and ends', () => {
    const hours = { startsAt: '09:00', endsAt: '17:00', days: everyDay }
    expect(windowsOf('UTC', hours, '2026-01-01T10:00Z', '2026-01-02T09:30Z')).toEqual({
      type: 'windows',
      windows: [
        between('2026-01-01T10:00Z', '2026-01-01T17:00Z'),
        between('2026-01-02T09:00Z', '2026-01-02T09:30Z'),
      ],
    })
    expect(windowsOf('UTC', hours, '2026-01-01T10:00Z', '2026-01-01T10:00Z')).toEqual({
      type: 'windows',
      windows: [],
    })
  })

  test.each([
    [{ startsAt: '22:00', endsAt: '06:00', days: weekdays }, 'ends_not_after_start'],
    [{ startsAt: '09:00', endsAt: '09:00', days: weekdays }, 'ends_not_after_start'],
    [{ startsAt: '9:00', endsAt: '17:00', days: weekdays }, 'not_a_time_of_day'],
    [{ startsAt: '24:00', endsAt: '24:00', days: weekdays }, 'not_a_time_of_day'],
    [{ startsAt: '09:00', endsAt: '24:30', days: weekdays }, 'not_a_time_of_day'],
    [{ startsAt: '09:00', endsAt: '17:00', days: [] }, 'no_days'],
    [{ startsAt: '09:00', endsAt: '17:00', days: [0] }, 'not_a_day_of_week'],
    [{ startsAt: '09:00', endsAt: '17:00', days: [1.5] }, 'not_a_day_of_week'],
  ])('%j are malformed: %s', (hours, reason) => {
    expect(windowsOf('UTC', hours, '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toEqual({
      type: 'malformed',
      reason,
    })
  })

  test('over a stretch that ends before it starts are malformed', () => {
    const hours = { startsAt: '09:00', endsAt: '17:00', days: weekdays }
    expect(windowsOf('UTC', hours, '2026-01-02T00:00Z', '2026-01-01T00:00Z')).toEqual({
      type: 'malformed',
      reason: 'ends_before_it_starts',
    })
  })

  test.each(clockChanges)('around $zone going $name, agree with a look at every minute', (change) => {
    const at = new Date(change.at)
    const minutes = wallMinutes(change.zone, at, 7)
    const quarterOfDay = fc.integer({ min: 0, max: 96 })
    const anyHours = fc.record({
      edges: fc.uniqueArray(quarterOfDay, { minLength: 2, maxLength: 2 }),
      days: fc.uniqueArray(fc.constantFrom(...everyDay), { minLength: 1 }),
      fromMinute: fc.integer({ min: -4 * 1440, max: 2 * 1440 }),
      lengthMinutes: fc.integer({ min: 0, max: 4 * 1440 }),
    })
    const timeOf = (quarter: number): string =>
      `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`
    fc.assert(
      fc.property(anyHours, ({ edges, days, fromMinute, lengthMinutes }) => {
        const [startsAt = '', endsAt = ''] = edges.toSorted((a, b) => a - b).map(timeOf)
        const hours = { zone: zoneNamed(change.zone), startsAt, endsAt, days }
        const from = new Date(at.getTime() + fromMinute * minuteMs)
        const to = new Date(
          Math.min(from.getTime() + lengthMinutes * minuteMs, at.getTime() + 4 * 24 * hourMs),
        )
        expect(workingWindows({ ...hours, from, to })).toEqual({
          type: 'windows',
          windows: windowsLookedUp(minutes, hours, { start: from, end: to }),
        })
      }),
      { numRuns: 40 },
    )
  })
})
