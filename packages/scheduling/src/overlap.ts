/**
 * When can these people meet? Pure: availability in, proposals or the reason why there is none out.
 *
 * All required people first; optional people and preferences only rank what is left. What is not known about somebody is
 * never read as free. The work is one sweep over each person's boundaries, never a walk over people times grid.
 */
import { intervalsOf, spansOf, type Interval, type TimeZone } from '@aftercommit/time'
import {
  assertSoundPeople,
  personSpansOf,
  reasonsAway,
  spansFree,
  whyMissing,
  type AbsenceReason,
  type PersonAvailability,
  type PersonSpans,
} from './availability.ts'
import {
  blockersOf,
  nearestOf,
  soleBlockersOf,
  type Blocker,
  type Missed,
  type NearestSlot,
  type SoleBlocker,
} from './blockers.ts'
import type { Preferences } from './preference.ts'
import { compareStarts, criteriaOf, rankingOf, spreadOut, type Ranked, type Ranking } from './ranking.ts'
import { DAY_MS, indexOfStart, isRoundTime, startAt, startsIn, countMissing } from './starts.ts'

export interface FindTimesInput {
  readonly durationMs: number
  /** A meeting lies wholly within it. */
  readonly window: Interval
  /** Meetings start at whole multiples of this from midnight, by the clock of `zone`. It divides a day. */
  readonly grainMs: number
  readonly zone: TimeZone
  readonly required: readonly PersonAvailability[]
  readonly optional: readonly PersonAvailability[]
  /** The earliest start that leaves people time to answer. */
  readonly approachNotBefore: Date
  readonly rank: Pick<Preferences, 'first' | 'order' | 'spread'> & {
    /** What is liked better, as instants; undefined for no preference. */
    readonly preferred?: readonly Interval[] | undefined
  }
  /** The best time, and alternatives to it. */
  readonly slotsMax: number
}

export interface OptionalMissing {
  readonly id: string
  readonly because: AbsenceReason
}
export interface Slot extends Interval {
  readonly optionalAttending: readonly string[]
  readonly optionalMissing: readonly OptionalMissing[]
  /** What it was ranked by, the criterion that counts most first. */
  readonly ranking: Ranking
}

export type FindTimesResult =
  /** The best time, then the best of those far enough from it and from each other. Never empty. */
  | { readonly type: 'found'; readonly slots: readonly Slot[] }
  | {
      readonly type: 'no_overlap'
      /** How many starts there were to choose from. None: what is left of the window is too short. */
      readonly startsTried: number
      /** The stretches of the window in which a required person cannot, in order. What no blocker covers is too short. */
      readonly blockers: readonly Blocker[]
      /** True if there are more blockers than the list shows. */
      readonly blockersTruncated: boolean
      /** Who alone stands in the way, and of how many starts; most first. */
      readonly soleBlockers: readonly SoleBlocker[]
      /** Slots that the fewest required people miss; no two of them overlap. */
      readonly nearest: readonly NearestSlot[]
    }
  | { readonly type: 'unknown_required'; readonly participantIds: readonly string[] }

const ALTERNATIVES_MAX = 3

/** Finds the times at which every required person can meet. */
export const findTimes = (input: FindTimesInput): FindTimesResult => {
  assertSound(input)
  const unknown = input.required.filter(({ time }) => time.type === 'unknown')
  if (unknown.length > 0) {
    return { type: 'unknown_required', participantIds: unknown.map(({ participantId }) => participantId) }
  }
  const sweep = sweepOf(input)
  const { ranked, possible, required, optional } = sweep
  const { durationMs } = input
  if (possible.length === 0) {
    return {
      type: 'no_overlap',
      startsTried: ranked.starts.count,
      ...blockersOf(required, sweep.usable),
      soleBlockers: soleBlockersOf(required, sweep),
      nearest: nearestOf(required, sweep, { durationMs, spread: input.rank.spread, max: ALTERNATIVES_MAX }),
    }
  }
  const chosen = spreadOut(possible.sort(compareStarts(ranked)), ranked.starts, {
    spread: input.rank.spread,
    durationMs,
    max: input.slotsMax,
  })
  return { type: 'found', slots: chosen.map((index) => slotAt(optional, ranked, index, durationMs)) }
}

export type RejectionReason =
  | { readonly type: 'outside_window' }
  | { readonly type: 'before_earliest_start' }
  /** The start is no multiple of the grain. */
  | { readonly type: 'off_grain' }
  | {
      readonly type: 'required_missing'
      readonly participantId: string
      readonly because: AbsenceReason
      /** The parts of the slot that this person misses for this reason. */
      readonly stretches: readonly Interval[]
    }
