/** What the words of an answer can name: days, times, zones, and what stands between them. */
import type { TimeZone } from '@aftercommit/time'

/** A date as people write it; what they leave out is looked for in the meeting's window. */
export interface PartialDate {
  readonly year?: number | undefined
  readonly month?: number | undefined
  readonly day: number
}

export type DayName =
  | { readonly type: 'weekday'; readonly day: number; readonly every: boolean }
  | { readonly type: 'weekday_range'; readonly first: number; readonly last: number }
  /** Every Monday to Friday. */
  | { readonly type: 'weekdays' }
  /** With the day of the week that was named beside it: the two must agree. */
  | { readonly type: 'date'; readonly date: PartialDate; readonly weekday?: number }
  | { readonly type: 'date_range'; readonly first: PartialDate; readonly last: PartialDate }
  | { readonly type: 'in_days'; readonly days: number }
  | { readonly type: 'any_day' }

/** In minutes of the day, up to 1440. */
export type TimeName =
  | { readonly type: 'range'; readonly start: number; readonly end: number }
  | { readonly type: 'moment'; readonly at: number }
  /** A part of the day, which begins and ends when people think it does. */
  | { readonly type: 'period'; readonly start: number; readonly end: number }
  | { readonly type: 'from'; readonly at: number }
  | { readonly type: 'until'; readonly at: number }
  | { readonly type: 'any_time' }

export type Token =
  | { readonly type: 'day'; readonly day: DayName }
  /** So many weeks after the one in which the answer came. */
  | { readonly type: 'week'; readonly weeks: number }
  | { readonly type: 'time'; readonly time: TimeName }
  /** Undefined: a clock was named, but not which one. */
  | { readonly type: 'zone'; readonly zone: TimeZone | undefined }
  | { readonly type: 'not' | 'contrast' | 'except' | 'range' | 'every' | 'past' | 'word' }
  | { readonly type: 'join'; readonly comma: boolean }
  /** `soft`: a line ended, and its sentence perhaps did not. */
  | { readonly type: 'stop'; readonly soft: boolean }
  /** `beside`: in front of a day it means other days than that one. */
  | { readonly type: 'from' | 'until'; readonly beside: boolean }
  /** Something was said that cannot be read with certainty. */
  | { readonly type: 'vague'; readonly about: 'date' | 'time' }
