/** From tokens to windows: which times belong to which days, and what rules them out. */
import { addDays, noTime, spanOf, subtractSpans, unionSpans, type Spans } from '@aftercommit/time'
import { datesNamed, type ClauseContext, type Doubt } from './days.ts'
import type { LocalWindow } from './reply.ts'
import type { DayName, TimeName, Token } from './tokens.ts'

export interface Reading {
  readonly windows: readonly LocalWindow[]
  readonly unclear: readonly Doubt[]
  /** Something was ruled out. */
  readonly excludes: boolean
  /** Times were named that mean nothing without a zone. */
  readonly needsClock: boolean
}

export const readClauses = (tokens: readonly Token[], context: ClauseContext): Reading => {
  const read = clausesOf(tokens).map((clause) => readClause(clause, context))
  const offered = read.flatMap(({ offers }) => offers)
  const excluded = read.flatMap(({ excludes }) => excludes)
  const windows = context.dates.flatMap((date) =>
    windowsOn(date, subtractSpans(spansOn(date, offered), spansOn(date, excluded))),
  )
  return {
    windows,
    unclear: read.flatMap(({ doubts }) => doubts),
    excludes: read.some(({ isNegative, hasContent }) => isNegative && hasContent),
    needsClock: windows.length > 0 || read.some(({ hasPeriod }) => hasPeriod),
  }
}

interface Stretch {
  readonly date: string
  readonly spans: Spans
}

const spansOn = (date: string, stretches: readonly Stretch[]): Spans =>
  unionOf(stretches.filter((each) => each.date === date).map(({ spans }) => spans))

const unionOf = (sets: readonly Spans[]): Spans => sets.reduce((all, each) => unionSpans(all, each), noTime)

const DAY_MINUTES = 24 * 60
const wholeDay = spanOf(0, DAY_MINUTES)

const windowsOn = (date: string, spans: Spans): readonly LocalWindow[] => {
  const windows: LocalWindow[] = []
  for (let index = 0; index < spans.length; index += 2) {
    windows.push({
      start: localAt(date, spans[index] ?? 0),
      end: localAt(date, spans[index + 1] ?? DAY_MINUTES),
    })
  }
  return windows
}

