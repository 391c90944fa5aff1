/** One person's time, as a search is given it, and when that person is away. Pure. */
import {
  clipSpans,
  intersectSpans,
  noTime,
  padSpans,
  spanOf,
  spansOf,
  subtractSpans,
  unionSpans,
  type Interval,
  type Spans,
} from '@aftercommit/time'

/** What is known of a person's time. */
export type PersonTime =
  /** What a calendar shows as taken; the rest is free. */
  | { readonly type: 'known'; readonly busy: readonly Interval[] }
  /** When a person says they can; at any other time they cannot. */
  | { readonly type: 'stated'; readonly free: readonly Interval[] }
  | { readonly type: 'unknown'; readonly reason: string }

export interface PersonAvailability {
  readonly participantId: string
  readonly time: PersonTime
  /** When the person is promised to other meetings, whatever else is known of them. */
  readonly held: readonly Interval[]
  /** What the person keeps free right before the meeting, from whatever is busy or held. */
  readonly bufferBeforeMs: number
  /** What the person keeps free right after the meeting. */
  readonly bufferAfterMs: number
  /** When the person may be asked at all, e.g. working hours as instants; undefined for always. */
  readonly allowed?: readonly Interval[] | undefined
}

/**
 * Why somebody cannot attend, the most certain reason first; of several, the first one is named. Outside hours stays so
 * whatever else is known, what is held is this system's own promise, and what is busy is known where unknown is not.
 * `buffer`: the person keeps that time free around the meeting, and something else is in it.
 */
export const absenceReasons = ['outside_hours', 'held', 'busy', 'buffer', 'not_stated', 'unknown'] as const
export type AbsenceReason = (typeof absenceReasons)[number]

/** The same person, ready to be asked about any part of time. */
export interface PersonSpans {
  readonly participantId: string
  readonly held: Spans
  readonly busy: Spans
  readonly bufferBeforeMs: number
  readonly bufferAfterMs: number
  /** Undefined: any time. */
  readonly allowed: Spans | undefined
  /** Undefined: nothing was stated. */
  readonly stated: Spans | undefined
  readonly isUnknown: boolean
}

export const personSpansOf = (person: PersonAvailability): PersonSpans => {
  const { participantId, time, held, allowed, bufferBeforeMs, bufferAfterMs } = person
  return {
    participantId,
    held: spansOf(held),
    busy: time.type === 'known' ? spansOf(time.busy) : noTime,
    bufferBeforeMs,
    bufferAfterMs,
    allowed: allowed && spansOf(allowed),
    stated: time.type === 'stated' ? spansOf(time.free) : undefined,
    isUnknown: time.type === 'unknown',
  }
}

/** All the time of [start, end) that somebody has, whatever takes the rest of it. */
export const spansFree = (person: PersonSpans, start: number, end: number): Spans => {
  if (start >= end || person.isUnknown) return noTime
  const { allowed, stated } = person
  const askable = allowed === undefined ? spanOf(start, end) : clipSpans(allowed, start, end)
  const open = stated === undefined ? askable : intersectSpans(askable, stated)
  return subtractSpans(open, spansTaken(person, start, end))
}

/** When a person cannot for one reason. */
export interface Away {
  readonly because: AbsenceReason
  readonly spans: Spans
}

/** What of [start, end) somebody misses for one reason; `buffer` is without what is busy or held. */
const spansByReason: Readonly<
  Record<AbsenceReason, (person: PersonSpans, start: number, end: number) => Spans>
> = {
  outside_hours: (person, start, end) => spansOutside(person.allowed, start, end),
  held: (person, start, end) => clipSpans(person.held, start, end),
  busy: (person, start, end) => clipSpans(person.busy, start, end),
  buffer: (person, start, end) => {
    if (person.bufferBeforeMs === 0 && person.bufferAfterMs === 0) return noTime
    const [held, busy] = [clipSpans(person.held, start, end), clipSpans(person.busy, start, end)]
    return subtractSpans(clipSpans(spansTaken(person, start, end), start, end), unionSpans(held, busy))
  },
  not_stated: (person, start, end) => spansOutside(person.stated, start, end),
  unknown: (person, start, end) => (person.isUnknown ? spanOf(start, end) : noTime),
}

/** The same by reason, the most certain first, and none that is not there. They may overlap. */
export const reasonsAway = (person: PersonSpans, start: number, end: number): readonly Away[] => {
  if (start >= end) return []
  const away: Away[] = []
  for (const because of absenceReasons) {
    const spans = spansByReason[because](person, start, end)
    if (spans.length > 0) away.push({ because, spans })
  }
  return away
}

/** Why a person misses some of [start, end); undefined when they can attend throughout. */
export const whyMissing = (person: PersonSpans, start: number, end: number): AbsenceReason | undefined =>
  start < end
    ? absenceReasons.find((because) => spansByReason[because](person, start, end).length > 0)
    : undefined

/**
 * What is busy or held, and what the person keeps free around the meeting because of it: all of it that lies in
 * [start, end), and perhaps some that does not.
 */
const spansTaken = (person: PersonSpans, start: number, end: number): Spans => {
  const { bufferBeforeMs, bufferAfterMs } = person
  // Free before the meeting is the time after what ends before it, and the other way round.
  const [from, to] = [start - bufferBeforeMs, end + bufferAfterMs]
  const all = unionSpans(clipSpans(person.held, from, to), clipSpans(person.busy, from, to))
  return padSpans(all, bufferAfterMs, bufferBeforeMs)
}

const spansOutside = (spans: Spans | undefined, start: number, end: number): Spans =>
  spans === undefined ? noTime : subtractSpans(spanOf(start, end), clipSpans(spans, start, end))

// Defects of the caller: what a person asked for was checked where it came in.
export const assertSoundPeople = (people: readonly PersonAvailability[]): void => {
  if (new Set(people.map(({ participantId }) => participantId)).size < people.length) {
    throw new RangeError('a participant is listed twice')
  }
  for (const { bufferBeforeMs, bufferAfterMs } of people) {
    if (!(bufferBeforeMs >= 0 && bufferAfterMs >= 0)) throw new RangeError('a buffer must not be negative')
  }
}
