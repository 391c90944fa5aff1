/** The comparison as tables, in Markdown that is aligned for a terminal. */
import { customers, gaps, ways, type Gap, type WayName } from './gaps.ts'
import { totalsOf, type Judged, type Totals } from './verdict.ts'

const wayNames: Readonly<Record<WayName, string>> = {
  inline_call: 'call inside the request',
  callback: 'callback after commit',
  memory_queue: 'queue in memory',
  swept_status: 'status column, swept at start',
  outbox: 'outbox',
}

const gapNames: Readonly<Record<Gap, string>> = {
  before_commit: 'before the commit',
  before_call: 'after the commit, before the call',
  during_call: 'during the call, before the effect',
  after_effect: 'after the effect, before the answer',
  after_answer: 'after the answer, before it is recorded',
}

/** What went wrong in each way at each gap, of two bookings each. */
export const gapTable = (judged: readonly Judged[]): string =>
  markdown([
    ['the process is killed', ...ways.map((way) => wayNames[way])],
    ...gaps.map((gap) => [
      gapNames[gap],
      ...ways.map((way) => wrongs(judged.filter((each) => each.way === way && each.gap === gap))),
    ]),
  ])

/** The totals of each way. */
export const totalsTable = (judged: readonly Judged[]): string =>
  markdown([
    ['way', 'bookings', ...columns, 'of these hidden', 'known'],
    ...ways.map((way) => {
      const { runs, hidden, known, ...totals } = totalsOf(judged.filter((each) => each.way === way))
      return [wayNames[way], runs, ...columns.map((column) => totals[column]), hidden, known].map(String)
    }),
  ])

const columns = ['lost', 'doubled', 'unrecorded'] as const satisfies readonly (keyof Totals)[]

const wrongs = (judged: readonly Judged[]): string => {
  const parts = columns.flatMap((verdict) =>
    [true, false].flatMap((hidden) => {
      const count = judged.filter((each) => each.verdict === verdict && each.hidden === hidden).length
      return count === 0 ? [] : [`${count} ${verdict}, ${hidden ? 'hidden' : 'known'}`]
    }),
  )
  return judged.length < customers.length ? 'not played' : parts.join('; ') || '–'
}

const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): string => {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), SHORTEST),
  )
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** As Prettier has it, so that a page holds the table as it is printed. */
const SHORTEST = 3
