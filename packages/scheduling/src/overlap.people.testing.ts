/** People and meetings for tests of the search, by hand and at random. */
import { parseTimeZone, type Interval, type TimeZone } from '@aftercommit/time'
import fc from 'fast-check'
import type { PersonAvailability, PersonTime } from './availability.ts'
import type { FindTimesInput } from './overlap.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(`${name} is no zone: ${zone.reason}`)
  return zone.zone
}

export const time = (text: string): Date => new Date(`2026-03-24T${text}Z`)
export const between = (start: string, end: string): Interval => ({ start: time(start), end: time(end) })

const plain = { held: [], bufferBeforeMs: 0, bufferAfterMs: 0 }

/** Somebody whose calendar shows this as busy. */
export const person = (participantId: string, ...busy: readonly Interval[]): PersonAvailability => ({
  ...plain,
  participantId,
  time: { type: 'known', busy },
})
/** Somebody who said when they can. */
export const stating = (participantId: string, ...free: readonly Interval[]): PersonAvailability => ({
  ...plain,
  participantId,
  time: { type: 'stated', free },
})
export const unread = (participantId: string): PersonAvailability => ({
  ...plain,
  participantId,
  time: { type: 'unknown', reason: 'no_access' },
})

export const unranked: FindTimesInput['rank'] = {
  first: 'optional_attendance',
  order: 'earliest',
  spread: 'apart',
}

export const meeting = (input: Partial<FindTimesInput>): FindTimesInput => ({
  durationMs: hourMs,
  window: between('09:00', '17:00'),
  grainMs: 30 * minuteMs,
  zone: zoneNamed('UTC'),
  required: [],
  optional: [],
  approachNotBefore: time('00:00'),
  rank: unranked,
  slotsMax: 3,
  ...input,
})

/** Any input around an instant, in a zone of the list. Times in steps of five minutes, so that edges meet often. */
export const anyInputAround = (around: Date, zones: readonly string[]): fc.Arbitrary<FindTimesInput> => {
  const anyTime = fc.integer({ min: -48, max: 60 }).map((step) => around.getTime() + step * 5 * minuteMs)
  const intervalOf = (hoursMore: number) =>
    fc.tuple(anyTime, fc.integer({ min: 0, max: 20 })).map(([start, steps]): Interval => ({
      start: new Date(start),
      end: new Date(start + steps * 5 * minuteMs + hoursMore * hourMs),
    }))
  const anyPersonTime: fc.Arbitrary<PersonTime> = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        type: fc.constant('known' as const),
        busy: fc.array(intervalOf(0), { maxLength: 4 }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('stated' as const),
        free: fc.array(intervalOf(2), { maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'unknown' as const, reason: 'silence' }) },
  )
  const anyBuffer = fc.constantFrom(0, 0, 5, 10, 25, 120).map((minutes) => minutes * minuteMs)
  const peopleOf = (prefix: string, maxLength: number): fc.Arbitrary<PersonAvailability[]> =>
    fc
      .array(
        fc.record({
          time: anyPersonTime,
          held: fc.array(intervalOf(0), { maxLength: 1 }),
          bufferBeforeMs: anyBuffer,
          bufferAfterMs: anyBuffer,
          allowed: fc.option(fc.array(intervalOf(3), { maxLength: 3 }), { nil: undefined, freq: 2 }),
        }),
        { maxLength },
      )
      .map((people) => people.map((each, index) => ({ ...each, participantId: `${prefix}${index}` })))
  return fc.record({
    durationMs: fc.constantFrom(5, 20, 30, 45, 60, 90).map((minutes) => minutes * minuteMs),
    window: intervalOf(4),
    grainMs: fc.constantFrom(5, 10, 15, 30, 45, 60).map((minutes) => minutes * minuteMs),
    zone: fc.constantFrom(...zones).map(zoneNamed),
    required: peopleOf('required', 4),
    optional: peopleOf('optional', 3),
    approachNotBefore: fc.oneof(
      fc.constant(new Date(around.getTime() - 2 * dayMs)),
      anyTime.map((at) => new Date(at)),
    ),
    rank: fc.record({
      first: fc.constantFrom('optional_attendance', 'preferred_times', 'start'),
      order: fc.constantFrom('earliest', 'latest'),
      spread: fc.constantFrom('apart', 'different_days'),
      preferred: fc.option(fc.array(intervalOf(1), { maxLength: 3 }), { nil: undefined }),
    }),
    slotsMax: fc.constantFrom(1, 3, 1_000),
  })
}
