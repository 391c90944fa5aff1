/** Why there is no time for everybody, and what comes nearest. Pure. */
import { spansHold, subtractSpans, unionSpans, type Interval, type Spans } from '@aftercommit/time'
import { whyMissing, type AbsenceReason, type Away } from './availability.ts'
import { compareStarts, spreadOut, type Ranked, type RankingRule } from './ranking.ts'
import { startAt, sumMet } from './starts.ts'

export interface RequiredMissing {
  readonly participantId: string
  readonly because: AbsenceReason
}
export interface Blocker {
  readonly stretch: Interval
  readonly by: readonly RequiredMissing[]
}
export interface SoleBlocker {
  readonly participantId: string
  /** How many starts everybody else could make. */
  readonly starts: number
}
export interface NearestSlot extends Interval {
  readonly missingRequired: readonly RequiredMissing[]
}

/** All starts, and how many of the required people miss each. */
export interface Missed {
  readonly ranked: Ranked
  readonly missingByStart: Int32Array
}

const BLOCKERS_MAX = 50

/**
 * Between two neighbouring boundaries the same people are away for the same reasons; across each boundary the reason that
 * is named of somebody changes. So no two empty stretches are neighbours, and the first few boundaries hold enough
 * blockers.
 */
export const blockersOf = (
  required: readonly Away[],
  usable: Interval,
): { readonly blockers: readonly Blocker[]; readonly blockersTruncated: boolean } => {
  const [start, end] = [usable.start.getTime(), usable.end.getTime()]
  if (start >= end) return { blockers: [], blockersTruncated: false }
  const boundariesMax = 2 * (BLOCKERS_MAX + 1) + 1
  const boundaries = new Set([start, end])
  for (const { reasons } of required) {
    let named: Spans = []
    for (const { spans } of reasons) {
      for (const boundary of subtractSpans(spans, named, BLOCKERS_MAX + 2)) boundaries.add(boundary)
      named = named.length === 0 ? spans : unionSpans(named, spans)
    }
  }
  const sorted = Float64Array.from(boundaries).sort().slice(0, boundariesMax)
  const blockers: Blocker[] = []
  sorted.forEach((from, index) => {
    const to = sorted[index + 1]
    if (to === undefined || blockers.length > BLOCKERS_MAX) return
    const by = required.flatMap((person) => missingAt(person, from))
    if (by.length > 0) blockers.push({ stretch: { start: new Date(from), end: new Date(to) }, by })
  })
  return { blockers: blockers.slice(0, BLOCKERS_MAX), blockersTruncated: blockers.length > BLOCKERS_MAX }
}

const missingAt = ({ participantId, reasons }: Away, moment: number): readonly RequiredMissing[] => {
  const because = reasons.find(({ spans }) => spansHold(spans, moment))?.because
  return because === undefined ? [] : [{ participantId, because }]
}

/** Who alone stands in the way of some start, by how many; of equal ones in the order in which they are listed. */
export const soleBlockersOf = (
  required: readonly Away[],
  { ranked: { starts }, missingByStart }: Missed,
  durationMs: number,
): readonly SoleBlocker[] => {
  // Where one person is missing, the sum of all that are missing is that person.
  const whoByStart = sumMet(
    required.map(({ spans }) => spans),
    starts,
    durationMs,
    (index) => index,
  )
  const startsByPerson = new Map<number, number>()
  for (let index = 0; index < starts.count; index += 1) {
    const person = whoByStart[index]
    if (missingByStart[index] !== 1 || person === undefined) continue
    startsByPerson.set(person, (startsByPerson.get(person) ?? 0) + 1)
  }
  return required
    .flatMap(({ participantId }, index): SoleBlocker[] => {
      const count = startsByPerson.get(index)
      return count === undefined ? [] : [{ participantId, starts: count }]
    })
    .sort((a, b) => b.starts - a.starts)
}

/** The slots that the fewest required people miss, then in the order in which possible ones are ranked. */
export const nearestOf = (
  required: readonly Away[],
  { ranked, missingByStart }: Missed,
  { durationMs, ...far }: { durationMs: number; spread: RankingRule['spread']; max: number },
): readonly NearestSlot[] => {
  const compare = compareStarts(ranked)
  const inOrder = Array.from({ length: ranked.starts.count }, (_, index) => index).sort(
    (a, b) => (missingByStart[a] ?? 0) - (missingByStart[b] ?? 0) || compare(a, b),
  )
  return spreadOut(inOrder, ranked.starts, { durationMs, ...far }).map((index) => {
    const start = startAt(ranked.starts, index)
    const end = start + durationMs
    const missingRequired = required.flatMap((person): RequiredMissing[] => {
      const because = whyMissing(person, start, end)
      return because === undefined ? [] : [{ participantId: person.participantId, because }]
    })
    return { start: new Date(start), end: new Date(end), missingRequired }
  })
}
