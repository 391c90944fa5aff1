/**
 * From what a person stated, on the clock of a zone, to stretches of time: or to what has to be asked again. Pure.
 */
import {
  clip,
  covers,
  formatInstant,
  isCalendarDate,
  localToInstant,
  startOfDay,
  type Interval,
  type TimeZone,
} from '@aftercommit/time'
import { z } from 'zod'

/** Which of the two times is meant where a clock that is set back shows it twice. */
export const Fold = z.enum(['earlier', 'later'])
export type Fold = z.output<typeof Fold>

const LocalMinute = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d$/, 'YYYY-MM-DDTHH:mm')
  .refine((text) => isCalendarDate(text.slice(0, 10)), 'a date that the calendar has')

/**
 * A stretch of time on a wall clock. It means something only together with a zone. `00:00` is the first moment of its
 * day, also where the clock skips midnight: a day goes from `…T00:00` to the next day's `…T00:00`.
 */
export const LocalWindow = z.strictObject({
  start: LocalMinute,
  end: LocalMinute,
  startFold: Fold.optional(),
  endFold: Fold.optional(),
})
export type LocalWindow = z.output<typeof LocalWindow>

/** As many as there are days in the longest window, and one more at either end for people far away. */
export const STATED_WINDOWS_MAX = 62

/** What a person can answer on the reply page. */
export type PersonAnswer =
  | {
      readonly type: 'times'
      readonly zone: TimeZone
      readonly windows: readonly LocalWindow[]
      /** The draft that was shown for confirmation, when there was one. */
      readonly confirmsDraftId?: string
    }
  | { readonly type: 'not_taking_part' }
  /** Never write to me again: for this meeting and every other one. */
  | { readonly type: 'contact_refused' }

export type StatedTimes = Extract<PersonAnswer, { readonly type: 'times' }>

export type ReplyProblem =
  | { readonly type: 'zone_missing' }
  | { readonly type: 'nothing_stated' }
  | { readonly type: 'too_many_windows' }
  /** `index` says which of the windows it is about. */
  | { readonly type: 'not_a_window'; readonly index: number }
  | {
      /** The clock skips this time. */
      readonly type: 'time_skipped'
      readonly index: number
      readonly edge: Edge
    }
  | {
      /** The clock shows this time twice, and it was not said which one is meant. */
      readonly type: 'time_twice'
      readonly index: number
      readonly edge: Edge
      readonly earlier: Date
      readonly later: Date
    }
  | { readonly type: 'ends_not_after_start'; readonly index: number }
  | { readonly type: 'outside_window'; readonly index: number }
  /** Neither alone nor with the ones next to it is it long enough for the meeting. */
  | { readonly type: 'too_short'; readonly index: number }

export type Edge = 'start' | 'end'

export type NormalisedReply =
  | { readonly type: 'stated'; readonly free: readonly Interval[]; readonly zone: TimeZone }
  | { readonly type: 'unclear'; readonly problems: readonly [ReplyProblem, ...ReplyProblem[]] }

/**
 * The time in which the person can, within the meeting's window. A stretch that only reaches beyond the window is cut;
 * one that has nothing in common with it is a mistake to ask about. One problem makes the whole reply unclear: half of
 * what somebody said is not what they said.
 */
export const normaliseReply = (
  answer: Pick<StatedTimes, 'windows'>,
  window: Interval,
  durationMs: number,
  zone: TimeZone | undefined,
): NormalisedReply => {
  const { windows } = answer
  if (zone === undefined) return unclear([{ type: 'zone_missing' }])
  if (windows.length > STATED_WINDOWS_MAX) return unclear([{ type: 'too_many_windows' }])
  const read = windows.map((each, index) => readWindow(each, index, zone))
  const stretches = read.flatMap((each) => (each.type === 'stretch' ? [each] : []))
  const free = clip(
    stretches.map(({ stretch }) => stretch),
    window,
  )
  const problems = [
    ...read.flatMap((each) => (each.type === 'problems' ? each.problems : [])),
    ...stretches.flatMap(({ stretch, index }) => whatIsWrong(stretch, index, { free, window, durationMs })),
  ]
  if (windows.length === 0) problems.push({ type: 'nothing_stated' })
  return unclear(problems) ?? { type: 'stated', free, zone }
}

