/** Why there is no time for everybody, and what comes nearest. Pure. */
import { spansHold, subtractSpans, unionSpans, type Interval, type Spans } from '@aftercommit/time'
import { reasonsAway, whyMissing, type AbsenceReason, type Away, type PersonSpans } from './availability.ts'
import { compareStarts, spreadOut, type Ranked, type RankingRule } from './ranking.ts'
import { startAt, type Missing } from './starts.ts'

export interface RequiredMissing {
  readonly participantId: string
  readonly because: AbsenceReason
}
export interface Blocker {
  readonly stretch: Interval
  /** The first of those who cannot. */
  readonly by: readonly RequiredMissing[]
  /** How many cannot. */
  readonly count: number
}
export interface SoleBlocker {
  readonly participantId: string
  /** How many starts everybody else could make. */
  readonly starts: number
}
export interface NearestSlot extends Interval {
  readonly missingRequired: readonly RequiredMissing[]
}

/** All starts, and who misses each. */
export interface Missed {
  readonly ranked: Ranked
  readonly missing: Missing
}

const BLOCKERS_MAX = 50
/** Whoever reads that ten people cannot needs no eleventh, and what is kept of a search stays small. */
const NAMED_MAX = 10
const HORIZON_MS = 24 * 60 * 60_000

/** The stretches of the window in which somebody cannot, from its start on. */
export const blockersOf = (
  required: readonly PersonSpans[],
  usable: Interval,
): { readonly blockers: readonly Blocker[]; readonly blockersTruncated: boolean } => {
  const [start, end] = [usable.start.getTime(), usable.end.getTime()]
  if (start >= end) return { blockers: [], blockersTruncated: false }
  const { awayByPerson, boundaries } = firstBoundaries(required, start, end)
  const blockers: Blocker[] = []
  boundaries.forEach((from, index) => {
    const to = boundaries[index + 1]
    if (to === undefined || blockers.length > BLOCKERS_MAX) return
    const by: RequiredMissing[] = []
    let count = 0
    required.forEach(({ participantId }, position) => {
      const because = awayByPerson[position]?.find(({ spans }) => spansHold(spans, from))?.because
      if (because === undefined) return
      count += 1
      if (by.length < NAMED_MAX) by.push({ participantId, because })
    })
    if (count > 0) blockers.push({ stretch: { start: new Date(from), end: new Date(to) }, by, count })
  })
  return { blockers: blockers.slice(0, BLOCKERS_MAX), blockersTruncated: blockers.length > BLOCKERS_MAX }
}

interface Boundaries {
  readonly awayByPerson: readonly (readonly Away[])[]
  readonly boundaries: readonly number[]
}

/**
 * Between two neighbouring boundaries the same people are away for the same reasons; across each boundary the reason that
 * is named of somebody changes. So no two empty stretches are neighbours, and the first few boundaries hold enough
 * blockers. With many people these come soon, so no more of the window is looked at than it takes.
 */
const firstBoundaries = (required: readonly PersonSpans[], start: number, end: number): Boundaries => {
  const boundariesMax = 2 * (BLOCKERS_MAX + 1) + 1
  let lookedMs = HORIZON_MS
  for (;;) {
    const horizon = Math.min(start + lookedMs, end)
    const found = new Set([start])
    const awayByPerson = required.map((person) => reasonsAway(person, start, horizon))
    for (const reasons of awayByPerson) {
      let named: Spans = []
      for (const { spans } of reasons) {
        for (const boundary of subtractSpans(spans, named, BLOCKERS_MAX + 2)) found.add(boundary)
        named = unionSpans(named, spans)
      }
    }
    // The horizon cuts what goes on behind it; only the end of the window is a boundary in itself.
    if (horizon < end) found.delete(horizon)
    else found.add(end)
    if (horizon === end || found.size >= boundariesMax) {
      const boundaries = [...Float64Array.from(found).sort().slice(0, boundariesMax)]
      return { awayByPerson, boundaries }
    }
    lookedMs *= 1 + Math.ceil(boundariesMax / found.size)
  }
}

/** Who alone stands in the way of some start, by how many; of equal ones in the order in which they are listed. */
export const soleBlockersOf = (
  required: readonly PersonSpans[],
  { ranked: { starts }, missing }: Missed,
): readonly SoleBlocker[] => {
  const startsByPosition = new Map<number, number>()
  for (let index = 0; index < starts.count; index += 1) {
    const position = missing.positionsByStart[index]
    if (missing.countByStart[index] !== 1 || position === undefined) continue
    startsByPosition.set(position, (startsByPosition.get(position) ?? 0) + 1)
  }
  return required
    .flatMap(({ participantId }, position): SoleBlocker[] => {
      const count = startsByPosition.get(position)
      return count === undefined ? [] : [{ participantId, starts: count }]
    })
    .sort((a, b) => b.starts - a.starts)
}

/** The slots that the fewest required people miss, then in the order in which possible ones are ranked. */
export const nearestOf = (
  required: readonly PersonSpans[],
  { ranked, missing: { countByStart } }: Missed,
  { durationMs, ...far }: { durationMs: number; spread: RankingRule['spread']; max: number },
): readonly NearestSlot[] => {
  const compare = compareStarts(ranked)
  const inOrder = Array.from({ length: ranked.starts.count }, (_, index) => index).sort(
    (a, b) => (countByStart[a] ?? 0) - (countByStart[b] ?? 0) || compare(a, b),
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
