/** Pieces of sentences that several messages share. */
import {
  addDays,
  formatInstant,
  isCalendarDate,
  offsetMinutes,
  UTC,
  type Interval,
  type TimeZone,
} from '@aftercommit/time'
import type { Disclosed } from '../../disclosure.ts'
import type { Block } from '../../message.ts'
import type { LocalWindow } from '../../reply.ts'

export const asker = ({ organizer }: Disclosed): string => organizer ?? 'The organizer of a meeting'

export const duration = ({ durationMinutes }: Disclosed): string => {
  const hours = Math.floor(durationMinutes / 60)
  const minutes = durationMinutes % 60
  const parts = [
    ...(hours > 0 ? [hours === 1 ? '1 hour' : `${hours} hours`] : []),
    ...(minutes > 0 ? [`${minutes} minutes`] : []),
  ]
  return parts.join(' and ')
}

/** “Monday 29 March 2027, 09:00”. */
export const moment = (at: Date, zone: TimeZone): string => formatInstant(at, zone, 'EEEE d MMMM yyyy, HH:mm')

/** Both ends in full, with their offsets where a clock change lies between them. */
export const span = ({ start, end }: Interval, zone: TimeZone): string => {
  const offsets = offsetMinutes(start, zone) !== offsetMinutes(end, zone)
  const text = (at: Date): string =>
    offsets ? `${moment(at, zone)} (${formatInstant(at, zone, "'UTC'xxx")})` : moment(at, zone)
  return `${text(start)} to ${text(end)}`
}

/** Times of a wall clock, whose zone is named elsewhere or not known. */
export const localSpan = ({ start, end }: LocalWindow): string => {
  const [startDate, startTime] = [start.slice(0, 10), start.slice(11)]
  const [endDate, endTime] = [end.slice(0, 10), end.slice(11)]
  const nextDay = isCalendarDate(startDate) ? addDays(startDate, 1) : ''
  const toMidnight = endTime === '00:00' && endDate === nextDay
  if (startTime === '00:00' && toMidnight) return `${day(startDate)}, any time`
  if (toMidnight) return `${day(startDate)}, ${startTime} to midnight`
  if (startDate === endDate) return `${day(startDate)}, ${startTime} to ${endTime}`
  return `${day(startDate)}, ${startTime} to ${day(endDate)}, ${endTime}`
}

/** “Monday 29 March 2027”, of a date that is the same in every zone. */
export const day = (date: string): string =>
  formatInstant(new Date(`${date}T00:00Z`), UTC, 'EEEE d MMMM yyyy')

/** What was disclosed, as facts: no template decides what to show. */
export const disclosedFacts = (disclosed: Disclosed, zone: TimeZone): Block => {
  const about: [string, string][] = disclosed.type === 'time_only' ? [] : [['About', disclosed.purpose]]
  const others: [string, string][] =
    disclosed.type === 'purpose_and_people' && disclosed.people.length > 0
      ? [['Also asked', disclosed.people.join(', ')]]
      : []
  return {
    type: 'facts',
    facts: [
      ...about,
      ['Length', duration(disclosed)],
      ['When', `some time from ${span(disclosed.window, zone)}`],
      ...others,
    ],
  }
}

export const zoneNote = ({ zone, zoneIsOwn }: { zone: TimeZone; zoneIsOwn: boolean }): Block => ({
  type: 'paragraph',
  text: zoneIsOwn
    ? `All times in this message are in your time zone, ${zone}.`
    : `Your time zone is not known to us: all times in this message are in ${zone}. On the page you can choose your own.`,
})

export const optOutNote = ({ optOutLink }: { optOutLink?: string }): readonly Block[] =>
  optOutLink === undefined
    ? []
    : [{ type: 'note', text: 'Do not write to me again, about this or any other meeting', link: optOutLink }]