export type StartExplanation =
  | ({
      readonly type: 'acceptable'
      /** Its place among all possible starts, from 1; and how many there are. */
      readonly rank: number
      readonly of: number
    } & Slot)
  | { readonly type: 'rejected'; readonly reasons: readonly RejectionReason[] }

/** Why a slot that starts then is not the proposal: every reason, not the first. Agrees with `findTimes`. */
export const explainRejected = (input: FindTimesInput, start: Date): StartExplanation => {
  assertSound(input)
  const [from, to] = [start.getTime(), start.getTime() + input.durationMs]
  const sweep = sweepOf(input)
  const index = indexOfStart(sweep.ranked.starts, from)
  if (index !== undefined && sweep.possible.includes(index)) {
    const isAhead = compareStarts(sweep.ranked)
    return {
      type: 'acceptable',
      rank: sweep.possible.filter((other) => isAhead(other, index) < 0).length + 1,
      of: sweep.possible.length,
      ...slotAt(sweep.optional, sweep.ranked, index, input.durationMs),
    }
  }
  const reasons: RejectionReason[] = []
  const isOutside = start < input.window.start || to > input.window.end.getTime()
  if (isOutside) reasons.push({ type: 'outside_window' })
  if (start < input.approachNotBefore) reasons.push({ type: 'before_earliest_start' })
  if (!isRoundTime(start, input)) reasons.push({ type: 'off_grain' })
  // What people do outside of the window was not looked up, and so is not said.
  for (const person of isOutside ? [] : sweep.required) {
    for (const { because, spans } of reasonsAway(person, from, to)) {
      const stretches = intervalsOf(spans)
      reasons.push({ type: 'required_missing', participantId: person.participantId, because, stretches })
    }
  }
  return { type: 'rejected', reasons }
}

/** Everything that is counted over all starts at once. */
interface Sweep extends Missed {
  readonly usable: Interval
  readonly required: readonly PersonSpans[]
  readonly optional: readonly PersonSpans[]
  /** The starts that no required person misses. */
  readonly possible: number[]
}

const sweepOf = (input: FindTimesInput): Sweep => {
  const { durationMs, rank } = input
  const usable = usableWindow(input)
  const [start, end] = [usable.start.getTime(), usable.end.getTime()]
  const starts = startsIn(usable, input)
  const required = input.required.map(personSpansOf)
  const optional = input.optional.map(personSpansOf)
  const missedBy = (people: readonly PersonSpans[]) =>
    countMissing(people, (person) => spansFree(person, start, end), starts, durationMs)
  const { preferred } = rank
  const missing = missedBy(required)
  const possible: number[] = []
  for (let index = 0; index < starts.count; index += 1) {
    if (missing.countByStart[index] === 0) possible.push(index)
  }
  return {
    usable,
    required,
    optional,
    missing,
    possible,
    ranked: {
      starts,
      criteria: criteriaOf({
        ...rank,
        hasOptional: optional.length > 0,
        hasPreferred: preferred !== undefined,
      }),
      optionalMissingByStart: missedBy(optional).countByStart,
      unpreferredByStart: countMissing([preferred ?? [usable]], spansOf, starts, durationMs).countByStart,
    },
  }
}

/** Empty when people can be approached only after the window. */
const usableWindow = ({ window, approachNotBefore }: FindTimesInput): Interval => {
  const start = approachNotBefore > window.start ? approachNotBefore : window.start
  return { start: start < window.end ? start : window.end, end: window.end }
}

const slotAt = (
  optional: readonly PersonSpans[],
  ranked: Ranked,
  index: number,
  durationMs: number,
): Slot => {
  const start = startAt(ranked.starts, index)
  const end = start + durationMs
  const optionalAttending: string[] = []
  const optionalMissing: OptionalMissing[] = []
  for (const person of optional) {
    const because = whyMissing(person, start, end)
    if (because === undefined) optionalAttending.push(person.participantId)
    else optionalMissing.push({ id: person.participantId, because })
  }
  return {
    start: new Date(start),
    end: new Date(end),
    optionalAttending,
    optionalMissing,
    ranking: rankingOf(ranked, index, optionalAttending.length),
  }
}

// Defects of the caller: what a person asked for was checked where it came in.
const assertSound = (input: FindTimesInput): void => {
  for (const name of ['durationMs', 'grainMs', 'slotsMax'] as const) {
    if (!Number.isInteger(input[name]) || input[name] < 1) {
      throw new RangeError(`${name} must be a whole number above 0`)
    }
  }
  if (DAY_MS % input.grainMs !== 0) throw new RangeError('grainMs must divide a day')
  spansOf([input.window])
  if (Number.isNaN(input.approachNotBefore.getTime())) {
    throw new RangeError('approachNotBefore is no valid date')
  }
  assertSoundPeople([...input.required, ...input.optional])
}
