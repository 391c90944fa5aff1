/** Series in a calendar: one entry, and every time at which it takes place. */
import type { BusyBlock } from './contract.ts'
import { instantOf, localOf } from './zone.ts'

type Times = Pick<BusyBlock, 'start' | 'end'>

const dayMs = 86_400_000
const daysBetween = { day: 1, week: 7 } as const

/**
 * The occurrences of a block. A series keeps to the wall clock of its zone, so that across a clock change its instants
 * move (RFC 5545, 3.3.10); free/busy lists each occurrence by itself, at Outlook as at Google (Microsoft Graph docs,
 * "Get free/busy schedule of Outlook users").
 */
export const occurrencesOf = ({ start, end, repeats }: BusyBlock, zone: string): readonly Times[] => {
  if (!repeats) return [{ start, end }]
  const first = { start: wallOf(start, zone), end: wallOf(end, zone) }
  const occurrences: Times[] = []
  for (let days = 0; ; days += daysBetween[repeats.every]) {
    const wall = { start: daysLater(first.start, days), end: daysLater(first.end, days) }
    const date = wall.start.slice(0, 10)
    if (date > repeats.until) return occurrences
    if (repeats.except.includes(date)) continue
    occurrences.push({ start: timeOf(wall.start, zone), end: timeOf(wall.end, zone) })
  }
}

const isDate = (text: string): boolean => text.length === 10

const wallOf = (time: string, zone: string): string => (isDate(time) ? time : localOf(new Date(time), zone))

/** An instant again; dates stay dates, for they float. */
const timeOf = (wall: string, zone: string): string =>
  isDate(wall) ? wall : (instantOf(wall, zone)?.toISOString() ?? wall)

const daysLater = (wall: string, days: number): string =>
  new Date(Date.parse(`${wall.slice(0, 10)}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10) +
  wall.slice(10)
