import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { clip, covers, intersect, intervalsOf, normalise, subtract } from './intervals.ts'
import type { Interval } from './intervals.ts'
import { clipSpans, intersectSpans, padSpans, spanOf, spansOf, subtractSpans, unionSpans } from './spans.ts'
import type { Spans } from './spans.ts'

// The obvious reference: a set of time is a list of yes and no, one for each of sixty ticks.
const ticks = Array.from({ length: 60 }, (_, tick) => tick)
const between = (start: number, end: number): Interval => ({ start: new Date(start), end: new Date(end) })
const holdsAt = (intervals: readonly Interval[], tick: number): boolean =>
  intervals.some(({ start, end }) => start.getTime() <= tick && tick < end.getTime())
const grid = (holds: (tick: number) => boolean): readonly boolean[] => ticks.map(holds)
const gridOf = (intervals: readonly Interval[]): readonly boolean[] =>
  grid((tick) => holdsAt(intervals, tick))

const anyInterval = fc
  .tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 15 }))
  .map(([start, length]) => between(start, Math.min(60, start + length)))
const anySet = fc.array(anyInterval, { maxLength: 8 })

/** Sorted, apart from each other, not empty. */
const isNormal = (intervals: readonly Interval[]): boolean =>
  intervals.every(({ start, end }, index) => {
    const next = intervals[index + 1]
    return start < end && (next === undefined || end < next.start)
  })

const check = (property: (a: Interval[], b: Interval[], window: Interval) => void): void =>
  fc.assert(fc.property(anySet, anySet, anyInterval, property), { numRuns: 500 })

describe('sets of intervals', () => {
  test('agree with a list of yes and no for every tick, and come out normal', () => {
    check((a, b, window) => {
      const cases: [Interval[], readonly boolean[]][] = [
        [normalise(a), gridOf(a)],
        [intersect(a, b), grid((tick) => holdsAt(a, tick) && holdsAt(b, tick))],
        [subtract(a, b), grid((tick) => holdsAt(a, tick) && !holdsAt(b, tick))],
        [clip(a, window), grid((tick) => holdsAt(a, tick) && holdsAt([window], tick))],
        [intervalsOf(unionSpans(spansOf(a), spansOf(b))), gridOf([...a, ...b])],
      ]
      for (const [result, expected] of cases) {
        expect(gridOf(result)).toEqual(expected)
        expect(isNormal(result)).toBe(true)
      }
    })
  })

  test('cover a stretch exactly if no tick of it is missing', () => {
    check((a, _, window) => {
      expect(covers(a, window)).toBe(ticks.every((tick) => !holdsAt([window], tick) || holdsAt(a, tick)))
    })
  })

  test('merge what touches, drop what is empty, and leave their arguments alone', () => {
    const given = [between(30, 40), between(5, 5), between(10, 20), between(20, 30)]
    const before = structuredClone(given)
    expect(normalise(given)).toEqual([between(10, 40)])
    expect(given).toEqual(before)
  })

  test('do not hold their end', () => {
    expect(intersect([between(0, 10)], [between(10, 20)])).toEqual([])
    expect(covers([between(0, 10)], between(5, 10))).toBe(true)
    expect(covers([between(0, 10)], between(5, 11))).toBe(false)
  })

  test('refuse an interval that ends before it starts, and one without a date', () => {
    expect(() => normalise([between(10, 5)])).toThrow(RangeError)
    expect(() => normalise([between(1, 2), between(Number.NaN, 5)])).toThrow(RangeError)
    expect(() => clip([between(1, 2)], between(2, 1))).toThrow(RangeError)
  })

  test('refuse half a span', () => {
    expect(() => intervalsOf(Float64Array.of(1, 2, 3))).toThrow(RangeError)
  })
})

describe('sets of milliseconds', () => {
  const isNormalSpans = (spans: Spans): boolean =>
    spans.length % 2 === 0 && spans.every((at, index) => index === 0 || (spans[index - 1] ?? Infinity) < at)

  test('are clipped as if intersected with the window', () => {
    check((a, _, { start, end }) => {
      const clipped = clipSpans(spansOf(a), start.getTime(), end.getTime())
      expect(clipped).toEqual(intersectSpans(spansOf(a), spansOf([{ start, end }])))
      expect(isNormalSpans(clipped)).toBe(true)
    })
  })

  test('grow by their padding on both sides, and merge where that makes them meet', () => {
    expect(padSpans(spansOf([between(10, 20), between(25, 30)]), 2, 3)).toEqual(spanOf(8, 33))
    check((a) => {
      const padded = a
        .filter(({ start, end }) => start < end)
        .map(({ start, end }) => between(start.getTime() - 2, end.getTime() + 3))
      expect(padSpans(spansOf(a), 2, 3)).toEqual(spansOf(padded))
    })
  })

  test('stop after as many spans of a difference as were asked for', () => {
    check((a, b) => {
      const whole = subtractSpans(spansOf(a), spansOf(b))
      expect(subtractSpans(spansOf(a), spansOf(b), 2)).toEqual(whole.slice(0, 4))
    })
  })
})
