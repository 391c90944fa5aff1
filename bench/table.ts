/** Results as text: aligned on a terminal, and the same rows as Markdown. */
import { median, type ScenarioResult, type Series, type Verdict } from './results.ts'

export const number = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: 0 })
}

export const rowsOf = ({ series }: ScenarioResult): readonly (readonly string[])[] => [
  ['contender', 'measure', 'median', 'lowest – highest', 'unit'],
  ...[...series]
    .sort(byMeasure(series))
    .map(({ contender, measure, unit, values }) => [
      contender,
      measure,
      number(median(values)),
      values.length > 1 ? `${number(Math.min(...values))} – ${number(Math.max(...values))}` : '',
      unit,
    ]),
]

/** One measure of all contenders together, measures in the order in which they came. */
const byMeasure = (series: readonly Series[]): ((a: Series, b: Series) => number) => {
  const order = [...new Set(series.map(({ measure }) => measure))]
  return (a, b) => order.indexOf(a.measure) - order.indexOf(b.measure)
}

export const table = (result: ScenarioResult): string => {
  const rows = rowsOf(result)
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const right = new Set([2, 3])
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [...rows.map(line), ...result.notes.map((note) => `* ${note}`)].join('\n')
}

export const demandOf = ({ bar }: Verdict): string => {
  const unit = bar.against ? '×' : ''
  const demand =
    bar.atLeast === undefined ? `≤ ${number(bar.atMost ?? 0)}${unit}` : `≥ ${number(bar.atLeast)}${unit}`
  return bar.orInsideSpread === true ? `${demand} or inside the spread` : demand
}

export const measuredIn = (verdict: Verdict): string =>
  verdict.type === 'not_measured'
    ? 'not measured'
    : `${number(verdict.value)}${verdict.bar.against ? '×' : ''}`

export const barLines = (verdicts: readonly Verdict[]): readonly string[] =>
  verdicts.map((verdict) => {
    const mark = { met: 'met    ', missed: 'MISSED ', not_measured: 'NOT MEASURED ' }[verdict.type]
    return `${mark} ${verdict.bar.what}: ${measuredIn(verdict)} (bar: ${demandOf(verdict)})`
  })
