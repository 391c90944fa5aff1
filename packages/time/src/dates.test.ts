import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  addDays,
  dateIn,
  dayOfWeek,
  eachDate,
  isCalendarDate,
  nextOffsetChange,
  offsetMinutes,
  startOfDay,
} from './dates.ts'
import {
  asUtc,
  clockChanges,
  dayMs,
  hourMs,
  minuteMs,
  wallMinutes,
  wallTime,
  zoneNamed,
} from './wall.testing.ts'

const hoursOf = (date: string, zone: string): number => {
  const [start, end] = [startOfDay(date, zoneNamed(zone)), startOfDay(addDays(date, 1), zoneNamed(zone))]
  return (end.getTime() - start.getTime()) / hourMs
}

describe('a day', () => {
  test.each([
    ['2026-03-07', 'America/New_York', 24],
    ['2026-03-08', 'America/New_York', 23],
    ['2026-11-01', 'America/New_York', 25],
    ['2026-10-04', 'Australia/Lord_Howe', 23.5],
    ['2026-04-05', 'Australia/Lord_Howe', 24.5],
    ['2026-03-29', 'Antarctica/Troll', 22],
    ['2011-12-30', 'Pacific/Apia', 0],
  ])('%s in %s has %d hours', (date, zone, hours) => {
    expect(hoursOf(date, zone)).toBe(hours)
  })

  test.each([
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00Z'],
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00Z'],
  ])('%s in %s begins at one in the morning, because midnight is skipped', (date, zone, start) => {
    expect(startOfDay(date, zoneNamed(zone))).toEqual(new Date(start))
    expect(wallTime(new Date(start), zone)).toBe(`${date}T01:00`)
  })

  test.each(clockChanges)(
    'around $zone going $name, begins with the first minute that shows its date',
    (change) => {
      const zone = zoneNamed(change.zone)
      for (const date of eachDate(addDays(change.at.slice(0, 10), -1), addDays(change.at.slice(0, 10), 2))) {
        const minutes = wallMinutes(change.zone, new Date(`${date}T00:00Z`), 1)
        const first = minutes.find((minute) => minute.shows.startsWith(date))
        const next = minutes.find((minute) => minute.shows > date)
        expect(startOfDay(date, zone).getTime()).toBe((first ?? next)?.at)
        expect(dateIn(new Date(first?.at ?? startOfDay(date, zone)), zone)).toBe(
          first ? date : addDays(date, 1),
        )
      }
    },
  )

  test.each(['2026-02-30', '2026-2-3', '20260203', '2026-02-03T10:00', 'today', ''])(
    '%j is no date, and using it as one is a defect',
    (text) => {
      expect(isCalendarDate(text)).toBe(false)
      expect(() => startOfDay(text, zoneNamed('UTC'))).toThrow(RangeError)
      expect(() => dayOfWeek(text)).toThrow(RangeError)
      expect(() => addDays(text, 1)).toThrow(RangeError)
      expect(() => eachDate(text, '2026-01-01')).toThrow(RangeError)
    },
  )

  test('has a weekday that starts with Monday as 1', () => {
    expect(eachDate('2026-03-02', '2026-03-08').map(dayOfWeek)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  test('follows another across months, leap days and years', () => {
    expect(eachDate('2028-02-28', '2028-03-01')).toEqual(['2028-02-28', '2028-02-29', '2028-03-01'])
    expect(eachDate('2026-12-31', '2027-01-01')).toEqual(['2026-12-31', '2027-01-01'])
    expect(eachDate('2026-01-01', '2026-01-01')).toEqual(['2026-01-01'])
    expect(eachDate('2026-01-02', '2026-01-01')).toEqual([])
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28')
  })
})

describe('the offset of a zone', () => {
  test('is what the wall shows against UTC, at any minute in any zone', () => {
    const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const anyMinute = fc.integer({ min: Date.UTC(1990, 0) / minuteMs, max: Date.UTC(2037, 0) / minuteMs })
    fc.assert(
      fc.property(anyZone, anyMinute, (zone, minute) => {
        const at = minute * minuteMs
        expect(offsetMinutes(new Date(at), zoneNamed(zone))).toBe(
          (asUtc(wallTime(new Date(at), zone)) - at) / minuteMs,
        )
      }),
      { numRuns: 300 },
    )
  })

  test.each(clockChanges.filter((change) => change.name !== 'no change at all'))(
    'changes for $zone at $at, and the change is announced until it happens',
    ({ zone, at }) => {
      const change = new Date(at)
      for (const aheadMs of [1, minuteMs, dayMs, 20 * dayMs]) {
        expect(nextOffsetChange(zoneNamed(zone), new Date(change.getTime() - aheadMs))).toEqual(change)
      }
      const following = nextOffsetChange(zoneNamed(zone), change)
      expect(following === undefined || following > change).toBe(true)
    },
  )

  test.each(['UTC', 'Asia/Kolkata', 'America/Sao_Paulo'])('never changes again in %s', (zone) => {
    expect(nextOffsetChange(zoneNamed(zone), new Date('2026-01-01T00:00Z'))).toBeUndefined()
  })

  test.each(['America/New_York', 'Africa/Casablanca', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Gaza'])(
    'changes in %s exactly when a look at every half hour of two years says so',
    (name) => {
      const zone = zoneNamed(name)
      const [start, end] = [Date.UTC(2026, 0), Date.UTC(2028, 0)]
      const seen: Date[] = []
      for (let at = start + hourMs / 2; at < end; at += hourMs / 2) {
        if (offsetMinutes(new Date(at), zone) !== offsetMinutes(new Date(at - hourMs / 2), zone))
          seen.push(new Date(at))
      }
      const announced: Date[] = []
      let next = nextOffsetChange(zone, new Date(start))
      while (next !== undefined && next.getTime() < end) {
        announced.push(next)
        next = nextOffsetChange(zone, next)
      }
      expect(seen.length).toBeGreaterThan(0)
      expect(announced).toEqual(seen)
    },
  )
})
