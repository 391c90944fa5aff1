import { describe, expect, test } from '@jest/globals'
import { workingWindows, type Interval } from '@aftercommit/time'
import { explainRejected, findTimes, type FindTimesInput } from './overlap.ts'
import {
  between,
  meeting,
  minuteMs,
  person,
  stating,
  time,
  unranked,
  unread,
  zoneNamed,
} from './overlap.people.testing.ts'

const startsOf = (input: Partial<FindTimesInput>): unknown => {
  const result = findTimes(meeting({ slotsMax: 99, ...input }))
  return result.type === 'found'
    ? result.slots.map(({ start }) => start.toISOString().slice(11, 16))
    : result.type
}
describe('finding times', () => {
  test('takes the time that every required person has', () => {
    const required = [
      person('ana', between('09:00', '12:00')),
      person('ben', between('13:00', '17:00')),
      person('eve', between('08:00', '09:30'), between('11:30', '11:45')),
    ]
    expect(findTimes(meeting({ required }))).toEqual({
      type: 'found',
      slots: [
        {
          ...between('12:00', '13:00'),
          optionalAttending: [],
          optionalMissing: [],
          ranking: [{ criterion: 'earliest', value: '2026-03-24T12:00:00.000Z' }],
        },
      ],
    })
  })

  test('offers everything of a calendar in which nothing is', () => {
    expect(startsOf({ required: [person('ana')], window: between('09:00', '11:00') })).toEqual([
      '09:00',
      '10:00',
    ])
  })

  test('gives an optional person no say over whether there is a time', () => {
    const optional = [person('ana', between('09:00', '17:00')), { ...person('ben'), allowed: [] }]
    const result = findTimes(meeting({ required: [person('eve')], optional, slotsMax: 1 }))
    expect(result).toMatchObject({
      slots: [
        {
          ...between('09:00', '10:00'),
          optionalAttending: [],
          optionalMissing: [
            { id: 'ana', because: 'busy' },
            { id: 'ben', because: 'outside_hours' },
          ],
        },
      ],
    })
  })

  test('never reads what is unknown of a required person as free', () => {
    const required = [person('ana'), unread('ben'), person('eve', between('09:00', '17:00')), unread('joe')]
    expect(findTimes(meeting({ required }))).toEqual({
      type: 'unknown_required',
      participantIds: ['ben', 'joe'],
    })
  })

  test('joins hours that touch, and needs the meeting wholly within them', () => {
    const ana = { ...person('ana'), allowed: [between('10:00', '10:30'), between('10:30', '11:00')] }
    expect(startsOf({ required: [ana] })).toEqual(['10:00'])
  })

  test('starts on round times, not on the edge of the window, and not before people can be approached', () => {
    const input = { window: between('09:07', '12:00'), grainMs: 15 * minuteMs, required: [person('ana')] }
    expect(startsOf(input)).toEqual(['09:15', '10:15'])
    expect(startsOf({ ...input, approachNotBefore: time('10:16') })).toEqual(['10:30'])
  })

  test('is for a meeting of the length asked for, whatever shorter one would fit', () => {
    const required = [person('ana', between('10:00', '17:00'))]
    expect(startsOf({ required, durationMs: 60 * minuteMs })).toEqual(['09:00'])
    expect(startsOf({ required, durationMs: 61 * minuteMs })).toBe('no_overlap')
  })

  test('meets in the hours that two zones share, which move when only one changes its clock', () => {
    // New York is on summer time from 8 March 2026, Berlin from the 29th.
    const hoursIn = (zoneName: string): readonly Interval[] => {
      const hours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }
      const stretch = { from: new Date('2026-03-23T00:00Z'), to: new Date('2026-04-04T00:00Z') }
      const windows = workingWindows({ zone: zoneNamed(zoneName), ...hours, ...stretch })
      return windows.type === 'windows' ? windows.windows : []
    }
    const required = [
      { ...person('ana'), allowed: hoursIn('America/New_York') },
      { ...person('ben'), allowed: hoursIn('Europe/Berlin') },
    ]
    const startsOn = (date: string): unknown => {
      const window = { start: new Date(`${date}T00:00Z`), end: new Date(`${date}T23:00Z`) }
      return startsOf({ required, window })
    }
    expect(startsOn('2026-03-27')).toEqual(['13:00', '14:00', '15:00'])
    expect(startsOn('2026-03-30')).toEqual(['13:00', '14:00'])
  })

  test.each([
    ['no length', { durationMs: 0 }],
    ['half a millisecond of grain', { grainMs: 0.5 }],
    ['a grain that does not divide a day', { grainMs: 50 * minuteMs }],
    ['no room for a slot', { slotsMax: 0 }],
    ['a window that ends before it starts', { window: between('10:00', '09:00') }],
    ['no date to approach people from', { approachNotBefore: new Date(Number.NaN) }],
    ['somebody listed twice', { required: [person('ana')], optional: [person('ana')] }],
    ['a busy stretch that ends before it starts', { required: [person('ana', between('10:00', '09:00'))] }],
    [
      'a stated stretch that ends before it starts',
      { required: [stating('ana', between('10:00', '09:00'))] },
    ],
    [
      'a held stretch that ends before it starts',
      { required: [{ ...person('ana'), held: [between('10:00', '09:00')] }] },
    ],
    ['a negative buffer', { required: [{ ...person('ana'), bufferBeforeMs: -1 }] }],
  ])('%s is a defect of the caller', (_, input) => {
    expect(() => findTimes(meeting(input))).toThrow(RangeError)
  })
})

