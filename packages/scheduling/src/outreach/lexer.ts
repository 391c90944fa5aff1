/** From a text to tokens. Deterministic, in one pass, and without an input for which it throws. */
import { listedZones, parseTimeZone, UTC, zoneOfOffset, type TimeZone } from '@aftercommit/time'
import { clockPattern, momentOf, rangeOf } from './clock.ts'
import * as lexicon from './lexicon.ts'
import { merged } from './pairs.ts'
import type { DayName, PartialDate, Token } from './tokens.ts'

const TEXT_MAX = 10_000
/** Lines shorter than that end because their writer ended them. */
const WRAPPED_LINE_MIN = 50

export const tokensOf = (text: string): readonly Token[] => {
  const source = normalised(text)
  const tokens: Token[] = []
  let at = 0
  while (at < source.length) {
    if (source.charAt(at) === ' ') {
      at += 1
      continue
    }
    const { to, token } =
      readPattern(source, at, tokens) ?? readPhrase(source, at) ?? readWord(source, at, tokens)
    if (token) tokens.push(token)
    at = to
  }
  return merged(tokens)
}

/** One kind of dash and of quote; a line break in mid-sentence becomes a space. */
const normalised = (text: string): string =>
  text
    .slice(0, TEXT_MAX)
    .normalize('NFKC')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018\u2019\u00B4`]/g, "'")
    .split(/\r\n|\r|\n/)
    .map((line, index, lines) => {
      const next = lines[index + 1]?.trim() ?? ''
      const goesOn = line.trim().length >= WRAPPED_LINE_MIN && next !== '' && !/^[-*•]/.test(next)
      return `${line.trim().replace(/^[-*•]+\s+/, '')}${goesOn ? ' ' : '\n'}`
    })
    .join('')
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/\n{2,}/g, '\n\n')

interface Read {
  readonly to: number
  readonly token: Token | undefined
}
/** Undefined: not this, after all. */
type Reader = (match: readonly (string | undefined)[], before: readonly Token[]) => Token | undefined

const WORD: Token = { type: 'word' }
const vague = (about: 'date' | 'time'): Token => ({ type: 'vague', about })
const dayToken = (day: DayName): Token => ({ type: 'day', day })

const month = `(${lexicon.monthPattern})\\b\\.?`
const weekday = `(${lexicon.weekdayPattern})\\b\\.?`
const letters = '(Mo|Di|Mi|Do|Fr|Sa|So)'
const year = '(?:,?\\s*((?:19|20|21)\\d\\d)(?!\\d))?'
const germanYear = '(?:\\s?(\\d{4})(?!\\d)|(\\d{2})(?![\\d:]))?'
const nth = '(?:st|nd|rd|th)'
const to = '\\s*(?:-|to|through|until|till|bis(?:\\s+zum)?)\\s*'
const notATime = '(?![:.]\\d|\\s*(?:[ap]\\.?m|uhr|h)\\b)'
const unit =
  '(?:min(?:ute[ns]?|s)?|minuten|hours?|hrs?|std|stunden?|days?|tagen?|weeks?|wochen?|months?|people|persons?|personen|percent|euro|eur|usd)\\b'

const partial = (d: string | undefined, m: string | undefined, y?: string): PartialDate => ({
  day: Number(d),
  month: lexicon.monthByName.get(m?.toLowerCase() ?? '') ?? Number(m),
  year: y === undefined ? undefined : Number(y) + (y.length === 2 ? 2000 : 0),
})
const date = (d: string | undefined, m: string | undefined, y?: string): Token =>
  dayToken({ type: 'date', date: partial(d, m, y) })
const dates = (d1: string | undefined, d2: string | undefined, m: string | undefined, y?: string): Token =>
  dayToken({ type: 'date_range', first: partial(d1, m, y), last: partial(d2, m, y) })
const dayOfMonth = (d: string | undefined): Token => dayToken({ type: 'date', date: { day: Number(d) } })

const readers: readonly (readonly [pattern: string, read: Reader, flags?: 'cased'])[] = [
  ['(\\d{4})-(\\d{2})-(\\d{2})(?!\\d)T?', ([, y, m, d]) => date(d, m, y)],
  [
    `(\\d{1,2})\\.?${to}(\\d{1,2})\\.\\s?(\\d{1,2})\\.${germanYear}`,
    ([, d1, d2, m, y4, y2]) => dates(d1, d2, m, y4 ?? y2),
  ],
  [`(\\d{1,2})\\.\\s?(\\d{1,2})\\.${germanYear}`, ([, d, m, y4, y2]) => date(d, m, y4 ?? y2)],
  ['(\\d{1,2})/(\\d{1,2})(?:/(\\d{4}|\\d{2}))?(?![\\d/])', ([, a, b, y]) => slashed(a, b, y)],
  [
    `(\\d{1,2})(?:${nth}|\\.)?${to}(?:the\\s+)?(\\d{1,2})(?:${nth}|\\.)?\\s*(?:of\\s+)?${month}${year}`,
    ([, d1, d2, m, y]) => dates(d1, d2, m, y),
  ],
  [`(\\d{1,2})(?:${nth}|\\.)?\\s*(?:of\\s+)?${month}${year}`, ([, d, m, y]) => date(d, m, y)],
  [
    `${month}\\s*(\\d{1,2})${nth}?${to}(?:the\\s+)?(\\d{1,2})${nth}?\\b${notATime}${year}`,
    ([, m, d1, d2, y]) => dates(d1, d2, m, y),
  ],
  [`${month}\\s*(\\d{1,2})${nth}?\\b${notATime}${year}`, ([, m, d, y]) => date(d, m, y)],
  [`(?:the\\s+)?\\d{1,2}${nth}?${to}(?:the\\s+)?\\d{1,2}${nth}\\b`, () => vague('date')],
  [`(?:the\\s+)?(\\d{1,2})${nth}\\b`, ([, d]) => dayOfMonth(d)],
  ['(?:the|den|dem|vom|am)\\s+\\d{1,2}\\.?\\s*-', () => vague('date')],
  ['(?:am|den|dem|der|zum)\\s+(\\d{1,2})\\.(?!\\d)', ([, d]) => dayOfMonth(d)],
  ['(?:utc|gmt)\\s*([+-])\\s*(\\d{1,2})(?::?(\\d{2}))?(?!\\d)', offsetToken],
  ['([+-])(\\d{2}):(\\d{2})(?!\\d)', offsetToken],
  ['z\\b', (_match, before) => (before.at(-1)?.type === 'time' ? { type: 'zone', zone: UTC } : undefined)],
  ['utc\\b', () => ({ type: 'zone', zone: UTC })],
  ['[a-z]+(?:/[a-z_+-]+\\d*){1,2}', ([text = '']) => areaToken(text)],
  ['([\\p{L}]+(?:[ -][\\p{L}]+)?)\\s+time\\b', ([, place = '']) => placeToken(place)],
  ['([\\p{L}]+)er\\s+zeit\\b', ([, place = '']) => placeToken(place)],
  [
    `${weekday}${to}${weekday}`,
    ([, a = '', b = '']) => weekdayRange(lexicon.weekdayByName, a.toLowerCase(), b.toLowerCase()),
  ],
  [
    `${letters}\\.?\\s*(?:-|bis)\\s*${letters}\\b\\.?`,
    ([, a = '', b = '']) => weekdayRange(lexicon.weekdayByLetters, a, b),
    'cased',
  ],
  [
    `${letters}[.,]?\\s+(?:den\\s+)?(?=\\d{1,2}\\.\\s?\\d{1,2}\\.)`,
    ([, text = '']) => letterDay(text),
    'cased',
  ],
  [
    '(Mo|Di|Mi|Fr|Sa)\\.?,?(?=\\s+\\d{1,2}(?:[:.]\\d\\d)?\\s*(?:-|Uhr|bis))',
    ([, text = '']) => letterDay(text),
    'cased',
  ],
  [`\\d+\\s*-?\\s*${unit}\\s*(?:after|before|past|to|vor|nach)\\b`, () => vague('time')],
  [`in\\s+\\d+\\s*-?\\s*${unit}`, () => vague('date')],
  [`\\d+(?:[.,]\\d+)?(?:\\s*(?:-|to|bis|or|oder)\\s*\\d+(?:[.,]\\d+)?)?\\s*-?\\s*${unit}`, () => WORD],
  [`(?:between|zwischen)\\s+${clockPattern}\\s*(?:and|und|-)\\s*${clockPattern}`, rangeToken],
  [`${clockPattern}${to}${clockPattern}`, rangeToken],
  [clockPattern, momentToken],
  // Every number that is left: it may be a time, and then nobody knows which.
  ['\\d[\\d.,:/-]*', () => vague('time')],
]

/** Anchored where it is tried: a text is read once, from left to right. */
const sticky = readers.map(
  ([pattern, read, flags]) => [new RegExp(pattern, flags === 'cased' ? 'uy' : 'iuy'), read] as const,
)

const readPattern = (source: string, at: number, before: readonly Token[]): Read | undefined => {
  for (const [pattern, read] of sticky) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    const token = match ? read(match, before) : undefined
    if (match && token) return { to: at + match[0].length, token }
  }
  return undefined
}

function rangeToken([, h1, s1, m1, k1, h2, s2, m2, k2]: readonly (string | undefined)[]): Token {
  const range = rangeOf([h1, s1, m1, k1], [h2, s2, m2, k2])
  return range ? { type: 'time', time: { type: 'range', ...range } } : vague('time')
}

function momentToken(
  [, hour, separator, minute, mark]: readonly (string | undefined)[],
  before: readonly Token[],
): Token {
  const at = momentOf([hour, separator, minute, mark])
  return at === undefined ? vague('time') : moment(at, before)
}

const moment = (at: number, before: readonly Token[]): Token => {
  // “after 2pm”, “ab dem 2pm”: one small word may stand between.
  const [last, beforeLast] = [before.at(-1), before.at(-2)]
  const direction = last?.type === 'word' ? beforeLast : last
  if (direction?.type === 'from' || direction?.type === 'until') {
    return { type: 'time', time: { type: direction.type, at } }
  }
  return { type: 'time', time: { type: 'moment', at } }
}

function offsetToken([, sign, hours, minutes = '0']: readonly (string | undefined)[]): Token {
  const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  return { type: 'zone', zone: zoneOfOffset(ahead) }
}

/** Two numbers of which either could be the month say nothing. */
const slashed = (a: string | undefined, b: string | undefined, y: string | undefined): Token => {
  const [first, second] = [Number(a), Number(b)]
  if (first === 24 && second === 7) return vague('date')
  if (first > 12 || first === second) return date(a, b, y)
  return second > 12 ? date(b, a, y) : vague('date')
}

const areaToken = (text: string): Token | undefined => {
  const zone = parseTimeZone(text)
  return zone.type === 'zone' ? { type: 'zone', zone: zone.zone } : undefined
}

let zoneByPlace: ReadonlyMap<string, TimeZone> | undefined

const placeToken = (place: string): Token | undefined => {
  zoneByPlace ??= new Map(
    listedZones().map((zone) => [
      zone
        .slice(zone.lastIndexOf('/') + 1)
        .replaceAll('_', ' ')
        .toLowerCase(),
      zone,
    ]),
  )
  const zone = zoneByPlace.get(place.toLowerCase())
  return zone && { type: 'zone', zone }
}

const weekdayRange = (names: ReadonlyMap<string, number>, a: string, b: string): Token | undefined => {
  const [first, last] = [names.get(a), names.get(b)]
  if (first === undefined || last === undefined) return undefined
  return dayToken({ type: 'weekday_range', first, last })
}

const letterDay = (text: string): Token | undefined => {
  const day = lexicon.weekdayByLetters.get(text)
  return day === undefined ? undefined : dayToken({ type: 'weekday', day, every: false })
}

const phrases = lexicon.phrases.map(
  ([phrase, meaning]) =>
    [new RegExp(`${phrase.replaceAll(' ', '\\s+')}(?![\\p{L}\\p{N}])`, 'iuy'), meaning] as const,
)

const readPhrase = (source: string, at: number): Read | undefined => {
  for (const [pattern, meaning] of phrases) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match) return { to: at + match[0].length, token: tokenOfPhrase(meaning) }
  }
  return undefined
}

const tokenOfPhrase = (phrase: lexicon.Phrase): Token => {
  switch (phrase) {
    case 'any_time':
      return { type: 'time', time: { type: 'any_time' } }
    case 'morning':
      return periodToken('morning') ?? WORD
    case 'any_day':
    case 'weekdays':
      return dayToken({ type: phrase })
    case 'this_week':
    case 'next_week':
      return { type: 'week', weeks: phrase === 'next_week' ? 1 : 0 }
    case 'today':
      return dayToken({ type: 'in_days', days: 0 })
    case 'tomorrow':
      return dayToken({ type: 'in_days', days: 1 })
    case 'in_two_days':
      return dayToken({ type: 'in_days', days: 2 })
    case 'nothing':
      return WORD
    case 'not':
      return { type: 'not' }
    case 'unclear_zone':
      return { type: 'zone', zone: undefined }
  }
}

const periodToken = (name: string): Token | undefined => {
  const period = lexicon.periodByName.get(name)
  return period && { type: 'time', time: { type: 'period', start: period[0], end: period[1] } }
}

const word = /[\p{L}][\p{L}\p{N}]*(?:'[\p{L}]+)?/uy

/** “Thurs.” */
const ABBREVIATION_MAX = 5

const readWord = (source: string, at: number, before: readonly Token[]): Read => {
  word.lastIndex = at
  const text = word.exec(source)?.[0]
  if (text === undefined) return { to: at + 1, token: punctuation(source, at) }
  const token = tokenOfWord(text, before)
  const end = at + text.length
  // The dot of a day's abbreviation ends no sentence.
  const dotted = token.type === 'day' && text.length <= ABBREVIATION_MAX && source.charAt(end) === '.'
  return { to: dotted ? end + 1 : end, token }
}

const punctuation = (source: string, at: number): Token | undefined => {
  switch (source.charAt(at)) {
    case ',':
      return { type: 'join', comma: true }
    case '/':
    case '&':
    case '+':
      return { type: 'join', comma: false }
    case '-':
      return { type: 'range' }
    case ';':
      return { type: 'stop', soft: false }
    case '\n':
      return { type: 'stop', soft: source[at - 1] !== '\n' }
    case '.':
    case '!':
    case '?':
      return /^\s*(?:$|\n|\p{Lu})/u.test(source.slice(at + 1, at + 4))
        ? { type: 'stop', soft: false }
        : undefined
    default:
      return undefined
  }
}

const NOON = 12 * 60

const tokenOfWord = (text: string, before: readonly Token[]): Token => {
  const name = text.toLowerCase()
  return dayOfWord(name, before) ?? timeOfWord(name, before) ?? relationOfWord(text, name)
}

const dayOfWord = (name: string, before: readonly Token[]): Token | undefined => {
  const every = lexicon.everyWeekdayByName.get(name)
  const day = every ?? lexicon.weekdayByName.get(name)
  if (day === undefined) return undefined
  if (before.at(-1)?.type === 'past') return vague('date')
  return dayToken({ type: 'weekday', day, every: every !== undefined || before.at(-1)?.type === 'every' })
}

const timeOfWord = (name: string, before: readonly Token[]): Token | undefined => {
  // After a day it is that day's morning, and by itself the next day.
  if (name === 'morgen') {
    return before.at(-1)?.type === 'day' ? periodToken('morning') : dayToken({ type: 'in_days', days: 1 })
  }
  if (lexicon.noons.has(name)) return moment(NOON, before)
  return periodToken(name)
}

const relationOfWord = (text: string, name: string): Token => {
  if (lexicon.zoneLetters.has(text) || clocksInSmallLetters.has(name))
    return { type: 'zone', zone: undefined }
  if (lexicon.exceptions.has(name)) return { type: 'except' }
  if (lexicon.negators.has(name) || name.endsWith("n't")) return { type: 'not' }
  if (lexicon.contrasts.has(name)) return { type: 'contrast' }
  if (lexicon.joiners.has(name)) return { type: 'join', comma: false }
  if (lexicon.fromWords.has(name)) return { type: 'from', beside: lexicon.besideWords.has(name) }
  if (lexicon.untilWords.has(name)) return { type: 'until', beside: lexicon.besideWords.has(name) }
  if (lexicon.everyWords.has(name)) return { type: 'every' }
  if (lexicon.pastWords.has(name)) return { type: 'past' }
  if (lexicon.rangeWords.has(name)) return { type: 'range' }
  if (lexicon.vagueTimes.has(name)) return vague('time')
  return lexicon.vagueDates.has(name) ? vague('date') : WORD
}

const clocksInSmallLetters: ReadonlySet<string> = new Set(['cet', 'cest', 'mez', 'mesz', 'gmt'])
