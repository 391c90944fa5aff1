/**
 * The slow and obvious view of a zone: ask Intl, minute by minute, what the clock on the wall shows. Shares nothing
 * with the code under test, which asks Temporal.
 */
import { parseTimeZone } from './zone.ts'
import type { TimeZone } from './zone.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const zoneNamed = (name: string): TimeZone => {
  const text = parseTimeZone(name)
  if (text.type === 'malformed') throw new Error(`${name} is no zone: ${text.reason}`)
  return text.zone
}

/** Clock changes of every odd kind, each with the instant at which it happens. */
export const clockChanges: readonly { readonly name: string; readonly zone: string; readonly at: string }[] =
  [
    { name: 'an hour forward', zone: 'America/New_York', at: '2026-03-08T07:00Z' },
    { name: 'an hour back', zone: 'America/New_York', at: '2026-11-01T06:00Z' },
    { name: 'an hour forward', zone: 'Europe/Berlin', at: '2026-03-29T01:00Z' },
    { name: 'an hour back', zone: 'Europe/Berlin', at: '2026-10-25T01:00Z' },
    { name: 'half an hour forward', zone: 'Australia/Lord_Howe', at: '2026-10-03T15:30Z' },
    { name: 'half an hour back', zone: 'Australia/Lord_Howe', at: '2026-04-04T15:00Z' },
    { name: 'forward at midnight', zone: 'America/Santiago', at: '2026-09-06T04:00Z' },
    { name: 'back at midnight', zone: 'America/Santiago', at: '2026-04-05T03:00Z' },
    { name: 'forward at midnight', zone: 'Africa/Cairo', at: '2026-04-23T22:00Z' },
    { name: 'back at midnight', zone: 'Africa/Cairo', at: '2026-10-29T21:00Z' },
    { name: 'back for Ramadan', zone: 'Africa/Casablanca', at: '2026-02-15T02:00Z' },
    { name: 'forward after Ramadan', zone: 'Africa/Casablanca', at: '2026-03-22T02:00Z' },
    { name: 'forward at 02:45', zone: 'Pacific/Chatham', at: '2026-09-26T14:00Z' },
    { name: 'back at 03:45', zone: 'Pacific/Chatham', at: '2026-04-04T14:00Z' },
    { name: 'a whole day forward', zone: 'Pacific/Apia', at: '2011-12-30T10:00Z' },
    { name: 'two hours forward', zone: 'Antarctica/Troll', at: '2026-03-29T01:00Z' },
    { name: 'back at one minute past midnight', zone: 'America/St_Johns', at: '2010-11-07T02:31Z' },
    { name: 'no change at all', zone: 'America/Sao_Paulo', at: '2026-02-15T03:00Z' },
  ]

// This locale writes 2026-03-08 02:30.
const clockOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })

/** What the clock shows, `YYYY-MM-DDTHH:mm`. */
export const wallTime = (instant: Date, zone: string): string =>
  clockOf(zone).format(instant).replace(' ', 'T')

export interface WallMinute {
  readonly at: number
  readonly shows: string
}

/** Every minute from some days before an instant to some days after it, with what the clock shows. */
export const wallMinutes = (zone: string, around: Date, days: number): readonly WallMinute[] => {
  const clock = clockOf(zone)
  const start = around.getTime() - days * dayMs
  return Array.from({ length: 2 * days * 1440 }, (_, minute) => {
    const at = start + minute * minuteMs
    return { at, shows: clock.format(at).replace(' ', 'T') }
  })
}

/** The instants at which the clock shows this time: none, one or two. */
export const showing = (minutes: readonly WallMinute[], local: string): readonly number[] =>
  minutes.filter((minute) => minute.shows === local).map((minute) => minute.at)

/** The instant of a skipped time on the clock as it ran before the jump: counted on from the last minute before it. */
export const countedOn = (minutes: readonly WallMinute[], local: string): number => {
  const before = minutes.findLast((minute) => minute.shows < local)
  if (before === undefined) throw new Error(`${local} comes before all minutes looked at`)
  return before.at + (asUtc(local) - asUtc(before.shows))
}

/** The same on the clock as it ran after the jump: counted back from the first minute after it. */
export const countedBack = (minutes: readonly WallMinute[], local: string): number => {
  const after = minutes.find((minute) => minute.shows > local)
  if (after === undefined) throw new Error(`${local} comes after all minutes looked at`)
  return after.at - (asUtc(after.shows) - asUtc(local))
}

export const asUtc = (local: string): number => Date.parse(`${local}Z`)
export const asLocal = (utc: number): string => new Date(utc).toISOString().slice(0, 16)
