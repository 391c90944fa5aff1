/** Which of the possible times comes first, and by what: the one table of criteria. Pure. */
import { z } from 'zod'
import type { Preferences } from './preference.ts'
import { dayAt, startAt, type Starts } from './starts.ts'

/** What is said of one slot by each criterion, the one that counts most first. */
export const Ranking = z.array(
  z.discriminatedUnion('criterion', [
    z.object({
      criterion: z.literal('optional_attendance'),
      value: z.int().meta({ description: 'How many optional people can come.' }),
    }),
    z.object({
      criterion: z.literal('preferred_time'),
      value: z.boolean().meta({ description: 'Whether the meeting is within a preferred time.' }),
    }),
    z.object({ criterion: z.literal('earliest'), value: z.iso.datetime() }),
    z.object({ criterion: z.literal('latest'), value: z.iso.datetime() }),
  ]),
)
export type Ranking = z.output<typeof Ranking>
export type Criterion = Ranking[number]['criterion']

export interface RankingRule extends Pick<Preferences, 'first' | 'order' | 'spread'> {
  readonly hasOptional: boolean
  readonly hasPreferred: boolean
}

/**
 * What counts, most first. What cannot tell two slots apart is left out: no optional people, no preferred times. The last
 * one always can, for no two slots start at the same time.
 */
export const criteriaOf = (rule: RankingRule): readonly Criterion[] => {
  switch (rule.first) {
    case 'optional_attendance':
      return [...attendance(rule), ...preferred(rule), rule.order]
    case 'preferred_times':
      return [...preferred(rule), ...attendance(rule), rule.order]
    case 'start':
      return [rule.order]
  }
}

const attendance = ({ hasOptional }: RankingRule): readonly Criterion[] =>
  hasOptional ? ['optional_attendance'] : []
const preferred = ({ hasPreferred }: RankingRule): readonly Criterion[] =>
  hasPreferred ? ['preferred_time'] : []

/** All starts, and what the criteria need to know of each. */
export interface Ranked {
  readonly starts: Starts
  readonly criteria: readonly Criterion[]
  readonly optionalMissingByStart: Int32Array
  /** Not 0: some of the meeting is outside of all preferred times. */
  readonly unpreferredByStart: Int32Array
}

/** Below 0 if the first of two starts comes before the second. Starts are named by their index. */
export const compareStarts =
  (ranked: Ranked) =>
  (a: number, b: number): number => {
    for (const criterion of ranked.criteria) {
      const difference = comparedBy(criterion, ranked, a, b)
      if (difference !== 0) return difference
    }
    return 0
  }

const comparedBy = (
  criterion: Criterion,
  { optionalMissingByStart, unpreferredByStart }: Ranked,
  a: number,
  b: number,
): number => {
  switch (criterion) {
    case 'optional_attendance':
      return (optionalMissingByStart[a] ?? 0) - (optionalMissingByStart[b] ?? 0)
    case 'preferred_time':
      return Math.sign(unpreferredByStart[a] ?? 0) - Math.sign(unpreferredByStart[b] ?? 0)
    case 'earliest':
      return a - b
    case 'latest':
      return b - a
  }
}

export const rankingOf = (
  { starts, criteria, unpreferredByStart }: Ranked,
  index: number,
  optionalAttending: number,
): Ranking =>
  criteria.map((criterion): Ranking[number] => {
    switch (criterion) {
      case 'optional_attendance':
        return { criterion, value: optionalAttending }
      case 'preferred_time':
        return { criterion, value: unpreferredByStart[index] === 0 }
      case 'earliest':
      case 'latest':
        return { criterion, value: new Date(startAt(starts, index)).toISOString() }
    }
  })

/** The first of the starts, in their order, that are far enough from each other to be a choice. */
export const spreadOut = (
  inOrder: readonly number[],
  starts: Starts,
  { spread, durationMs, max }: { spread: RankingRule['spread']; durationMs: number; max: number },
): readonly number[] => {
  const chosen: { readonly index: number; readonly start: number; readonly day: number }[] = []
  for (const index of inOrder) {
    if (chosen.length === max) break
    const candidate = { index, start: startAt(starts, index), day: dayAt(starts, index) }
    const isChoice = chosen.every((other) =>
      spread === 'apart'
        ? Math.abs(other.start - candidate.start) >= durationMs
        : other.day !== candidate.day && Math.abs(other.start - candidate.start) >= durationMs,
    )
    if (isChoice) chosen.push(candidate)
  }
  return chosen.map(({ index }) => index)
}