const localAt = (date: string, minutes: number): string => {
  if (minutes >= DAY_MINUTES) return `${addDays(date, 1)}T00:00`
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date}T${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

interface Clause {
  readonly tokens: readonly Token[]
  readonly isNegative: boolean
}

/** A “not” rules its whole clause, up to a “but”: what stands on its other side is not worth the risk. */
const clausesOf = (tokens: readonly Token[]): readonly Clause[] => {
  const clauses: Clause[] = []
  let open: Token[] = []
  // What an “except” or the line before says of the clause that begins.
  let begunNegative = false
  const isNegative = (): boolean => begunNegative || open.some(({ type }) => type === 'not')
  const close = (nextNegative: boolean): void => {
    clauses.push({ tokens: open, isNegative: isNegative() })
    open = []
    begunNegative = nextNegative
  }
  for (const token of tokens) {
    if (token.type === 'except') close(true)
    else if (token.type === 'contrast') close(false)
    else if (token.type === 'stop') {
      const unfinished = token.soft && !hasContent(open)
      close(unfinished && isNegative())
    } else open.push(token)
  }
  close(false)
  return clauses
}

const hasContent = (tokens: readonly Token[]): boolean =>
  tokens.some(({ type }) => type === 'day' || type === 'time' || type === 'week')

interface ReadClause {
  readonly offers: readonly Stretch[]
  readonly excludes: readonly Stretch[]
  readonly doubts: readonly Doubt[]
  readonly isNegative: boolean
  readonly hasContent: boolean
  readonly hasPeriod: boolean
}

const readClause = ({ tokens, isNegative }: Clause, context: ClauseContext): ReadClause => {
  const facts = {
    isNegative,
    hasContent: hasContent(tokens),
    hasPeriod: !isNegative && tokens.some((token) => token.type === 'time' && token.time.type === 'period'),
  }
  const nothing = { offers: [], excludes: [], doubts: [], ...facts }
  if (!facts.hasContent) return nothing
  const doubts = tokens.flatMap((token, index) => doubtOf(token, tokens[index + 1]))
  const { groups, orderIsClear } = groupsOf(tokens)
  if (isNegative) {
    // In doubt the whole day is ruled out, and whoever meant less can say so on the page.
    const certain = doubts.length === 0 && orderIsClear
    return { ...nothing, excludes: groups.flatMap((group) => exclusionsOf(group, certain, context)) }
  }
  if (!orderIsClear) doubts.push('time')
  if (doubts.length > 0) return { ...nothing, doubts }
  const read = groups.map((group) => offersOf(group, context))
  return {
    ...nothing,
    offers: read.flatMap(({ offers }) => offers),
    doubts: read.flatMap((each) => each.doubts),
  }
}

/** Something vague, or a word that makes other days of the one that is named. */
const doubtOf = (token: Token, next: Token | undefined): Doubt[] => {
  if (token.type === 'vague') return [token.about]
  const beside = (token.type === 'from' || token.type === 'until') && token.beside
  return beside && next?.type === 'day' ? ['date'] : []
}

/** Times, and the days to which they belong. */
interface Group {
  readonly days: readonly DayName[]
  readonly weeks: readonly number[]
  /** One list for each part between commas and “or”: only within one do times narrow each other. */
  readonly times: readonly (readonly TimeName[])[]
}

interface OpenGroup {
  days: DayName[]
  weeks: number[]
  times: TimeName[][]
}

/**
 * “Monday, Tuesday 2-4pm or 5-6pm”: days wait for the next times, and times without a day join the last one that has
 * some. Within a part days and times must take turns in a way that leaves no choice.
 */
const groupsOf = (tokens: readonly Token[]): { groups: readonly Group[]; orderIsClear: boolean } => {
  const parts = partsOf(tokens)
  const turns = parts.flatMap(turnsOf)
  const groups: OpenGroup[] = []
  let waiting: OpenGroup = { days: [], weeks: [], times: [] }
  for (const part of turns) {
    const hasDay = part.days.length > 0 || part.weeks.length > 0
    const last = groups.at(-1)
    if (!hasDay && waiting.days.length + waiting.weeks.length === 0 && last) {
      last.times.push(part.times)
      continue
    }
    waiting.days.push(...part.days)
    waiting.weeks.push(...part.weeks)
    if (part.times.length > 0) waiting.times.push(part.times)
    if (waiting.times.length > 0 && waiting.days.length + waiting.weeks.length > 0) {
      groups.push(waiting)
      waiting = { days: [], weeks: [], times: [] }
    }
  }
  // “2-4pm on Tuesday or Wednesday”: who begins with the times means them for every day that follows.
  const last = groups.at(-1)
  if (last && waiting.times.length === 0 && groups.length === 1 && parts[0]?.order === 'TD') {
    last.days.push(...waiting.days)
    last.weeks.push(...waiting.weeks)
    waiting = { days: [], weeks: [], times: [] }
  }
  const isLeft = waiting.days.length + waiting.weeks.length + waiting.times.length > 0
  return { groups: isLeft ? [...groups, waiting] : groups, orderIsClear: isOrderClear(parts) }
}

interface Part {
  /** `D` and `T`, each once for as many as follow each other. */
  readonly order: string
  readonly tokens: readonly Token[]
}

const partsOf = (tokens: readonly Token[]): readonly Part[] => {
  const parts: Token[][] = [[]]
  for (const token of tokens) {
    if (token.type === 'join') parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
    .map((inPart) => ({
      order: inPart
        .map(({ type }) => (type === 'day' || type === 'week' ? 'D' : type === 'time' ? 'T' : ''))
        .join('')
        .replaceAll(/D+/g, 'D')
        .replaceAll(/T+/g, 'T'),
      tokens: inPart,
    }))
    .filter(({ order }) => order !== '')
}

/** Not clear are “2-4pm Tuesday 5-6pm”, and “afternoon, Tuesday 2-4pm”: times on both sides of a day. */
const isOrderClear = (parts: readonly Part[]): boolean =>
  parts.every(({ order }) => /^(?:D|T|(?:DT)+|(?:TD)+)$/.test(order)) &&
  !/^(?:T,)+DT/.test(parts.map(({ order }) => order).join(','))

interface Turn {
  readonly days: DayName[]
  readonly weeks: number[]
  readonly times: TimeName[]
}

/** “Tuesday 2-4pm Wednesday 5-6pm” are two turns in one part. */
const turnsOf = ({ order, tokens }: Part): readonly Turn[] => {
  const turns: Turn[] = [{ days: [], weeks: [], times: [] }]
  const first = order.startsWith('D') ? 'days' : 'times'
  for (const token of tokens) {
    const kind =
      token.type === 'time' ? 'times' : token.type === 'day' || token.type === 'week' ? 'days' : undefined
    if (kind === undefined) continue
    let turn = turns[turns.length - 1]
    const isComplete = turn && turn.times.length > 0 && turn.days.length + turn.weeks.length > 0
    if (!turn || (isComplete && kind === first)) {
      turn = { days: [], weeks: [], times: [] }
      turns.push(turn)
    }
    if (token.type === 'day') turn.days.push(token.day)
    if (token.type === 'week') turn.weeks.push(token.weeks)
    if (token.type === 'time') turn.times.push(token.time)
  }
  return turns
}

const offersOf = (
  group: Group,
  context: ClauseContext,
): { offers: readonly Stretch[]; doubts: readonly Doubt[] } => {
  const { dates, doubts } = datesOf(group, context)
  if (group.times.length === 0) return { offers: [], doubts: [...doubts, 'time'] }
  // “Any time” without a day is about all of them; every other time has to be of some day.
  const isAlways = group.times.every((part) => part.every(({ type }) => type === 'any_time'))
  if (group.days.length + group.weeks.length === 0 && !isAlways) return { offers: [], doubts: ['date'] }
  const spans = narrowed(group.times).map((part) => spansOf(part, context))
  if (!spans.every((each) => each !== undefined)) return { offers: [], doubts: [...doubts, 'time'] }
  const all = unionOf(spans)
  return { offers: dates.map((date) => ({ date, spans: all })), doubts }
}

/** “After 2pm and before 5pm” is one stretch, though a word stands between its ends; “before 10 or after 4” are two. */
const narrowed = (times: Group['times']): Group['times'] => {
  const open = times.flat().filter((time) => time.type === 'from' || time.type === 'until')
  const from = Math.max(...open.map((time) => (time.type === 'from' ? time.at : -Infinity)))
  const until = Math.min(...open.map((time) => (time.type === 'until' ? time.at : Infinity)))
  const isOneStretch = open.length > 1 && from < until
  return isOneStretch
    ? [open, ...times.map((part) => part.filter(({ type }) => type !== 'from' && type !== 'until'))].filter(
        (part) => part.length > 0,
      )
    : times
}

const exclusionsOf = (group: Group, certain: boolean, context: ClauseContext): readonly Stretch[] => {
  const { dates } = datesOf(group, context)
  const spans = certain ? group.times.map((part) => spansOf(part, { ...context, clockIsKnown: true })) : []
  const known = spans.filter((each) => each !== undefined)
  const isExact = spans.length > 0 && known.length === spans.length
  const all = isExact ? unionOf(known) : wholeDay
  return dates.map((date) => ({ date, spans: all }))
}

/** Undefined: what was said does not go together, or means nothing without a clock. */
const spansOf = (times: readonly TimeName[], context: ClauseContext): Spans | undefined => {
  const of = <Type extends TimeName['type']>(type: Type) =>
    times.filter((time): time is Extract<TimeName, { type: Type }> => time.type === type)
  const exact: Spans[] = [
    ...of('range').map(({ start, end }) => spanOf(start, end)),
    ...of('moment').map(({ at }) => spanOf(at, at + context.durationMinutes)),
  ]
  const [from, until, periods] = [of('from'), of('until'), of('period')]
  if (exact.some((each) => (each[1] ?? 0) > DAY_MINUTES)) return undefined
  if (from.length + until.length > 0) {
    if (exact.length > 0 || periods.length > 0 || from.length > 1 || until.length > 1) return undefined
    const open = spanOf(from[0]?.at ?? 0, until[0]?.at ?? DAY_MINUTES)
    return (open[0] ?? 0) < (open[1] ?? 0) ? open : undefined
  }
  const parts = periods.map(({ start, end }) => spanOf(start, end))
  if (exact.length > 0) {
    const said = unionOf(exact)
    // “In the afternoon, 2-4pm” says the same thing twice; “in the afternoon, 9-10am” says two.
    const within = unionOf(parts)
    return parts.length === 0 || subtractSpans(said, within).length === 0 ? said : undefined
  }
  if (parts.length > 0) return context.clockIsKnown ? unionOf(parts) : undefined
  return wholeDay
}

const datesOf = (
  group: Group,
  context: ClauseContext,
): { dates: readonly string[]; doubts: readonly Doubt[] } => {
  const inWeeks =
    group.weeks.length === 0
      ? context.dates
      : context.dates.filter((date) =>
          group.weeks.some((weeks) => {
            const monday = addDays(context.thisMonday, 7 * weeks)
            return date >= monday && date < addDays(monday, 7)
          }),
        )
  if (group.days.length === 0) {
    return inWeeks.length === 0 ? { dates: [], doubts: ['outside_window'] } : { dates: inWeeks, doubts: [] }
  }
  const read = group.days.map((day) => datesNamed(day, inWeeks, context))
  return {
    dates: [...new Set(read.flatMap((each) => (typeof each === 'string' ? [] : each)))],
    doubts: read.flatMap((each) => (typeof each === 'string' ? [each] : [])),
  }
}
