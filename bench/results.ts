/** What a scenario measured, and what its bars make of it. */
import { z } from 'zod'

/** One measure of one contender, a value per repetition. */
export interface Series {
  readonly contender: string
  readonly measure: string
  readonly unit: string
  readonly values: readonly number[]
}

export interface ScenarioResult {
  readonly scenario: string
  readonly title: string
  readonly series: readonly Series[]
  /** What the reader must know to read the numbers. */
  readonly notes: readonly string[]
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The nearest-rank percentile; of an even number, the median is the mean of the two in the middle. */
export const percentile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = part * sorted.length
  const upper = sorted[Math.min(Math.ceil(at), sorted.length) - 1] ?? sorted[0] ?? Number.NaN
  if (part !== 0.5 || sorted.length % 2 === 1) return upper
  return (upper + (sorted[sorted.length / 2] ?? upper)) / 2
}

export const Bar = z.strictObject({
  scenario: z.string(),
  what: z.string(),
  /** Whose measure it is, and which. */
  of: z.string(),
  measure: z.string(),
  /** The other side of a ratio; absent for a bar on the value itself. */
  against: z.strictObject({ of: z.string(), measure: z.string() }).optional(),
  atLeast: z.number().optional(),
  atMost: z.number().optional(),
  /** Also met by a median inside the spread of the other side. */
  orInsideSpread: z.boolean().optional(),
})
export type Bar = z.output<typeof Bar>
export const Bars = z.array(
  Bar.refine(
    (bar) => (bar.atLeast === undefined) !== (bar.atMost === undefined),
    'one of atLeast and atMost',
  ),
)

export type Verdict =
  | { readonly type: 'not_measured'; readonly bar: Bar }
  | { readonly type: 'met' | 'missed'; readonly bar: Bar; readonly value: number }

/** A bar whose measure is not there is never met. */
export const judge = (bar: Bar, results: readonly ScenarioResult[]): Verdict => {
  const values = (of: string, measure: string): readonly number[] =>
    results
      .find(({ scenario }) => scenario === bar.scenario)
      ?.series.find((series) => series.contender === of && series.measure === measure)?.values ?? []
  const mine = values(bar.of, bar.measure)
  const theirs = bar.against ? values(bar.against.of, bar.against.measure) : [1]
  if (mine.length === 0 || theirs.length === 0) return { type: 'not_measured', bar }
  const value = median(mine) / median(theirs)
  const { atLeast = -Infinity, atMost = Infinity } = bar
  const inside = median(mine) >= Math.min(...theirs) && median(mine) <= Math.max(...theirs)
  const met = (value >= atLeast && value <= atMost) || (bar.orInsideSpread === true && inside)
  return { type: met ? 'met' : 'missed', bar, value }
}
