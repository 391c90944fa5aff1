import { describe, expect, test } from '@jest/globals'
import { parseTimeZone, workingWindows } from '@aftercommit/time'
import type { Interval } from '@aftercommit/time'
import fc from 'fast-check'
import { explainRejected, findTimes } from './overlap.ts'
import { findTimesSlowly } from './overlap.reference.testing.ts'
import type { FindTimesInput, PersonAvailability } from './overlap.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const time = (text: string): Date => new Date(`2026-03-24T${text}Z`)
const between = (start: string, end: string): Interval => ({ start: time(start), end: time(end) })
const person = (participantId: string, ...busy: readonly Interval[]): PersonAvailability => ({
  participantId,
  busy: { type: 'known', busy, bufferBeforeMs: 0, bufferAfterMs: 0 },
})
const unread = (participantId: string): PersonAvailability => ({
  participantId,
  busy: { type: 'unknown', reason: 'no_access' },
})
const meeting = (input: Partial<FindTimesInput>): FindTimesInput => ({
  durationMs: hourMs,
  window: between('09:00', '17:00'),
  grainMs: 30 * minuteMs,
  required: [],
  optional: [],
  approachNotBefore: time('00:00'),
  maxProposals: 3,
  ...input,
})

describe('finding times', () => {
  test('takes the time that every required person has', () => {
    const required = [
      person('ana', between('09:00', '12:00')),
      person('ben', between('13:00', '17:00')),
      person('eve', between('08:00', '09:30'), between('11:30', '11:45')),
    ]
    expect(findTimes(meeting({ required }))).toEqual({
      type: 'found',
      slots: [{ ...between('12:00', '13:00'), optionalAttending: [], optionalMissing: [] }],
    })
  })

  test('ranks by how many optional people can come, then by the earlier start', () => {
    const optional = [person('ana', between('09:00', '11:00')), unread('ben')]
    const result = findTimes(meeting({ required: [person('eve')], optional, maxProposals: 2 }))
    expect(result).toEqual({
      type: 'found',
      slots: [
        {
          ...between('11:00', '12:00'),
          optionalAttending: ['ana'],
          optionalMissing: [{ id: 'ben', because: 'unknown' }],
        },
        {
          ...between('11:30', '12:30'),
          optionalAttending: ['ana'],
          optionalMissing: [{ id: 'ben', because: 'unknown' }],
        },
      ],
    })
  })

  test('gives an optional person no say over whether there is a time', () => {
    const optional = [person('ana', between('09:00', '17:00')), { ...person('ben'), allowed: [] }]
    const result = findTimes(meeting({ required: [person('eve')], optional, maxProposals: 1 }))
    expect(result).toEqual({
      type: 'found',
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

  test('keeps a buffer before and after what is in the calendar, and none around the hours allowed', () => {
    const busy = [between('10:00', '11:00'), between('14:00', '14:30')]
    const ana: PersonAvailability = {
      participantId: 'ana',
      busy: { type: 'known', busy, bufferBeforeMs: 15 * minuteMs, bufferAfterMs: 10 * minuteMs },
      allowed: [between('09:00', '17:00')],
    }
    const result = findTimes(meeting({ required: [ana], grainMs: 5 * minuteMs, maxProposals: 1_000 }))
    const starts = result.type === 'found' ? result.slots.map((slot) => slot.start) : []
    expect(starts[0]).toEqual(time('11:10'))
    expect(starts.filter((start) => start < time('14:00')).at(-1)).toEqual(time('12:45'))
    expect(starts.find((start) => start > time('14:00'))).toEqual(time('14:40'))
    expect(starts.at(-1)).toEqual(time('16:00'))
  })

  test('joins hours that touch, and needs the meeting wholly within them', () => {
    const ana = { ...person('ana'), allowed: [between('10:00', '10:30'), between('10:30', '11:00')] }
    const result = findTimes(meeting({ required: [ana] }))
    expect(result).toMatchObject({ type: 'found', slots: [between('10:00', '11:00')] })
  })

  test('starts on the grain of the wall clock, not of the window, and not before people can be approached', () => {
    const input = { window: between('09:07', '12:00'), grainMs: 15 * minuteMs, required: [person('ana')] }
    const unhurried = findTimes(meeting({ ...input, maxProposals: 1 }))
    expect(unhurried).toMatchObject({ slots: [between('09:15', '10:15')] })
    const later = findTimes(meeting({ ...input, approachNotBefore: time('10:16'), maxProposals: 9 }))
    expect(later).toMatchObject({
      slots: [between('10:30', '11:30'), between('10:45', '11:45'), between('11:00', '12:00')],
    })
  })

  test('without an overlap, names who blocks each stretch and the slots the fewest people miss', () => {
    const required = [
      person('ana', between('09:00', '12:00')),
      { ...person('ben', between('12:00', '14:00')), allowed: [between('09:00', '13:00')] },
    ]
    expect(findTimes(meeting({ required, window: between('09:00', '15:00') }))).toEqual({
      type: 'no_overlap',
      blockers: [
        { stretch: between('09:00', '12:00'), by: [{ participantId: 'ana', because: 'busy' }] },
        { stretch: between('12:00', '13:00'), by: [{ participantId: 'ben', because: 'busy' }] },
        { stretch: between('13:00', '15:00'), by: [{ participantId: 'ben', because: 'outside_hours' }] },
      ],
      blockersTruncated: false,
      nearest: [
        { ...between('09:00', '10:00'), missingRequired: ['ana'] },
        { ...between('10:00', '11:00'), missingRequired: ['ana'] },
        { ...between('11:00', '12:00'), missingRequired: ['ana'] },
      ],
    })
  })

  test('a window too short for the meeting has no overlap, no blockers and nothing near', () => {
    const nothing = { type: 'no_overlap', blockers: [], blockersTruncated: false, nearest: [] }
    const required = [person('ana')]
    expect(findTimes(meeting({ required, window: between('09:00', '09:59') }))).toEqual(nothing)
    expect(findTimes(meeting({ required, window: between('09:00', '09:00') }))).toEqual(nothing)
    expect(findTimes(meeting({ required, approachNotBefore: time('18:00') }))).toEqual(nothing)
  })

  test('lists no more than fifty blockers, and says that there are more', () => {
    const quarter = (index: number): Interval => {
      const start = time('00:00').getTime() + index * 15 * minuteMs
      return { start: new Date(start), end: new Date(start + 5 * minuteMs) }
    }
    const blockersWith = (count: number): unknown => {
      const required = [person('ana', ...Array.from({ length: count }, (_, index) => quarter(index)))]
      const window = { start: time('00:00'), end: new Date(time('00:00').getTime() + count * 15 * minuteMs) }
      const result = findTimes(meeting({ required, window }))
      return result.type === 'no_overlap' ? [result.blockers.length, result.blockersTruncated] : result
    }
    expect(blockersWith(50)).toEqual([50, false])
    expect(blockersWith(51)).toEqual([50, true])
    expect(blockersWith(90)).toEqual([50, true])
  })

  test('meets in the hours that two zones share, which move when only one changes its clock', () => {
    // New York is on summer time from 8 March 2026, Berlin from the 29th.
    const hoursIn = (zoneName: string): readonly Interval[] => {
      const zone = parseTimeZone(zoneName)
      if (zone.type === 'malformed') throw new Error(zone.reason)
      const hours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }
      const stretch = { from: new Date('2026-03-23T00:00Z'), to: new Date('2026-04-04T00:00Z') }
      const windows = workingWindows({ zone: zone.zone, ...hours, ...stretch })
      return windows.type === 'windows' ? windows.windows : []
    }
    const required = [
      { ...person('ana'), allowed: hoursIn('America/New_York') },
      { ...person('ben'), allowed: hoursIn('Europe/Berlin') },
    ]
    const firstStartOn = (date: string): unknown => {
      const window = { start: new Date(`${date}T00:00Z`), end: new Date(`${date}T23:00Z`) }
      const result = findTimes(meeting({ required, window, maxProposals: 20 }))
      return result.type === 'found' ? result.slots.map((slot) => slot.start.toISOString().slice(11, 16)) : []
    }
    expect(firstStartOn('2026-03-27')).toEqual(['13:00', '13:30', '14:00', '14:30', '15:00'])
    expect(firstStartOn('2026-03-30')).toEqual(['13:00', '13:30', '14:00'])
  })

  test.each([
    ['no length', { durationMs: 0 }],
    ['half a millisecond of grain', { grainMs: 0.5 }],
    ['no room for proposals', { maxProposals: 0 }],
    ['a window that ends before it starts', { window: between('10:00', '09:00') }],
    ['no date to approach people from', { approachNotBefore: new Date(Number.NaN) }],
    ['somebody listed twice', { required: [person('ana')], optional: [person('ana')] }],
    ['a busy stretch that ends before it starts', { required: [person('ana', between('10:00', '09:00'))] }],
    [
      'a negative buffer',
      {
        required: [
          {
            participantId: 'ana',
            busy: { type: 'known', busy: [], bufferBeforeMs: -1, bufferAfterMs: 0 },
          } satisfies PersonAvailability,
        ],
      },
    ],
  ])('%s is a defect of the caller', (_, input) => {
    expect(() => findTimes(meeting(input))).toThrow(RangeError)
  })
})

describe('explaining a rejected slot', () => {
  const ana = { ...person('ana', between('10:30', '12:00')), allowed: [between('09:00', '11:00')] }

  test('names every reason, and of each person the part of the slot that is missing', () => {
    const input = meeting({ required: [ana, unread('ben'), person('eve')], approachNotBefore: time('11:00') })
    expect(explainRejected(input, time('10:10'))).toEqual({
      type: 'rejected',
      reasons: [
        { type: 'before_earliest_start' },
        { type: 'off_grain' },
        {
          type: 'required_missing',
          participantId: 'ana',
          because: 'outside_hours',
          stretches: [between('11:00', '11:10')],
        },
        {
          type: 'required_missing',
          participantId: 'ana',
          because: 'busy',
          stretches: [between('10:30', '11:10')],
        },
        {
          type: 'required_missing',
          participantId: 'ben',
          because: 'unknown',
          stretches: [between('10:10', '11:10')],
        },
      ],
    })
  })

  test('says that a slot lies outside the window at either end', () => {
    const outside = { type: 'rejected', reasons: [{ type: 'outside_window' }] }
    expect(explainRejected(meeting({}), time('08:30'))).toEqual(outside)
    expect(explainRejected(meeting({}), time('16:30'))).toEqual(outside)
    expect(explainRejected(meeting({}), time('16:00')).type).toBe('acceptable')
  })

  test('finds a slot that was only ranked too low acceptable', () => {
    expect(explainRejected(meeting({ optional: [ana] }), time('14:00'))).toEqual({
      type: 'acceptable',
      ...between('14:00', '15:00'),
      optionalAttending: [],
      optionalMissing: [{ id: 'ana', because: 'outside_hours' }],
    })
  })
})

// Times in steps of five minutes, so that edges meet often.
const anyTime = fc.integer({ min: -12, max: 84 }).map((step) => time('09:00').getTime() + step * 5 * minuteMs)
const anyInterval = fc
  .tuple(anyTime, fc.integer({ min: 0, max: 20 }))
  .map(([start, steps]) => ({ start: new Date(start), end: new Date(start + steps * 5 * minuteMs) }))
const anyBuffer = fc.constantFrom(0, 0, 5 * minuteMs, 10 * minuteMs, 25 * minuteMs)
const anyKnown = fc.record({
  type: fc.constant('known' as const),
  busy: fc.array(anyInterval, { maxLength: 4 }),
  bufferBeforeMs: anyBuffer,
  bufferAfterMs: anyBuffer,
})
const unknownBusy = fc.constant({ type: 'unknown' as const, reason: 'silence' })
const anyAllowed = fc.option(
  fc.array(
    anyInterval.map(({ start, end }) => ({ start, end: new Date(end.getTime() + 3 * hourMs) })),
    { maxLength: 3 },
  ),
  { nil: undefined, freq: 2 },
)
const peopleOf = (
  prefix: string,
  unknownWeight: number,
  maxLength: number,
): fc.Arbitrary<PersonAvailability[]> =>
  fc
    .array(
      fc.record({
        busy: fc.oneof(
          { arbitrary: anyKnown, weight: 20 },
          { arbitrary: unknownBusy, weight: unknownWeight },
        ),
        allowed: anyAllowed,
      }),
      { maxLength },
    )
    .map((people) => people.map((each, index) => ({ ...each, participantId: `${prefix}${index}` })))
const anyInput: fc.Arbitrary<FindTimesInput> = fc.record({
  durationMs: fc.constantFrom(5, 20, 30, 45, 60, 90).map((minutes) => minutes * minuteMs),
  window: anyInterval.map(({ start, end }) => ({ start, end: new Date(end.getTime() + 4 * hourMs) })),
  grainMs: fc.constantFrom(5, 10, 15, 30, 50, 60).map((minutes) => minutes * minuteMs),
  required: peopleOf('required', 1, 4),
  optional: peopleOf('optional', 5, 3),
  approachNotBefore: fc.oneof(
    fc.constant(time('00:00')),
    anyTime.map((at) => new Date(at)),
  ),
  maxProposals: fc.constantFrom(1, 3, 1_000),
})

describe('any meeting', () => {
  test('gets the answer that a question for every person and every minute gives', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(anyInput, (input) => {
        const result = findTimes(input)
        seen.add(result.type)
        expect(result).toEqual(findTimesSlowly(input))
      }),
      { numRuns: 600 },
    )
    expect([...seen].sort()).toEqual(['found', 'no_overlap', 'unknown_required'])
  })

  test('gets explanations that agree with the proposals, start by start', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const result = findTimes({ ...input, maxProposals: 1_000 })
        const proposed = result.type === 'found' ? result.slots : []
        const first = input.window.start.getTime() - input.durationMs
        for (let start = first; start <= input.window.end.getTime(); start += 5 * minuteMs) {
          const explanation = explainRejected(input, new Date(start))
          const slot = proposed.find((each) => each.start.getTime() === start)
          if (slot === undefined) expect(explanation.type).toBe('rejected')
          else expect(explanation).toEqual({ type: 'acceptable', ...slot })
        }
      }),
      { numRuns: 200 },
    )
  })

  test('of a thousand people over ninety days is found in a fraction of a second', () => {
    const start = Date.UTC(2026, 2, 1)
    const window = { start: new Date(start), end: new Date(start + 90 * dayMs) }
    const days = Array.from({ length: 90 }, (_, day) => start + day * dayMs)
    const hours = (day: number, from: number, to: number): Interval => ({
      start: new Date(day + from * hourMs),
      end: new Date(day + to * hourMs),
    })
    const people = Array.from({ length: 1_000 }, (_, index): PersonAvailability => {
      // Somebody is away on each day but the last one.
      const away = days.filter((_day, day) => day % 89 === index % 89 && day < 89)
      const busy = days.flatMap((day) => [hours(day, 8, 9), hours(day, 10, 10.5), hours(day, 12, 13)])
      return {
        participantId: `person${index}`,
        busy: {
          type: 'known',
          busy: [...busy, ...away.map((day) => hours(day, 0, 24))],
          bufferBeforeMs: 0,
          bufferAfterMs: 5 * minuteMs,
        },
        allowed: days.map((day) => hours(day, 8, 18)),
      }
    })
    const input = meeting({
      window,
      required: people.slice(0, 900),
      optional: people.slice(900),
      maxProposals: 5,
    })
    const began = performance.now()
    const result = findTimes(input)
    const tookMs = performance.now() - began
    expect(result).toMatchObject({
      type: 'found',
      slots: [{ start: new Date(start + 89 * dayMs + 11 * hourMs) }, {}, {}, {}, {}],
    })
    // About 40 ms on an idle core; walking the grid for each person takes minutes.
    expect(tookMs).toBeLessThan(1_000)
  })
})
