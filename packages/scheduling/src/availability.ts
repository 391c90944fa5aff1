/** One person's time, as a search is given it, and when that person is away. Pure. */
import {
  clipSpans,
  padSpans,
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
    busy: time.type === 'known' ? spansOf(time.busy) : [],
    bufferBeforeMs,
    bufferAfterMs,
    allowed: allowed && spansOf(allowed),
    stated: time.type === 'stated' ? spansOf(time.free) : undefined,
    isUnknown: time.type === 'unknown',
  }
}

/** All the time of [start, end) in which somebody is away, whatever the reason. */
export const spansAway = (person: PersonSpans, start: number, end: number): Spans => {
  if (start >= end) return []
  if (person.isUnknown) return [start, end]
  const outside = unionSpans(
    spansOutside(person.allowed, start, end),
    spansOutside(person.stated, start, end),
  )
  return unionSpans(outside, spansTaken(person, start, end))
}

/** When a person cannot for one reason. */
export interface Away {
  readonly because: AbsenceReason
  readonly spans: Spans
}

/**
 * The same by reason, the most certain first, and none that is not there. They may overlap; those of buffers are without
 * what is busy or held.
 */
export const reasonsAway = (person: PersonSpans, start: number, end: number): readonly Away[] => {
  if (start >= end) return []
  const within = (spans: Spans): Spans => clipSpans(spans, start, end)
  const [held, busy] = [within(person.held), within(person.busy)]
  const spansByReason: Readonly<Record<AbsenceReason, Spans>> = {
    outside_hours: spansOutside(person.allowed, start, end),
    held,
    busy,
    buffer: subtractSpans(spansTaken(person, start, end), unionSpans(held, busy)),
    not_stated: spansOutside(person.stated, start, end),
    unknown: person.isUnknown ? [start, end] : [],
  }
  return absenceReasons.flatMap((because) => {
    const spans = spansByReason[because]
    return spans.length > 0 ? [{ because, spans }] : []
  })
}

/** Why a person misses some of [start, end); undefined when they can attend throughout. */
export const whyMissing = (person: PersonSpans, start: number, end: number): AbsenceReason | undefined =>
  reasonsAway(person, start, end)[0]?.because

/** What is busy or held, and what the person keeps free around the meeting because of it. */
const spansTaken = (person: PersonSpans, start: number, end: number): Spans => {
  const { bufferBeforeMs, bufferAfterMs } = person
  // Free before the meeting is the time after what ends before it, and the other way round.
  const [from, to] = [start - bufferBeforeMs, end + bufferAfterMs]
  const all = unionSpans(clipSpans(person.held, from, to), clipSpans(person.busy, from, to))
  if (bufferBeforeMs === 0 && bufferAfterMs === 0) return all
  return clipSpans(padSpans(all, bufferAfterMs, bufferBeforeMs), start, end)
}

const spansOutside = (spans: Spans | undefined, start: number, end: number): Spans =>
  spans === undefined ? [] : subtractSpans([start, end], clipSpans(spans, start, end))

// Defects of the caller: what a person asked for was checked where it came in.
export const assertSoundPeople = (people: readonly PersonAvailability[]): void => {
  if (new Set(people.map(({ participantId }) => participantId)).size < people.length) {
    throw new RangeError('a participant is listed twice')
  }
  for (const { bufferBeforeMs, bufferAfterMs } of people) {
    if (!(bufferBeforeMs >= 0 && bufferAfterMs >= 0)) throw new RangeError('a buffer must not be negative')
  }
}
