/**
 * Algebra of half-open intervals, [start, end). Arguments may be unsorted, overlapping or empty; results are sorted,
 * disjoint, not touching and not empty. Every operation is one linear sweep after sorting.
 */
import { intersectSpans, spansOf, subtractSpans } from './spans.ts'
import type { Spans } from './spans.ts'

/** From `start` up to, not including, `end`. */
export interface Interval {
  readonly start: Date
  readonly end: Date
}

/** Sorted, with overlapping and touching intervals merged and empty ones dropped. */
export const normalise = (intervals: readonly Interval[]): Interval[] => intervalsOf(spansOf(intervals))

/** The time in both. */
export const intersect = (a: readonly Interval[], b: readonly Interval[]): Interval[] =>
  intervalsOf(intersectSpans(spansOf(a), spansOf(b)))

/** The time in the first and not in the second. */
export const subtract = (from: readonly Interval[], taken: readonly Interval[]): Interval[] =>
  intervalsOf(subtractSpans(spansOf(from), spansOf(taken)))

/** The time within a window. */
export const clip = (intervals: readonly Interval[], window: Interval): Interval[] =>
  intersect(intervals, [window])

/** True if no moment of the stretch is missing. An empty stretch is always covered. */
export const covers = (intervals: readonly Interval[], stretch: Interval): boolean =>
  subtractSpans(spansOf([stretch]), spansOf(intervals)).length === 0

/** The intervals of a set of milliseconds. */
export const intervalsOf = (spans: Spans): Interval[] => {
  const intervals: Interval[] = []
  for (let index = 0; index < spans.length; index += 2) {
    const [start, end] = [spans[index], spans[index + 1]]
    if (start === undefined || end === undefined)
      throw new RangeError('spans have an even number of boundaries')
    intervals.push({ start: new Date(start), end: new Date(end) })
  }
  return intervals
}
