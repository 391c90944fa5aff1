import { describe, expect, test } from '@jest/globals'
import { covers, parseTimeZone, type Interval, type TimeZone } from '@aftercommit/time'
import fc from 'fast-check'
import { localWindowOf, normaliseReply, type LocalWindow } from './reply.ts'

const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(name)
  return zone.zone
}
const berlin = zoneNamed('Europe/Berlin')
const HOUR_MS = 3_600_000
/** Over the night in which Berlin's clocks are set forward. */
const spring: Interval = { start: new Date('2027-03-26T23:00Z'), end: new Date('2027-04-02T22:00Z') }
/** Over the night in which they are set back. */
const autumn: Interval = { start: new Date('2027-10-28T22:00Z'), end: new Date('2027-11-05T23:00Z') }

const on = (date: string, from: string, to: string, more: Partial<LocalWindow> = {}): LocalWindow => ({
  start: `${date}T${from}`,
  end: `${date}T${to}`,
  ...more,
})
const read = (windows: readonly LocalWindow[], window = spring, zone: TimeZone | undefined = berlin) =>
  normaliseReply({ windows }, window, HOUR_MS, zone)
const problemsOf = (...parameters: Parameters<typeof read>): unknown => {
  const result = read(...parameters)
  return result.type === 'unclear' ? result.problems : result
}

describe('what a person stated', () => {
  test('becomes stretches of time, in order and without seams', () => {
    const windows = [
      on('2027-03-30', '15:00', '16:00'),
      on('2027-03-29', '09:00', '10:00'),
      on('2027-03-30', '14:00', '15:00'),
    ]
    expect(read(windows)).toEqual({
      type: 'stated',
      zone: berlin,
      free: [
        { start: new Date('2027-03-29T07:00Z'), end: new Date('2027-03-29T08:00Z') },
        { start: new Date('2027-03-30T12:00Z'), end: new Date('2027-03-30T14:00Z') },
      ],
    })
  })

  test('is read on the clock that they chose', () => {
    expect(read([on('2027-03-30', '09:00', '10:00')], spring, zoneNamed('America/New_York'))).toMatchObject({
      free: [{ start: new Date('2027-03-30T13:00Z') }],
    })
  })

  test('means nothing without a zone', () => {
    const windows = [on('2027-03-30', '09:00', '10:00')]
    expect(normaliseReply({ windows }, spring, HOUR_MS, undefined)).toEqual({
      type: 'unclear',
      problems: [{ type: 'zone_missing' }],
    })
  })

  test('is cut where it reaches beyond the window, and refused where it is all outside of it', () => {
    expect(
      read([on('2027-04-02', '20:00', '23:00'), { start: '2027-04-02T20:00', end: '2027-04-03T12:00' }]),
    ).toMatchObject({
      free: [{ start: new Date('2027-04-02T18:00Z'), end: spring.end }],
    })
    expect(problemsOf([on('2027-04-03', '09:00', '10:00')])).toEqual([{ type: 'outside_window', index: 0 }])
  })

  test('a day is as long as its zone has it', () => {
    const day = { start: '2027-03-28T00:00', end: '2027-03-29T00:00' }
    expect(read([day])).toMatchObject({
      free: [{ start: new Date('2027-03-27T23:00Z'), end: new Date('2027-03-28T22:00Z') }],
    })
  })

  test('a day begins with its first moment where the clock skips midnight', () => {
    const window = { start: new Date('2026-04-20T00:00Z'), end: new Date('2026-05-01T00:00Z') }
    expect(
      read([{ start: '2026-04-24T00:00', end: '2026-04-25T00:00' }], window, zoneNamed('Africa/Cairo')),
    ).toMatchObject({
      free: [{ start: new Date('2026-04-23T22:00Z'), end: new Date('2026-04-24T21:00Z') }],
    })
  })

  test('a time that the clock skips is asked again', () => {
    expect(problemsOf([on('2027-03-28', '02:30', '05:00')])).toEqual([
      { type: 'time_skipped', index: 0, edge: 'start' },
    ])
  })

  test('a time that the clock shows twice is asked again, until it is said which one is meant', () => {
    const night = on('2027-10-31', '02:30', '05:00')
    const [earlier, later] = [new Date('2027-10-31T00:30Z'), new Date('2027-10-31T01:30Z')]
    expect(problemsOf([night], autumn)).toEqual([
      { type: 'time_twice', index: 0, edge: 'start', earlier, later },
    ])
    expect(read([{ ...night, startFold: 'later' }], autumn)).toMatchObject({ free: [{ start: later }] })
    expect(read([{ ...night, startFold: 'earlier' }], autumn)).toMatchObject({ free: [{ start: earlier }] })
    // From the first 02:30 to the second one is an hour.
    expect(
      read([on('2027-10-31', '02:30', '02:30', { startFold: 'earlier', endFold: 'later' })], autumn),
    ).toMatchObject({
      free: [{ start: earlier, end: later }],
    })
  })

  test.each([
    [
      'ends before it starts',
      [on('2027-03-30', '10:00', '09:00')],
      [{ type: 'ends_not_after_start', index: 0 }],
    ],
    ['is empty', [on('2027-03-30', '10:00', '10:00')], [{ type: 'ends_not_after_start', index: 0 }]],
    ['is too short', [on('2027-03-30', '10:00', '10:45')], [{ type: 'too_short', index: 0 }]],
    ['has no such date', [on('2027-02-30', '10:00', '12:00')], [{ type: 'not_a_window', index: 0 }]],
    ['is not a time', [on('2027-03-30', '9', '12:00')], [{ type: 'not_a_window', index: 0 }]],
    ['is nothing', [], [{ type: 'nothing_stated' }]],
    [
      'is too much',
      Array.from({ length: 63 }, () => on('2027-03-30', '10:00', '12:00')),
      [{ type: 'too_many_windows' }],
    ],
  ])('what %s is asked again', (_what, windows, problems) => {
    expect(problemsOf(windows)).toEqual(problems)
  })

  test('two halves that touch are long enough together, and the one that stands alone is named', () => {
    const windows = [
      on('2027-03-30', '14:00', '14:30'),
      on('2027-03-31', '14:00', '14:30'),
      on('2027-03-30', '14:30', '15:00'),
    ]
    expect(problemsOf(windows)).toEqual([{ type: 'too_short', index: 1 }])
  })
})