describe('without an overlap', () => {
  const ben = { ...person('ben', between('12:00', '14:00')), allowed: [between('09:00', '13:00')] }
  const required = [person('ana', between('09:00', '12:00')), ben]

  test('it is said who blocks each stretch, whose absence alone does, and what the fewest people miss', () => {
    expect(findTimes(meeting({ required, window: between('09:00', '15:00') }))).toEqual({
      type: 'no_overlap',
      startsTried: 11,
      blockers: [
        { stretch: between('09:00', '12:00'), by: [{ participantId: 'ana', because: 'busy' }], count: 1 },
        { stretch: between('12:00', '13:00'), by: [{ participantId: 'ben', because: 'busy' }], count: 1 },
        {
          stretch: between('13:00', '15:00'),
          by: [{ participantId: 'ben', because: 'outside_hours' }],
          count: 1,
        },
      ],
      blockersTruncated: false,
      // From 11:30 to 12:30 neither can.
      soleBlockers: [
        { participantId: 'ana', starts: 5 },
        { participantId: 'ben', starts: 5 },
      ],
      nearest: [
        { ...between('09:00', '10:00'), missingRequired: [{ participantId: 'ana', because: 'busy' }] },
        { ...between('10:00', '11:00'), missingRequired: [{ participantId: 'ana', because: 'busy' }] },
        { ...between('11:00', '12:00'), missingRequired: [{ participantId: 'ana', because: 'busy' }] },
      ],
    })
  })

  test('what comes nearest is ranked like what is possible', () => {
    const rank = { ...unranked, order: 'latest' } as const
    expect(findTimes(meeting({ required, window: between('09:00', '15:00'), rank }))).toMatchObject({
      nearest: [between('14:00', '15:00'), between('13:00', '14:00'), between('12:00', '13:00')],
    })
  })

  test('a window too short for the meeting has no starts, no blockers and nothing near', () => {
    const nothing = {
      type: 'no_overlap',
      startsTried: 0,
      blockers: [],
      blockersTruncated: false,
      soleBlockers: [],
      nearest: [],
    }
    const ana = [person('ana')]
    expect(findTimes(meeting({ required: ana, window: between('09:00', '09:59') }))).toEqual(nothing)
    expect(findTimes(meeting({ required: ana, window: between('09:00', '09:00') }))).toEqual(nothing)
    expect(findTimes(meeting({ required: ana, approachNotBefore: time('18:00') }))).toEqual(nothing)
  })

  test('it lists no more than fifty blockers, and says that there are more', () => {
    const quarter = (index: number): Interval => {
      const start = time('00:00').getTime() + index * 15 * minuteMs
      return { start: new Date(start), end: new Date(start + 5 * minuteMs) }
    }
    const blockersWith = (count: number): unknown => {
      const ana = [person('ana', ...Array.from({ length: count }, (_, index) => quarter(index)))]
      const window = { start: time('00:00'), end: new Date(time('00:00').getTime() + count * 15 * minuteMs) }
      const result = findTimes(meeting({ required: ana, window }))
      return result.type === 'no_overlap' ? [result.blockers.length, result.blockersTruncated] : result
    }
    expect(blockersWith(50)).toEqual([50, false])
    expect(blockersWith(51)).toEqual([50, true])
    expect(blockersWith(90)).toEqual([50, true])
  })
})

test('of a stretch that many people miss the first ten are named, and all are counted', () => {
  const required = Array.from({ length: 12 }, (_, index) =>
    person(`person${index}`, between('09:00', '17:00')),
  )
  const result = findTimes(meeting({ required }))
  const blockers = result.type === 'no_overlap' ? result.blockers : []
  expect(blockers.map(({ by, count }) => [by.length, by.at(-1)?.participantId, count])).toEqual([
    [10, 'person9', 12],
  ])
})

describe('explaining a slot', () => {
  const ana = { ...person('ana', between('10:30', '12:00')), allowed: [between('09:00', '11:00')] }

  test('names every reason, and of each person the part of the slot that is missing', () => {
    const input = meeting({ required: [ana, unread('ben'), person('eve')], approachNotBefore: time('11:00') })
    const missing = { type: 'required_missing', participantId: 'ana' }
    expect(explainRejected(input, time('10:10'))).toEqual({
      type: 'rejected',
      reasons: [
        { type: 'before_earliest_start' },
        { type: 'off_grain' },
        { ...missing, because: 'outside_hours', stretches: [between('11:00', '11:10')] },
        { ...missing, because: 'busy', stretches: [between('10:30', '11:10')] },
        {
          type: 'required_missing',
          participantId: 'ben',
          because: 'unknown',
          stretches: [between('10:10', '11:10')],
        },
      ],
    })
  })

  test('says that it lies outside the window at either end', () => {
    const outside = { type: 'rejected', reasons: [{ type: 'outside_window' }] }
    expect(explainRejected(meeting({}), time('08:30'))).toEqual(outside)
    expect(explainRejected(meeting({}), time('16:30'))).toEqual(outside)
    expect(explainRejected(meeting({}), time('16:00')).type).toBe('acceptable')
  })

  test('that was only ranked too low says by what, and where it stands', () => {
    expect(explainRejected(meeting({ optional: [ana] }), time('14:00'))).toEqual({
      type: 'acceptable',
      // With ana there are nine and half past nine; without her, eight earlier ones.
      rank: 11,
      of: 15,
      ...between('14:00', '15:00'),
      optionalAttending: [],
      optionalMissing: [{ id: 'ana', because: 'outside_hours' }],
      ranking: [
        { criterion: 'optional_attendance', value: 0 },
        { criterion: 'earliest', value: '2026-03-24T14:00:00.000Z' },
      ],
    })
  })
})
