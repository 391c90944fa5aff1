/** One picture of a run: how far each bar was met or missed, on a logarithmic scale around the bar itself. */
import type { Run } from './report.ts'
import type { Verdict } from './results.ts'
import { demandOf, measuredIn } from './table.ts'

const WIDTH = 960
const ROW = 30
const TOP = 76
const LABELS = 400
const RIGHT = 150
/** Further than this to either side is drawn at the edge; the number says what it was. */
const SCALE_MAX = 8
const MET = '#2f7d4f'
const MISSED = '#b3472e'

export const chart = ({ verdicts, machine, startedAt, quick }: Run): string => {
  const height = TOP + verdicts.length * ROW + 24
  const center = xOf(1)
  const note = [
    startedAt.slice(0, 10),
    machine.processor,
    `${machine.cores} cores`,
    ...(machine.loaded ? ['machine in use: not a result'] : []),
    ...(quick ? ['quick run: not a result'] : []),
  ].join(' · ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 28, 'How far each bar was met or missed', 'font-size="17" font-weight="600"'),
    text(16, 48, note, 'fill="#666666"'),
    text(center, TOP - 8, 'the bar', 'text-anchor="middle" fill="#666666"'),
    ...verdicts.flatMap((verdict, index) => rowAt(TOP + index * ROW, verdict)),
    `<line x1="${center}" y1="${TOP}" x2="${center}" y2="${height - 20}" stroke="#333333"/>`,
    '</svg>',
    '',
  ].join('\n')
}

const xOf = (score: number): number => {
  const clipped = Math.min(Math.max(score, 1 / SCALE_MAX), SCALE_MAX)
  const part = 0.5 + Math.log(clipped) / Math.log(SCALE_MAX) / 2
  return Math.round(LABELS + part * (WIDTH - LABELS - RIGHT))
}

/** Above one: better than asked for. */
const scoreOf = (verdict: Verdict): number => {
  if (verdict.type === 'not_measured') return 1
  const { bar, value } = verdict
  if (bar.atLeast !== undefined) return value / bar.atLeast
  if (value === 0) return SCALE_MAX
  return (bar.atMost ?? 0) / value
}

const rowAt = (y: number, verdict: Verdict): readonly string[] => {
  const score = scoreOf(verdict)
  const [from, to] = [xOf(1), xOf(score)].sort((a, b) => a - b)
  const color = verdict.type === 'met' ? MET : MISSED
  const measured = `${measuredIn(verdict)} (${demandOf(verdict)})`
  return [
    text(16, y + 19, verdict.bar.what, ''),
    `<rect x="${from ?? 0}" y="${y + 6}" width="${Math.max((to ?? 0) - (from ?? 0), 2)}" height="${ROW - 12}" fill="${color}"/>`,
    text(WIDTH - 16, y + 19, measured, `text-anchor="end" fill="${color}"`),
  ]
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${x}" y="${y}" ${attributes}>${content.replace(/[&<>"]/g, (one) => ESCAPES[one] ?? one)}</text>`
