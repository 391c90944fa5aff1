/** The fields of the reply form: what a browser sent, what of it is a window, and what is wrong with it. */
import {
  Fold,
  STATED_WINDOWS_MAX,
  type LocalWindow,
  type ReplyProblem,
} from '@aftercommit/scheduling/outreach'
import { addDays, isCalendarDate, parseTimeZone, type TimeZone } from '@aftercommit/time'
import { z } from 'zod'

/** One line of the form, as its fields hold it. A line with a day and without times says nothing. */
export interface Row {
  readonly date: string
  readonly from: string
  readonly to: string
  readonly anyTime: boolean
  readonly fromFold: string
  readonly toFold: string
}

export const emptyRow: Row = { date: '', from: '', to: '', anyTime: false, fromFold: '', toFold: '' }

/** Something to put right, and the field to put it right in. */
export interface Fault {
  readonly field: FieldName
  readonly type: FaultType
  /** Offers the choice between two times that a clock shows alike. */
  readonly fold?: { readonly earlier: Date; readonly later: Date }
}
export type FaultType =
  | Exclude<ReplyProblem['type'], 'not_a_window'>
  | 'zone_unknown'
  | 'date_missing'
  | 'not_a_date'
  | 'from_missing'
  | 'to_missing'
  | 'not_a_time'
export type RowField = 'date' | 'from' | 'to' | 'any' | 'fromFold' | 'toFold'
export type FieldName = 'zone' | `${RowField}-${number}`

const Answer = z.enum(['times', 'not_taking_part', 'contact_refused'])
type Answer = z.output<typeof Answer>

/** The whole form as it was sent. Of a field sent twice the first one counts. */
export interface Sent {
  readonly answer: Answer
  readonly wants: 'send' | 'more_rows'
  readonly zone: string
  readonly draftId: string
  readonly rows: readonly Row[]
}

const Body = z.record(
  z.string(),
  z.union([z.string(), z.array(z.string()).transform((texts) => texts[0] ?? '')]),
)

/** Undefined: not one of the forms of the page. */
export const readSent = (body: unknown): Sent | undefined => {
  const parsed = Body.safeParse(body)
  const answer = Answer.safeParse(parsed.data?.answer)
  if (!parsed.success || !answer.success) return undefined
  const of = (name: string): string => parsed.data[name]?.trim() ?? ''
  const rows: Row[] = []
  for (let index = 0; index < STATED_WINDOWS_MAX && `date-${index}` in parsed.data; index += 1) {
    rows.push({
      date: of(`date-${index}`),
      from: of(`from-${index}`),
      to: of(`to-${index}`),
      anyTime: of(`any-${index}`) !== '',
      fromFold: of(`fromFold-${index}`),
      toFold: of(`toFold-${index}`),
    })
  }
  if (rows.length === 0) rows.push(emptyRow)
  const wants = of('do') === 'more_rows' ? 'more_rows' : 'send'
  return { answer: answer.data, wants, zone: of('zone'), draftId: of('draft'), rows }
}

export interface ReadForm {
  readonly zone: TimeZone | undefined
  readonly windows: readonly LocalWindow[]
  /** For each window the line it stands in. */
  readonly rowOfWindow: readonly number[]
  readonly faults: readonly Fault[]
}

/** What the fields say by themselves. Whether the times exist and fit the meeting is the domain's to tell. */
export const readFields = (sent: Sent): ReadForm => {
  const windows: LocalWindow[] = []
  const rowOfWindow: number[] = []
  const faults: Fault[] = []
  const zone = parseTimeZone(sent.zone)
  if (zone.type === 'malformed') {
    faults.push({ field: 'zone', type: zone.reason === 'empty' ? 'zone_missing' : 'zone_unknown' })
  }
  sent.rows.forEach((row, index) => {
    const read = readRow(row, index)
    if (read.type === 'faults') faults.push(...read.faults)
    if (read.type !== 'window') return
    windows.push(read.window)
    rowOfWindow.push(index)
  })
  return { zone: zone.type === 'zone' ? zone.zone : undefined, windows, rowOfWindow, faults }
}

type ReadRow =
  | { readonly type: 'nothing' }
  | { readonly type: 'window'; readonly window: LocalWindow }
  | { readonly type: 'faults'; readonly faults: readonly Fault[] }

