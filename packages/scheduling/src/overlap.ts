/**
 * When can these people meet? Pure: availability in, proposals or the reason why there is none out.
 *
 * All required people first; optional people only rank what is left. What is not known about somebody is never read
 * as free. The work is one sweep over each person's boundaries, never a walk over people times grid.
 */
import {
  clipSpans,
  intervalsOf,
  spansHold,
  spansOf,
  spansTouch,
  subtractSpans,
  unionSpans,
} from '@aftercommit/time'
import type { Interval, Spans } from '@aftercommit/time'

export type PersonBusy =
  | {
      readonly type: 'known'
      readonly busy: readonly Interval[]
      /** Added in front of each busy stretch, in milliseconds: what the person keeps free before it. */
      readonly bufferBeforeMs: number
      /** Added behind each busy stretch. */
      readonly bufferAfterMs: number
    }
  | { readonly type: 'unknown'; readonly reason: string }

export interface PersonAvailability {
  readonly participantId: string
  readonly busy: PersonBusy
  /** When the person may be asked at all, e.g. working hours as instants; undefined for always. */
  readonly allowed?: readonly Interval[] | undefined
}

export interface FindTimesInput {
  readonly durationMs: number
  /** A meeting lies wholly within it. */
  readonly window: Interval
  /** Meetings start at whole multiples of this in UTC: 15 minutes means :00, :15, :30, :45 in every zone in use. */
  readonly grainMs: number
  readonly required: readonly PersonAvailability[]
  readonly optional: readonly PersonAvailability[]
  /** The earliest start that leaves people time to answer. */
  readonly approachNotBefore: Date
  readonly maxProposals: number
}

/**
 * Why somebody cannot attend. Of several reasons the most certain is named: outside hours stays so whatever the
 * calendar says, and busy is known where unknown is not.
 */
export type AbsenceReason = 'outside_hours' | 'busy' | 'unknown'

export interface OptionalMissing {
  readonly id: string
  readonly because: AbsenceReason
}
export interface Slot extends Interval {
  readonly optionalAttending: readonly string[]
  readonly optionalMissing: readonly OptionalMissing[]
}
export interface Blocker {
  readonly stretch: Interval
  readonly by: readonly { readonly participantId: string; readonly because: 'outside_hours' | 'busy' }[]
}
export interface NearestSlot extends Interval {
  readonly missingRequired: readonly string[]
}

export type FindTimesResult =
  /** Most optional attendance first, then earliest. Never empty. */
  | { readonly type: 'found'; readonly slots: readonly Slot[] }
  | {
      readonly type: 'no_overlap'
      /** The stretches of the window in which a required person cannot, in order. What no blocker covers is too short. */
      readonly blockers: readonly Blocker[]
      /** True if there are more blockers than the list shows. */
      readonly blockersTruncated: boolean
      /** Slots that the fewest required people miss; no two of them overlap. */
      readonly nearest: readonly NearestSlot[]
    }
  | { readonly type: 'unknown_required'; readonly participantIds: readonly string[] }

const blockersMax = 50
const nearestMax = 3

