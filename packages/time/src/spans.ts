/**
 * Sets of time as bare milliseconds, for sweeps over many people. `intervals.ts` is the same algebra on Dates.
 *
 * Invariant of `Spans`: an even number of strictly ascending boundaries. Time is inside from each boundary at an even
 * index up to, not including, the one after it. So the boundaries up to a moment are odd in number exactly if the
 * moment is inside, and every operation on two sets is one merge of two sorted lists. Nobody writes to them once they
 * are made.
 *
 * They are typed arrays because a search makes thousands of them: these lie outside of the heap that the garbage
 * collector copies, and are as long as they have to be.
 */
export type Spans = Float64Array

export const noTime: Spans = new Float64Array()
export const spanOf = (start: number, end: number): Spans => Float64Array.of(start, end)

/** Where a result is written while nobody knows how long it gets. Whoever takes it is done with it before returning. */
let room = new Float64Array(1024)
const roomFor = (boundaries: number): Float64Array => {
  if (room.length < boundaries) room = new Float64Array(2 * boundaries)
  return room
}

interface HalfOpen {
  readonly start: Date
  readonly end: Date
}

/**
 * The set that these intervals cover, in any order, overlapping or not; empty ones add nothing. An interval that
 * ends before it starts, or has no valid date, is a defect (RangeError): dropping it would turn busy into free.
 */
export const spansOf = (intervals: readonly HalfOpen[]): Spans =>
  inOrder(intervals) ?? inOrder(intervals.toSorted(byStart)) ?? noTime

/** The set, or nothing if the intervals are not sorted by their start. What a provider answers nearly always is. */
const inOrder = (intervals: readonly HalfOpen[]): Spans | undefined => {
  if (intervals.length === 0) return noTime
  const spans = roomFor(2 * intervals.length)
  let length = 0
  let latest = -Infinity
  let reached = -Infinity
  for (const interval of intervals) {
    const start = interval.start.getTime()
    const end = interval.end.getTime()
    if (!(start <= end)) throw new RangeError('an interval must not end before it starts')
    if (start === end) continue
    if (start < latest) return undefined
    latest = start
    if (start > reached) {
      spans[length] = start
      spans[length + 1] = end
      length += 2
    } else if (end > reached) spans[length - 1] = end
    if (end > reached) reached = end
  }
  return spans.slice(0, length)
}

const byStart = (a: HalfOpen, b: HalfOpen): number => a.start.getTime() - b.start.getTime()

/** Which moments an operation keeps: bit 1 those in the first set only, bit 2 in the second only, bit 3 in both. */
const union = 0b1110
const intersection = 0b1000
const difference = 0b0010

/** One sweep over two sets. Stops early once it has the first `boundariesMax` boundaries, an even number. */
const combine = (a: Spans, b: Spans, kept: number, boundariesMax = Infinity): Spans => {
  const spans = roomFor(a.length + b.length)
  let length = 0
  let i = 0
  let j = 0
  let inside = 0
  while ((i < a.length || j < b.length) && length < boundariesMax) {
    // Asked for what lies behind its end, a typed array hands out boxed numbers from then on.
    const nextA = i < a.length ? (a[i] ?? Infinity) : Infinity
    const nextB = j < b.length ? (b[j] ?? Infinity) : Infinity
    if (nextA <= nextB) i += 1
    if (nextB <= nextA) j += 1
    const keeps = (kept >> ((i & 1) | ((j & 1) << 1))) & 1
    if (keeps === inside) continue
    spans[length] = nextA < nextB ? nextA : nextB
    length += 1
    inside = keeps
  }
  return spans.slice(0, length)
}

export const unionSpans = (a: Spans, b: Spans): Spans => {
  if (a.length === 0) return b
  return b.length === 0 ? a : combine(a, b, union)
}
export const intersectSpans = (a: Spans, b: Spans): Spans => combine(a, b, intersection)

/** The time in the first and not in the second; only its first `spansMax` spans, for whoever looks no further. */
export const subtractSpans = (a: Spans, b: Spans, spansMax = Infinity): Spans => {
  if (b.length > 0) return combine(a, b, difference, 2 * spansMax)
  return a.length > 2 * spansMax ? a.slice(0, 2 * spansMax) : a
}

/** Every stretch of the set begun so much earlier and ended so much later; what then meets is one. */
export const padSpans = (spans: Spans, beforeMs: number, afterMs: number): Spans => {
  if (beforeMs === 0 && afterMs === 0) return spans
  const padded = roomFor(spans.length)
  let length = 0
  let reached = -Infinity
  for (let index = 0; index + 1 < spans.length; index += 2) {
    const from = (spans[index] ?? 0) - beforeMs
    if (from > reached) {
      padded[length] = from
      length += 2
    }
    reached = (spans[index + 1] ?? 0) + afterMs
    padded[length - 1] = reached
  }
  return padded.slice(0, length)
}

/** The part of the set in [start, end), without a walk over the rest of it. */
export const clipSpans = (spans: Spans, start: number, end: number): Spans => {
  if (start >= end) return noTime
  const from = boundariesUpTo(spans, start)
  const to = boundariesUpTo(spans, end)
  if (from === 0 && to === spans.length) return spans
  if (from === to && from % 2 === 0) return noTime
  // What is cut in two at an edge keeps the half that lies inside; a stretch that begins at the end has none.
  const isCutAtStart = from % 2 === 1
  const isCutAtEnd = to % 2 === 1 && spans[to - 1] !== end
  const last = to % 2 === 1 && !isCutAtEnd ? to - 1 : to
  const clipped = new Float64Array(last - from + (isCutAtStart ? 1 : 0) + (isCutAtEnd ? 1 : 0))
  if (isCutAtStart) clipped[0] = start
  clipped.set(spans.subarray(from, last), isCutAtStart ? 1 : 0)
  if (isCutAtEnd) clipped[clipped.length - 1] = end
  return clipped
}

/** How many boundaries lie at or before a moment. */
const boundariesUpTo = (spans: Spans, at: number): number => {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle] ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}