function unclear(problems: readonly [ReplyProblem, ...ReplyProblem[]]): NormalisedReply
function unclear(problems: readonly ReplyProblem[]): NormalisedReply | undefined
function unclear([first, ...others]: readonly ReplyProblem[]): NormalisedReply | undefined {
  return first && { type: 'unclear', problems: [first, ...others] }
}

type ReadWindow =
  | { readonly type: 'stretch'; readonly stretch: Interval; readonly index: number }
  | { readonly type: 'problems'; readonly problems: readonly ReplyProblem[] }

const readWindow = (given: LocalWindow, index: number, zone: TimeZone): ReadWindow => {
  const parsed = LocalWindow.safeParse(given)
  if (!parsed.success) return { type: 'problems', problems: [{ type: 'not_a_window', index }] }
  const { data } = parsed
  const start = instantOf(data.start, data.startFold, zone)
  const end = instantOf(data.end, data.endFold, zone)
  if (start instanceof Date && end instanceof Date) {
    return start < end
      ? { type: 'stretch', stretch: { start, end }, index }
      : { type: 'problems', problems: [{ type: 'ends_not_after_start', index }] }
  }
  const problems: ReplyProblem[] = []
  if (!(start instanceof Date)) problems.push({ ...start, index, edge: 'start' })
  if (!(end instanceof Date)) problems.push({ ...end, index, edge: 'end' })
  return { type: 'problems', problems }
}

type Unresolved =
  | { readonly type: 'time_skipped' }
  | { readonly type: 'time_twice'; readonly earlier: Date; readonly later: Date }

const instantOf = (text: string, fold: Fold | undefined, zone: TimeZone): Date | Unresolved => {
  // Fold or not, the first of two midnights begins the day.
  if (text.endsWith('T00:00') && fold !== 'later') return startOfDay(text.slice(0, 10), zone)
  const local = localToInstant(text, zone)
  switch (local.type) {
    case 'instant':
      return local.instant
    case 'gap':
      return { type: 'time_skipped' }
    case 'overlap':
      return fold === undefined
        ? { type: 'time_twice', earlier: local.earlier, later: local.later }
        : local[fold]
    case 'malformed':
      throw new Error(`a window was checked, and yet its time does not read (${local.reason})`)
  }
}

const whatIsWrong = (
  stretch: Interval,
  index: number,
  { free, window, durationMs }: { free: readonly Interval[]; window: Interval; durationMs: number },
): readonly ReplyProblem[] => {
  const [inside] = clip([stretch], window)
  if (!inside) return [{ type: 'outside_window', index }]
  // `free` has what touches merged: 14:00–14:30 and 14:30–15:00 are an hour.
  const whole = free.find((each) => covers([each], inside))
  const lengthMs = whole ? whole.end.getTime() - whole.start.getTime() : 0
  return lengthMs < durationMs ? [{ type: 'too_short', index }] : []
}

/** What a clock in the zone shows at both ends, to be read back by `normaliseReply` as the same stretch. */
export const localWindowOf = ({ start, end }: Interval, zone: TimeZone): LocalWindow => {
  const startFold = foldOf(start, zone)
  const endFold = foldOf(end, zone)
  return {
    start: localMinute(start, zone),
    end: localMinute(end, zone),
    ...(startFold !== undefined && { startFold }),
    ...(endFold !== undefined && { endFold }),
  }
}

const localMinute = (at: Date, zone: TimeZone): string => formatInstant(at, zone, "yyyy-MM-dd'T'HH:mm")

const foldOf = (at: Date, zone: TimeZone): Fold | undefined => {
  const read = localToInstant(localMinute(at, zone), zone)
  if (read.type !== 'overlap') return undefined
  return at < read.later ? 'earlier' : 'later'
}