/** Finds the times at which every required person can meet. */
export const findTimes = (input: FindTimesInput): FindTimesResult => {
  assertSound(input)
  const unknown = input.required.filter((person) => person.busy.type === 'unknown')
  if (unknown.length > 0) {
    return { type: 'unknown_required', participantIds: unknown.map((person) => person.participantId) }
  }
  const usable = usableWindow(input)
  const starts = startsIn(usable, input)
  const required = input.required.map((person) => absenceOf(person, usable))
  const missingByStart = countMissing(required, starts, input.durationMs)
  const possible = indexes(starts.count).filter((index) => missingByStart[index] === 0)
  if (possible.length === 0) {
    const nearest = nearestSlots(required, starts, missingByStart, input.durationMs)
    return { type: 'no_overlap', ...blockersOf(required, usable), nearest }
  }
  const optional = input.optional.map((person) => absenceOf(person, usable))
  const optionalMissingByStart = countMissing(optional, starts, input.durationMs)
  const slots = possible
    .sort((a, b) => at(optionalMissingByStart, a) - at(optionalMissingByStart, b) || a - b)
    .slice(0, input.maxProposals)
    .map((index) => slotAt(optional, startAt(starts, index), input.durationMs))
  return { type: 'found', slots }
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
export type SlotExplanation =
  | ({ readonly type: 'acceptable' } & Slot)
  | { readonly type: 'rejected'; readonly reasons: readonly RejectionReason[] }

/** Why a slot that starts then is not among the proposals: every reason, not the first. Agrees with `findTimes`. */
export const explainRejected = (input: FindTimesInput, start: Date): SlotExplanation => {
  assertSound(input)
  const [from, to] = [start.getTime(), start.getTime() + input.durationMs]
  const slot = [from, to]
  const reasons: RejectionReason[] = []
  if (start < input.window.start || to > input.window.end.getTime()) reasons.push({ type: 'outside_window' })
  if (start < input.approachNotBefore) reasons.push({ type: 'before_earliest_start' })
  if (from % input.grainMs !== 0) reasons.push({ type: 'off_grain' })
  for (const person of input.required) {
    const { participantId, outside, busy, unknown } = absenceOf(person, slot)
    const missing = (because: AbsenceReason, stretches: Spans): void => {
      if (stretches.length === 0) return
      reasons.push({ type: 'required_missing', participantId, because, stretches: intervalsOf(stretches) })
    }
    missing('outside_hours', outside)
    missing('busy', busy)
    missing('unknown', unknown ? slot : [])
  }
  if (reasons.length > 0) return { type: 'rejected', reasons }
  const optional = input.optional.map((person) => absenceOf(person, slot))
  return { type: 'acceptable', ...slotAt(optional, from, input.durationMs) }
}

/** When a person cannot, within the part of time that was asked about. */
interface Absence {
  readonly participantId: string
  readonly outside: Spans
  readonly busy: Spans
  readonly unknown: boolean
}

const absenceOf = ({ participantId, busy, allowed }: PersonAvailability, within: Spans): Absence => {
  const [start, end] = within
  // No time was asked about, so nobody is absent in it.
  if (start === undefined || end === undefined)
    return { participantId, outside: [], busy: [], unknown: false }
  const outside = allowed === undefined ? [] : subtractSpans(within, spansOf(allowed))
  if (busy.type === 'unknown') return { participantId, outside, busy: [], unknown: true }
  const padded = spansOf(busy.busy, busy.bufferBeforeMs, busy.bufferAfterMs)
  return { participantId, outside, busy: clipSpans(padded, start, end), unknown: false }
}

const whyMissing = (person: Absence, start: number, end: number): AbsenceReason | undefined => {
  if (spansTouch(person.outside, start, end)) return 'outside_hours'
  if (spansTouch(person.busy, start, end)) return 'busy'
  return person.unknown ? 'unknown' : undefined
}

const usableWindow = ({ window, approachNotBefore }: FindTimesInput): Spans => {
  const start = Math.max(window.start.getTime(), approachNotBefore.getTime())
  return start < window.end.getTime() ? [start, window.end.getTime()] : []
}

/** The starts on the grain that leave room for the meeting: `count` of them, from `first` on. */
interface Starts {
  readonly first: number
  readonly grainMs: number
  readonly count: number
}

const startsIn = ([start, end]: Spans, { grainMs, durationMs }: FindTimesInput): Starts => {
  if (start === undefined || end === undefined) return { first: 0, grainMs, count: 0 }
  const first = Math.ceil(start / grainMs) * grainMs
  return { first, grainMs, count: Math.max(0, Math.floor((end - durationMs - first) / grainMs) + 1) }
}

const startAt = ({ first, grainMs }: Starts, index: number): number => first + index * grainMs

/** For each start, how many of the people cannot attend a meeting that starts then. */
const countMissing = (people: readonly Absence[], starts: Starts, durationMs: number): Int32Array => {
  const changes = new Int32Array(starts.count + 1)
  for (const person of people) {
    if (person.unknown) {
      addRange(changes, 0, starts.count - 1)
      continue
    }
    const absent = unionSpans(person.outside, person.busy)
    let counted = -1
    for (let index = 0; index < absent.length; index += 2) {
      const from = at(absent, index)
      const to = at(absent, index + 1)
      // A meeting meets [from, to) exactly if it starts after from - duration and before to.
      const low = Math.floor((from - durationMs - starts.first) / starts.grainMs) + 1
      const high = Math.ceil((to - starts.first) / starts.grainMs) - 1
      addRange(changes, Math.max(low, counted + 1), Math.min(high, starts.count - 1))
      counted = Math.max(counted, high)
    }
  }
  for (let index = 1; index < changes.length; index += 1)
    changes[index] = at(changes, index) + at(changes, index - 1)
  return changes
}

/** One more from `low` to `high`, both included, in a list of differences. */
const addRange = (changes: Int32Array, low: number, high: number): void => {
  if (low > high) return
  changes[low] = at(changes, low) + 1
  changes[high + 1] = at(changes, high + 1) - 1
}

const slotAt = (optional: readonly Absence[], start: number, durationMs: number): Slot => {
  const optionalAttending: string[] = []
  const optionalMissing: OptionalMissing[] = []
  for (const person of optional) {
    const because = whyMissing(person, start, start + durationMs)
    if (because === undefined) optionalAttending.push(person.participantId)
    else optionalMissing.push({ id: person.participantId, because })
  }
  return { ...intervalAt(start, durationMs), optionalAttending, optionalMissing }
}

const nearestSlots = (
  required: readonly Absence[],
  starts: Starts,
  missingByStart: Int32Array,
  durationMs: number,
): readonly NearestSlot[] => {
  const chosen: number[] = []
  // Neighbours on the grain are hardly alternatives to each other, so each one chosen rules out what it overlaps.
  for (const index of indexes(starts.count).sort(
    (a, b) => at(missingByStart, a) - at(missingByStart, b) || a - b,
  )) {
    if (chosen.length === nearestMax) break
    const start = startAt(starts, index)
    if (chosen.every((other) => Math.abs(other - start) >= durationMs)) chosen.push(start)
  }
  return chosen.map((start) => ({
    ...intervalAt(start, durationMs),
    missingRequired: required
      .filter((person) => whyMissing(person, start, start + durationMs) !== undefined)
      .map((person) => person.participantId),
  }))
}

/**
 * Between two neighbouring boundaries the same people are absent for the same reasons; across each boundary somebody's
 * reason changes. So no two empty stretches are neighbours, and the first few boundaries hold enough blockers.
 */
const blockersOf = (
  required: readonly Absence[],
  usable: Spans,
): { readonly blockers: readonly Blocker[]; readonly blockersTruncated: boolean } => {
  const boundariesMax = 2 * (blockersMax + 1) + 1
  const boundaries = new Set(usable)
  for (const { outside, busy } of required) {
    for (const boundary of outside.slice(0, boundariesMax)) boundaries.add(boundary)
    for (const boundary of subtractSpans(busy, outside, blockersMax + 2)) boundaries.add(boundary)
  }
  const sorted = Float64Array.from(boundaries).sort().slice(0, boundariesMax)
  const blockers: Blocker[] = []
  for (let index = 0; index + 1 < sorted.length && blockers.length <= blockersMax; index += 1) {
    const start = at(sorted, index)
    const by = absentAt(required, start)
    if (by.length > 0) blockers.push({ stretch: intervalAt(start, at(sorted, index + 1) - start), by })
  }
  return { blockers: blockers.slice(0, blockersMax), blockersTruncated: blockers.length > blockersMax }
}

const absentAt = (required: readonly Absence[], moment: number): Blocker['by'] => {
  const by: { participantId: string; because: 'outside_hours' | 'busy' }[] = []
  for (const { participantId, outside, busy } of required) {
    if (spansHold(outside, moment)) by.push({ participantId, because: 'outside_hours' })
    else if (spansHold(busy, moment)) by.push({ participantId, because: 'busy' })
  }
  return by
}

const intervalAt = (start: number, durationMs: number): Interval => ({
  start: new Date(start),
  end: new Date(start + durationMs),
})

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const at = (list: ArrayLike<number>, index: number): number => {
  const value = list[index]
  if (value === undefined) throw new RangeError(`no element ${index} in a list of ${list.length}`)
  return value
}

// Defects of the caller: what a person asked for was checked where it came in.
const assertSound = (input: FindTimesInput): void => {
  for (const name of ['durationMs', 'grainMs', 'maxProposals'] as const) {
    if (!Number.isInteger(input[name]) || input[name] < 1)
      throw new RangeError(`${name} must be a whole number above 0`)
  }
  spansOf([input.window])
  if (Number.isNaN(input.approachNotBefore.getTime()))
    throw new RangeError('approachNotBefore is no valid date')
  const people = [...input.required, ...input.optional]
  if (new Set(people.map((person) => person.participantId)).size < people.length) {
    throw new RangeError('a participant is listed twice')
  }
  for (const { busy } of people) {
    if (busy.type === 'known' && !(busy.bufferBeforeMs >= 0 && busy.bufferAfterMs >= 0)) {
      throw new RangeError('a buffer must not be negative')
    }
  }
}
