/** Why there is no time for everybody, and what comes nearest. Pure. */
import { noTime, subtractSpans, unionSpans, type Interval } from '@aftercommit/time'
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

/**
 * The stretches of the window in which somebody cannot, from its start on. With many people the first ones come soon, so no
 * more of the window is looked at than it takes.
 */
export const blockersOf = (
  required: readonly PersonSpans[],
  usable: Interval,
): { readonly blockers: readonly Blocker[]; readonly blockersTruncated: boolean } => {
  const [start, end] = [usable.start.getTime(), usable.end.getTime()]
  let horizon = Math.min(start + HORIZON_MS, end)
  for (;;) {
    const blockers = blockersWithin(required, start, horizon, horizon === end)
    if (horizon >= end || blockers.length > BLOCKERS_MAX) {
      return { blockers: blockers.slice(0, BLOCKERS_MAX), blockersTruncated: blockers.length > BLOCKERS_MAX }
    }
    const timesMore = 1 + Math.ceil((BLOCKERS_MAX + 1) / Math.max(blockers.length, 1))
    horizon = Math.min(start + timesMore * (horizon - start), end)
  }
}

/**
 * The blockers up to a horizon, each with the reason that is named of everybody who cannot. They lie between two
 * neighbouring boundaries, at each of which what is named of somebody changes. The horizon cuts what goes on behind it,
 * and only the end of the window is a boundary in itself: `isEnd`.
 */
const blockersWithin = (
  required: readonly PersonSpans[],
  start: number,
  horizon: number,
  isEnd: boolean,
): readonly Blocker[] => {
  const namedByPerson = required.map((person) => namedAway(person, start, horizon))
  const boundaries = boundariesOf(namedByPerson, horizon, isEnd)
  const indexByBoundary = new Map<number, number>()
  boundaries.forEach((boundary, index) => indexByBoundary.set(boundary, index))
  const stretches = Array.from({ length: Math.max(boundaries.length - 1, 0) }, () => ({
    by: [] as RequiredMissing[],
    count: 0,
  }))
  required.forEach(({ participantId }, position) => {
    for (const { because, spans } of namedByPerson[position] ?? []) {
      for (let index = 0; index + 1 < spans.length; index += 2) {
        const from = indexByBoundary.get(spans[index] ?? 0) ?? 0
        const to = indexByBoundary.get(spans[index + 1] ?? 0) ?? stretches.length
        for (let at = from; at < to; at += 1) {
          const stretch = stretches[at]
          if (!stretch) break
          stretch.count += 1
          if (stretch.by.length < NAMED_MAX) stretch.by.push({ participantId, because })
        }
      }
    }
  })
  return stretches.flatMap(({ by, count }, index): Blocker[] => {
    if (count === 0) return []
    const stretch = {
      start: new Date(boundaries[index] ?? start),
      end: new Date(boundaries[index + 1] ?? horizon),
    }
    return [{ stretch, by, count }]
  })
}

/** What somebody misses by the reason that is named of it, so that no moment is there twice. */
const namedAway = (person: PersonSpans, start: number, end: number): readonly Away[] => {
  let named = noTime
  return reasonsAway(person, start, end).map(({ because, spans }) => {
    const more = subtractSpans(spans, named)
    named = unionSpans(named, spans)
    return { because, spans: more }
  })
}

/** All boundaries in order. */
const boundariesOf = (
  awayByPerson: readonly (readonly Away[])[],
  horizon: number,
  isEnd: boolean,
): Float64Array => {
  const found = new Set<number>()
  for (const reasons of awayByPerson) {
    for (const { spans } of reasons) {
      for (let index = 0; index < spans.length; index += 1) found.add(spans[index] ?? horizon)
    }
  }
  if (!isEnd) found.delete(horizon)
  return Float64Array.from(found).sort()
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
  const inOrder = Array.from(countByStart.subarray(0, ranked.starts.count).keys()).sort(
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
