/**
 * What a person's own words say about their time: a draft for them to confirm. Deterministic and pure.
 *
 * It prefers to ask. Whatever can be meant in two ways makes its whole clause unclear, a clause with a “not” anywhere in
 * it offers no time at all, and a part of a day is proposed only to somebody whose clock is known. So it may find less
 * than was said, and must not find more.
 */
import { addDays, dateIn, dayOfWeek, eachDate, type Interval, type TimeZone } from '@aftercommit/time'
import { readClauses, type Reading } from './clauses.ts'
import { tokensOf } from './lexer.ts'
import { wishPatterns } from './lexicon.ts'
import type { LocalWindow } from './reply.ts'
import type { Token } from './tokens.ts'

/** What has to be asked before the words can count for anything. Stored with drafts, so codes are never renamed. */
export const unclearCodes = [
  /** On which clock? Nothing is known of the person's zone, or they named what is no single clock, like EST. */
  'zone',
  /** Which day? */
  'date',
  /** At what time of that day? */
  'time',
  /** They said when they cannot, and not when they can. */
  'only_excluded',
  /** They named a day on which the meeting cannot be. */
  'outside_window',
  'nothing_understood',
] as const
export type Unclear = (typeof unclearCodes)[number]

/** Stored drafts hold codes as text. */
export const isUnclear = (code: string): code is Unclear => unclearCodes.some((known) => known === code)

/** What else was said that somebody should look at. Never acted on by itself. */
export type Wish = keyof typeof wishPatterns

export interface Understood {
  readonly windows: readonly LocalWindow[]
  /** The zone they named, else the one that is known. Undefined as long as `unclear` has `zone`. */
  readonly zone: TimeZone | undefined
  readonly unclear: readonly Unclear[]
  readonly wishes: readonly Wish[]
}

export interface ReadingContext {
  /** The meeting's. Days are looked for in it only. */
  readonly window: Interval
  readonly durationMinutes: number
  /** The person's own, if it is known. */
  readonly zone: TimeZone | undefined
  /** Tells which dates the window has as long as the person's own zone is not known. */
  readonly meetingZone: TimeZone
  readonly receivedAt: Date
}

/** Reads an answer in English or German, without the text that it quotes. Never throws. */
export const understand = (words: string, context: ReadingContext): Understood => {
  const tokens = tokensOf(words)
  const named = namedZone(tokens)
  const zone = named.type === 'none' ? context.zone : named.zone
  const reading = readClauses(tokens, {
    ...datesOf(context, zone ?? context.meetingZone),
    durationMinutes: context.durationMinutes,
    clockIsKnown: zone !== undefined,
  })
  const zoneIsUnclear = zone === undefined && (named.type === 'named' || reading.needsClock)
  return {
    windows: reading.windows,
    zone: zoneIsUnclear ? undefined : zone,
    unclear: unclearOf(reading, zoneIsUnclear),
    wishes: wishesOf(words),
  }
}

type NamedZone = { readonly type: 'none' } | { readonly type: 'named'; readonly zone: TimeZone | undefined }

/** Two clocks, or one that cannot be told, are as good as none: it has to be asked. */
const namedZone = (tokens: readonly Token[]): NamedZone => {
  const zones = new Set(tokens.flatMap((token) => (token.type === 'zone' ? [token.zone] : [])))
  if (zones.size === 0) return { type: 'none' }
  const [only] = zones
  return { type: 'named', zone: zones.size === 1 ? only : undefined }
}

const datesOf = ({ window, receivedAt }: ReadingContext, zone: TimeZone) => {
  const today = dateIn(receivedAt, zone)
  const first = dateIn(window.start, zone)
  const last = dateIn(new Date(window.end.getTime() - 1), zone)
  return {
    today,
    thisMonday: addDays(today, 1 - dayOfWeek(today)),
    // Words about days that are over are about something else.
    dates: eachDate(first < today ? today : first, last),
  }
}

const unclearOf = (reading: Reading, zoneIsUnclear: boolean): readonly Unclear[] => {
  const found = new Set<Unclear>(reading.unclear)
  if (zoneIsUnclear) found.add('zone')
  if (reading.windows.length === 0 && found.size === 0) {
    found.add(reading.excludes ? 'only_excluded' : 'nothing_understood')
  }
  return unclearCodes.filter((code) => found.has(code))
}

const wishes = ['not_taking_part', 'no_more_contact'] as const satisfies readonly Wish[]
const WISH_TEXT_MAX = 10_000

const wishesOf = (words: string): readonly Wish[] => {
  const text = words.slice(0, WISH_TEXT_MAX).replaceAll(/[\u2018\u2019]/g, "'")
  return wishes.filter((wish) => wishPatterns[wish].test(text))
}
