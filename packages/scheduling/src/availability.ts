/** One person's time, as a search is given it, and when that person is away. Pure. */
import {
  clipSpans,
  padSpans,
  spansOf,
  spansTouch,
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

/** When a person cannot, within the part of time that was asked about. */
export interface Away {
  readonly participantId: string
  /** All of it, whatever the reason. */
  readonly spans: Spans
  /** By reason, the most certain first. They may overlap; those of buffers are without what is busy or held. */
  readonly reasons: readonly { readonly because: AbsenceReason; readonly spans: Spans }[]
}

/** When somebody is away within [start, end). */
export const awayOf = (person: PersonAvailability, start: number, end: number): Away => {
  const { participantId, time, held, allowed } = person
  const within: Spans = start < end ? [start, end] : []
  const clipped = (spans: Spans): Spans => clipSpans(spans, start, end)
  const heldSpans = spansOf(held)
  const busySpans = time.type === 'known' ? spansOf(time.busy) : []
  const taken = heldSpans.length > 0 ? unionSpans(heldSpans, busySpans) : busySpans
  // Free before the meeting is the time after what ends before it, and the other way round.
  const padded = clipped(padSpans(taken, person.bufferAfterMs, person.bufferBeforeMs))
  const isPadded = person.bufferBeforeMs > 0 || person.bufferAfterMs > 0
  const spansByReason: Readonly<Record<AbsenceReason, Spans>> = {
    outside_hours: allowed === undefined ? [] : subtractSpans(within, spansOf(allowed)),
    held: clipped(heldSpans),
    busy: clipped(busySpans),
    buffer: isPadded ? subtractSpans(padded, taken) : [],
    not_stated: time.type === 'stated' ? subtractSpans(within, spansOf(time.free)) : [],
    unknown: time.type === 'unknown' ? within : [],
  }
  const { outside_hours: outside, not_stated: notStated, unknown } = spansByReason
  return {
    participantId,
    spans: [outside, notStated, unknown].reduce(
      (all, spans) => (spans.length > 0 ? unionSpans(all, spans) : all),
      padded,
    ),
    reasons: absenceReasons.flatMap((because) => {
      const spans = spansByReason[because]
      return spans.length > 0 ? [{ because, spans }] : []
    }),
  }
}

/** Why a person misses some of [start, end); undefined when they can attend throughout. */
export const whyMissing = ({ reasons }: Away, start: number, end: number): AbsenceReason | undefined =>
  reasons.find(({ spans }) => spansTouch(spans, start, end))?.because

// Defects of the caller: what a person asked for was checked where it came in.
export const assertSoundPeople = (people: readonly PersonAvailability[]): void => {
  if (new Set(people.map(({ participantId }) => participantId)).size < people.length) {
    throw new RangeError('a participant is listed twice')
  }
  for (const { bufferBeforeMs, bufferAfterMs } of people) {
    if (!(bufferBeforeMs >= 0 && bufferAfterMs >= 0)) throw new RangeError('a buffer must not be negative')
  }
}
