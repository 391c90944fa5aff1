import { describe, expect, test } from '@jest/globals'
import { workingWindows, type Interval } from '@aftercommit/time'
import { personSpansOf, reasonsAway, spansAway, type PersonAvailability } from './availability.ts'
import { explainRejected, findTimes, type FindTimesInput } from './overlap.ts'
import {
  between,
  dayMs,
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
/** Every start at which a meeting of five minutes is possible, so that none hides another. */
const fiveMinuteStarts = (required: readonly PersonAvailability[], window: Interval): unknown =>
  startsOf({ required, window, durationMs: 5 * minuteMs, grainMs: 5 * minuteMs })

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

describe('what a person keeps free around the meeting', () => {
  const noon = between('12:00', '12:30')
  const ana = (bufferBefore: number, bufferAfter: number): PersonAvailability => ({
    ...person('ana', noon),
    bufferBeforeMs: bufferBefore * minuteMs,
    bufferAfterMs: bufferAfter * minuteMs,
  })
  const around = (required: readonly PersonAvailability[]) =>
    fiveMinuteStarts(required, between('11:30', '13:00'))

  test('lies before it on the one side and after it on the other, once', () => {
    expect(around([ana(0, 0)])).toEqual([
      ...['11:30', '11:35', '11:40', '11:45', '11:50', '11:55'],
      ...['12:30', '12:35', '12:40', '12:45', '12:50', '12:55'],
    ])
    // Free before the meeting: it starts so much later after what ends.
    expect(around([ana(15, 0)])).toEqual([
      ...['11:30', '11:35', '11:40', '11:45', '11:50', '11:55'],
      ...['12:45', '12:50', '12:55'],
    ])
    expect(around([ana(0, 15)])).toEqual([
      ...['11:30', '11:35', '11:40'],
      ...['12:30', '12:35', '12:40', '12:45', '12:50', '12:55'],
    ])
    expect(around([ana(10, 20)])).toEqual(['11:30', '11:35', '12:40', '12:45', '12:50', '12:55'])
  })

  test('is each person’s own', () => {
    const ben = { ...person('ben'), bufferBeforeMs: 120 * minuteMs, bufferAfterMs: 120 * minuteMs }
    expect(around([ana(10, 20), ben])).toEqual(around([ana(10, 20)]))
  })

  test('is not added up between what is busy close together', () => {
    const busy = [between('10:00', '10:30'), between('11:00', '11:30')]
    const both = { ...person('ana', ...busy), bufferBeforeMs: 10 * minuteMs, bufferAfterMs: 10 * minuteMs }
    expect(fiveMinuteStarts([both], between('10:30', '11:00'))).toEqual(['10:40', '10:45'])
  })

  test('is not kept from the edges of the hours allowed, of the window, or of what was stated', () => {
    const buffers = { bufferBeforeMs: 30 * minuteMs, bufferAfterMs: 30 * minuteMs }
    const day = between('09:00', '10:00')
    const working = { ...person('ana'), ...buffers, allowed: [day] }
    expect(startsOf({ required: [working, { ...stating('ben', day), ...buffers }], window: day })).toEqual([
      '09:00',
    ])
  })

  test('reaches into the window from what lies before or behind it', () => {
    const busy = [between('08:00', '09:00'), between('10:00', '11:00')]
    const both = { ...person('ana', ...busy), bufferBeforeMs: 10 * minuteMs, bufferAfterMs: 20 * minuteMs }
    expect(fiveMinuteStarts([both], between('09:00', '10:00'))).toEqual([
      ...['09:10', '09:15', '09:20', '09:25', '09:30', '09:35'],
    ])
  })

  test('is kept from what is held as well, and named as what it is', () => {
    const held = {
      ...person('ana'),
      held: [noon],
      bufferBeforeMs: 30 * minuteMs,
      bufferAfterMs: 0,
    }
    expect(fiveMinuteStarts([held], between('12:00', '13:05'))).toEqual(['13:00'])
    expect(explainRejected(meeting({ required: [held] }), time('12:30'))).toEqual({
      type: 'rejected',
      reasons: [
        {
          type: 'required_missing',
          participantId: 'ana',
          because: 'buffer',
          stretches: [between('12:30', '13:00')],
        },
      ],
    })
  })
})

describe('what a person states', () => {
  const ana = stating('ana', between('10:00', '11:00'), between('13:00', '15:00'))

  test('is all the time they have', () => {
    expect(startsOf({ required: [ana] })).toEqual(['10:00', '13:00', '14:00'])
    expect(startsOf({ required: [stating('ben')] })).toBe('no_overlap')
  })

  test('does not break a promise to another meeting', () => {
    const held = [between('13:30', '14:00')]
    expect(startsOf({ required: [{ ...ana, held }] })).toEqual(['10:00', '14:00'])
  })

  test('does not widen the hours in which they may be asked', () => {
    const allowed = [between('09:00', '14:00')]
    expect(startsOf({ required: [{ ...ana, allowed }] })).toEqual(['10:00', '13:00'])
  })

  test('leaves the rest not stated, which is not busy', () => {
    expect(explainRejected(meeting({ required: [ana] }), time('10:30'))).toMatchObject({
      reasons: [{ because: 'not_stated', stretches: [between('11:00', '11:30')] }],
    })
  })
})

describe('time that is promised to another meeting', () => {
  const held = [between('09:00', '17:00')]

  test('is nobody’s, whatever a calendar shows', () => {
    expect(findTimes(meeting({ required: [{ ...person('ana'), held }] }))).toMatchObject({
      type: 'no_overlap',
      blockers: [{ stretch: between('09:00', '17:00'), by: [{ participantId: 'ana', because: 'held' }] }],
    })
  })

  test('is not an optional person’s either, known or not', () => {
    const optional = [
      { ...person('ana'), held },
      { ...unread('ben'), held },
    ]
    expect(findTimes(meeting({ required: [person('eve')], optional, slotsMax: 1 }))).toMatchObject({
      slots: [
        {
          optionalMissing: [
            { id: 'ana', because: 'held' },
            { id: 'ben', because: 'held' },
          ],
        },
      ],
    })
  })
})

test('of several reasons the most certain is named', () => {
  const nine = between('09:00', '10:00')
  const because = (more: Partial<PersonAvailability>): unknown => {
    const optional = [{ ...person('ana'), ...more }]
    const result = findTimes(meeting({ required: [person('eve')], optional, window: nine }))
    return result.type === 'found' ? result.slots[0]?.optionalMissing[0]?.because : result.type
  }
  const busy = { time: { type: 'known', busy: [nine] } } as const
  const near = { time: { type: 'known', busy: [between('08:00', '09:00')] }, bufferBeforeMs: 1 } as const
  expect(because({ ...busy, held: [nine], allowed: [] })).toBe('outside_hours')
  expect(because({ ...busy, held: [nine] })).toBe('held')
  expect(because({ ...busy, bufferBeforeMs: 1 })).toBe('busy')
  expect(because(near)).toBe('buffer')
  expect(because({ time: { type: 'stated', free: [] } })).toBe('not_stated')
  expect(because({ time: { type: 'unknown', reason: 'silence' } })).toBe('unknown')
  expect(because({})).toBeUndefined()
})

test('an empty stretch of time has nobody away in it', () => {
  const ana = personSpansOf({ ...unread('ana'), allowed: [] })
  expect([...spansAway(ana, 5, 5), ...reasonsAway(ana, 5, 5)]).toEqual([])
})

describe('what is better', () => {
  const required = [person('eve')]
  const ana = person('ana', between('09:00', '11:00'))
  const afternoon = [between('13:00', '17:00')]
  const ranked = (rank: Partial<FindTimesInput['rank']>, more: Partial<FindTimesInput> = {}): unknown =>
    startsOf({ required, optional: [ana], rank: { ...unranked, ...rank }, slotsMax: 1, ...more })

  test('is that more optional people can come, then a preferred time, then the earlier one', () => {
    expect(ranked({})).toEqual(['11:00'])
    expect(ranked({ preferred: afternoon })).toEqual(['13:00'])
    expect(ranked({ preferred: [between('09:00', '11:00')] })).toEqual(['11:00'])
  })

  test('may be a preferred time before any optional person', () => {
    const morning = [between('09:00', '11:00')]
    expect(ranked({ first: 'preferred_times', preferred: morning })).toEqual(['09:00'])
    expect(ranked({ first: 'preferred_times' })).toEqual(['11:00'])
  })

  test('may be the later of two, or nothing but how early or late it is', () => {
    expect(ranked({ order: 'latest' })).toEqual(['16:00'])
    expect(ranked({ order: 'latest', preferred: [between('09:00', '13:00')] })).toEqual(['12:00'])
    expect(ranked({ first: 'start' })).toEqual(['09:00'])
    expect(ranked({ first: 'start', order: 'latest' }, { optional: [person('ana', ...afternoon)] })).toEqual([
      '16:00',
    ])
  })

  test('is a preferred time only if all of the meeting is', () => {
    const lunch = [between('12:15', '13:00'), between('13:00', '13:30')]
    expect(ranked({ preferred: lunch })).toEqual(['12:30'])
    expect(ranked({ preferred: [between('12:15', '13:15')] })).toEqual(['11:00'])
  })

  test('never is a time that a required person does not have', () => {
    const busy = [person('eve', ...afternoon)]
    expect(ranked({ first: 'preferred_times', preferred: afternoon }, { required: busy })).toEqual(['11:00'])
  })

  test('is said with every slot, the criterion that counts most first', () => {
    const rank = { ...unranked, preferred: afternoon }
    const result = findTimes(meeting({ required, optional: [ana], rank, slotsMax: 99 }))
    const rankings = result.type === 'found' ? result.slots.map(({ ranking }) => ranking) : []
    expect(rankings[0]).toEqual([
      { criterion: 'optional_attendance', value: 1 },
      { criterion: 'preferred_time', value: true },
      { criterion: 'earliest', value: '2026-03-24T13:00:00.000Z' },
    ])
    expect(rankings.at(-1)).toEqual([
      { criterion: 'optional_attendance', value: 0 },
      { criterion: 'preferred_time', value: false },
      { criterion: 'earliest', value: '2026-03-24T10:00:00.000Z' },
    ])
  })
})

describe('alternatives', () => {
  const window = { start: time('00:00'), end: new Date(time('00:00').getTime() + 3 * dayMs) }
  const datesOf = (spread: FindTimesInput['rank']['spread'], zone = 'UTC'): unknown => {
    const rank = { ...unranked, spread }
    const input = { required: [person('ana')], window, rank, zone: zoneNamed(zone), slotsMax: 4 }
    const result = findTimes(meeting(input))
    return result.type === 'found' ? result.slots.map(({ start }) => start.toISOString().slice(0, 16)) : []
  }

  test('do not overlap the best time or each other', () => {
    expect(datesOf('apart')).toEqual([
      ...['2026-03-24T00:00', '2026-03-24T01:00', '2026-03-24T02:00', '2026-03-24T03:00'],
    ])
  })

  test('are on different days by the clock of the zone, if that is wanted', () => {
    expect(datesOf('different_days')).toEqual(['2026-03-24T00:00', '2026-03-25T00:00', '2026-03-26T00:00'])
    expect(datesOf('different_days', 'America/New_York')).toEqual([
      ...['2026-03-24T00:00', '2026-03-24T04:00', '2026-03-25T04:00', '2026-03-26T04:00'],
    ])
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