const readRow = (row: Row, index: number): ReadRow => {
  const { date, anyTime } = row
  if (!anyTime && row.from === '' && row.to === '') return { type: 'nothing' }
  const from = anyTime ? '00:00' : readClock(row.from)
  const to = anyTime ? '00:00' : readClock(row.to)
  const faults: Fault[] = []
  if (date === '') faults.push({ field: `date-${index}`, type: 'date_missing' })
  else if (!isCalendarDate(date)) faults.push({ field: `date-${index}`, type: 'not_a_date' })
  if (from === undefined) {
    faults.push({ field: `from-${index}`, type: row.from === '' ? 'from_missing' : 'not_a_time' })
  }
  if (to === undefined) {
    faults.push({ field: `to-${index}`, type: row.to === '' ? 'to_missing' : 'not_a_time' })
  }
  if (faults.length > 0 || from === undefined || to === undefined) return { type: 'faults', faults }
  // A day's end is written as midnight, which a clock shows on the next day.
  const end = `${to === '00:00' ? addDays(date, 1) : date}T${to}`
  const startFold = Fold.safeParse(row.fromFold).data
  const endFold = Fold.safeParse(row.toFold).data
  const window: LocalWindow = {
    start: `${date}T${from}`,
    end,
    ...(startFold !== undefined && { startFold }),
    ...(endFold !== undefined && { endFold }),
  }
  return { type: 'window', window }
}

const clock = /^(\d{1,2})(?:[:.](\d{2})(?::\d{2})?)?\s*(am|pm)?$/i

/** A browser's field sends `HH:mm`; one that does not know such fields sends what was typed. */
const readClock = (text: string): string | undefined => {
  const [, hourText, minuteText = '00', half] = clock.exec(text) ?? []
  if (hourText === undefined) return undefined
  const shown = Number(hourText)
  if (half !== undefined && (shown < 1 || shown > 12)) return undefined
  const hour = half === undefined ? shown : (shown % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  if (hour === 24 && minuteText === '00') return '00:00'
  if (hour > 23 || Number(minuteText) > 59) return undefined
  return `${String(hour).padStart(2, '0')}:${minuteText}`
}

/** Puts what the domain found beside the field it is about. */
export const faultOf = (problem: ReplyProblem, rowOfWindow: readonly number[]): Fault => {
  if (problem.type === 'zone_missing') return { field: 'zone', type: 'zone_missing' }
  if (problem.type === 'nothing_stated' || problem.type === 'too_many_windows') {
    return { field: 'from-0', type: problem.type }
  }
  const row = rowOfWindow[problem.index] ?? 0
  switch (problem.type) {
    case 'not_a_window':
      return { field: `date-${row}`, type: 'not_a_date' }
    case 'time_skipped':
      return { field: `${edges[problem.edge]}-${row}`, type: problem.type }
    case 'time_twice': {
      const { earlier, later } = problem
      return { field: `${edges[problem.edge]}Fold-${row}`, type: problem.type, fold: { earlier, later } }
    }
    case 'ends_not_after_start':
      return { field: `to-${row}`, type: problem.type }
    case 'outside_window':
    case 'too_short':
      return { field: `from-${row}`, type: problem.type }
  }
}

const edges = { start: 'from', end: 'to' } as const

/** The lines that show these windows. One that goes past midnight takes a line per day. */
export const rowsOf = (windows: readonly LocalWindow[]): readonly Row[] =>
  windows.flatMap((window) => {
    const rows: Row[] = []
    const [lastDate, lastTime] = [window.end.slice(0, 10), window.end.slice(11)]
    for (let date = window.start.slice(0, 10); date <= lastDate; date = addDays(date, 1)) {
      const first = rows.length === 0
      const from = first ? window.start.slice(11) : '00:00'
      const to = date === lastDate ? lastTime : '00:00'
      if (date === lastDate && to === '00:00' && !first) break
      const anyTime = from === '00:00' && to === '00:00'
      rows.push({
        date,
        from: anyTime ? '' : from,
        to: anyTime ? '' : to,
        anyTime,
        fromFold: first ? (window.startFold ?? '') : '',
        toFold: date === lastDate ? (window.endFold ?? '') : '',
      })
    }
    return rows
  })