test('what was stated is shown again as the same stretch, in any zone and through every clock change', () => {
  const zones = [
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Africa/Cairo',
    'America/Havana',
    'Asia/Kolkata',
  ]
  const minutes = fc.integer({ min: 0, max: 40 * 24 * 60 })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones.map(zoneNamed)),
      fc.constantFrom('2027-03-01', '2027-10-10', '2026-08-20'),
      minutes,
      fc.integer({ min: 60, max: 3_000 }),
      (zone, first, from, length) => {
        const startMs = Date.parse(`${first}T00:00Z`) + from * 60_000
        const stretch = { start: new Date(startMs), end: new Date(startMs + length * 60_000) }
        const window = { start: new Date(startMs - HOUR_MS), end: new Date(stretch.end.getTime() + HOUR_MS) }
        const again = normaliseReply({ windows: [localWindowOf(stretch, zone)] }, window, HOUR_MS, zone)
        expect(again).toEqual({ type: 'stated', zone, free: [stretch] })
      },
    ),
  )
})

test('whatever is sent, what counts is within the window and long enough', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc
      .tuple(fc.integer({ min: 20, max: 40 }), fc.integer({ min: 0, max: 1_500 }))
      .map(([day, minute]) => new Date(Date.UTC(2027, 2, day) + minute * 60_000).toISOString().slice(0, 16)),
  )
  fc.assert(
    fc.property(fc.array(fc.record({ start: text, end: text }), { maxLength: 6 }), (windows) => {
      const result = normaliseReply({ windows }, spring, HOUR_MS, berlin)
      if (result.type !== 'stated') return
      for (const stretch of result.free) {
        expect(covers([spring], stretch)).toBe(true)
        expect(stretch.end.getTime() - stretch.start.getTime()).toBeGreaterThanOrEqual(HOUR_MS)
      }
    }),
  )
})
