import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { localToInstant, resolveLocal } from './local.ts'
import type { LocalTime } from './local.ts'
import {
  asLocal,
  asUtc,
  clockChanges,
  countedBack,
  countedOn,
  showing,
  wallMinutes,
  wallTime,
  zoneNamed,
} from './wall.testing.ts'
import type { WallMinute } from './wall.testing.ts'

const instant = (at: string): LocalTime => ({ type: 'instant', instant: new Date(at) })
const gap = (before: string, after: string): LocalTime => ({
  type: 'gap',
  before: new Date(before),
  after: new Date(after),
})
const overlap = (earlier: string, later: string): LocalTime => ({
  type: 'overlap',
  earlier: new Date(earlier),
  later: new Date(later),
})

/** The answer in words: look through all minutes for the time asked for. */
const lookUp = (minutes: readonly WallMinute[], local: string): LocalTime => {
  const [first, second] = showing(minutes, local)
  if (first === undefined) {
    return {
      type: 'gap',
      before: new Date(countedBack(minutes, local)),
      after: new Date(countedOn(minutes, local)),
    }
  }
  if (second === undefined) return { type: 'instant', instant: new Date(first) }
  return { type: 'overlap', earlier: new Date(first), later: new Date(second) }
}

describe('a local time', () => {
  test.each([
    ['2026-07-01T09:00', 'Europe/Berlin', instant('2026-07-01T07:00Z')],
    ['2026-01-01T09:00:30', 'Asia/Kolkata', instant('2026-01-01T03:30:30Z')],
    ['2026-03-08T02:30', 'America/New_York', gap('2026-03-08T06:30Z', '2026-03-08T07:30Z')],
    ['2026-11-01T01:30', 'America/New_York', overlap('2026-11-01T05:30Z', '2026-11-01T06:30Z')],
    ['2026-03-29T02:30', 'Europe/Berlin', gap('2026-03-29T00:30Z', '2026-03-29T01:30Z')],
    ['2026-10-25T02:30', 'Europe/Berlin', overlap('2026-10-25T00:30Z', '2026-10-25T01:30Z')],
    ['2026-10-04T02:15', 'Australia/Lord_Howe', gap('2026-10-03T15:15Z', '2026-10-03T15:45Z')],
    ['2026-04-05T01:45', 'Australia/Lord_Howe', overlap('2026-04-04T14:45Z', '2026-04-04T15:15Z')],
    ['2026-02-15T02:30', 'Africa/Casablanca', overlap('2026-02-15T01:30Z', '2026-02-15T02:30Z')],
    ['2018-11-04T00:30', 'America/Sao_Paulo', gap('2018-11-04T02:30Z', '2018-11-04T03:30Z')],
    ['2026-11-04T00:30', 'America/Sao_Paulo', instant('2026-11-04T03:30Z')],
    // 30 December 2011 did not take place in Samoa.
    ['2011-12-30T10:00', 'Pacific/Apia', gap('2011-12-29T20:00Z', '2011-12-30T20:00Z')],
  ])('%s in %s', (local, zone, expected) => {
    expect(localToInstant(local, zoneNamed(zone))).toEqual(expected)
  })

  test('the edges of a gap and of an overlap belong to the clock that shows them', () => {
    const berlin = zoneNamed('Europe/Berlin')
    expect(localToInstant('2026-03-29T01:59:59', berlin)).toEqual(instant('2026-03-29T00:59:59Z'))
    expect(localToInstant('2026-03-29T02:00', berlin).type).toBe('gap')
    expect(localToInstant('2026-03-29T03:00', berlin)).toEqual(instant('2026-03-29T01:00Z'))
    expect(localToInstant('2026-10-25T01:59:59', berlin).type).toBe('instant')
    expect(localToInstant('2026-10-25T02:00', berlin).type).toBe('overlap')
    expect(localToInstant('2026-10-25T03:00', berlin)).toEqual(instant('2026-10-25T02:00Z'))
  })

  test.each([
    '',
    '2026-03-08',
    '2026-03-08 02:30',
    '2026-03-08T02:30Z',
    '2026-03-08T02:30+01:00',
    '2026-03-08T02:30[Europe/Berlin]',
    '2026-03-08T24:00',
    '2026-03-08T23:60',
    '2026-03-08T23:59:60',
    '2026-03-08T02:30:00.000',
    '2026-3-8T02:30',
    'tomorrow',
  ])('%j is no local date and time', (text) => {
    expect(localToInstant(text, zoneNamed('UTC'))).toEqual({
      type: 'malformed',
      reason: 'not_a_local_date_time',
    })
  })

  test.each([
    '2026-02-29T10:00',
    '2026-02-30T10:00',
    '2026-13-01T10:00',
    '2026-00-10T10:00',
    '2026-01-00T10:00',
  ])('%s is on a date that no calendar has', (text) => {
    expect(localToInstant(text, zoneNamed('UTC'))).toEqual({ type: 'malformed', reason: 'no_such_date' })
  })

  test('a leap day is a date', () => {
    expect(localToInstant('2028-02-29T10:00', zoneNamed('UTC'))).toEqual(instant('2028-02-29T10:00Z'))
  })

  test.each(clockChanges)('around $zone going $name, agrees with a look at every minute', ({ zone, at }) => {
    const minutes = wallMinutes(zone, new Date(at), 3)
    const wall = asUtc(wallTime(new Date(at), zone))
    fc.assert(
      fc.property(fc.integer({ min: -27 * 60, max: 27 * 60 }), (offset) => {
        const local = asLocal(wall + offset * 60_000)
        expect(localToInstant(local, zoneNamed(zone))).toEqual(lookUp(minutes, local))
      }),
      { numRuns: 60 },
    )
  })

  test('whatever a clock shows leads back to the instant at which it was read', () => {
    const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const anyMinute = fc.integer({ min: Date.UTC(1990, 0) / 60_000, max: Date.UTC(2037, 0) / 60_000 })
    fc.assert(
      fc.property(anyZone, anyMinute, (zone, minute) => {
        const read = minute * 60_000
        const time = localToInstant(wallTime(new Date(read), zone), zoneNamed(zone))
        if (time.type === 'overlap') {
          expect([time.earlier.getTime(), time.later.getTime()]).toContain(read)
        } else {
          expect(time).toEqual({ type: 'instant', instant: new Date(read) })
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('a policy for local times', () => {
  const newYork = zoneNamed('America/New_York')
  const skipped = '2026-03-08T02:30'
  const twice = '2026-11-01T01:30'

  test('moves a skipped time on by the length of the jump', () => {
    const time = resolveLocal(skipped, newYork, { gap: 'shift_later', overlap: 'refuse' })
    expect(time).toEqual(instant('2026-03-08T07:30Z'))
  })

  test('takes the earlier or the later of two', () => {
    const earlier = resolveLocal(twice, newYork, { gap: 'refuse', overlap: 'earlier' })
    const later = resolveLocal(twice, newYork, { gap: 'refuse', overlap: 'later' })
    expect([earlier, later]).toEqual([instant('2026-11-01T05:30Z'), instant('2026-11-01T06:30Z')])
  })

  test('refuses by handing back both candidates, for a person to choose', () => {
    const refuse = { gap: 'refuse', overlap: 'refuse' } as const
    expect(resolveLocal(skipped, newYork, refuse)).toEqual(localToInstant(skipped, newYork))
    expect(resolveLocal(twice, newYork, refuse)).toEqual(localToInstant(twice, newYork))
  })

  test('changes nothing about a plain time or a malformed one', () => {
    const decided = { gap: 'shift_later', overlap: 'later' } as const
    expect(resolveLocal('2026-07-01T09:00', newYork, decided)).toEqual(instant('2026-07-01T13:00Z'))
    expect(resolveLocal('9 am', newYork, decided).type).toBe('malformed')
  })
})
