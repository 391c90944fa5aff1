/**
 * When somebody is not to be disturbed, by the clock on their wall.
 */
import { nextOffsetChange, offsetMinutes } from './dates.ts'
import type { TimeZone } from './zone.ts'

/** From `startsAt` up to, not including, `endsAt`, both `HH:mm`. They may pass midnight; equal ones are no time at all. */
export interface QuietHours {
  readonly startsAt: string
  readonly endsAt: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

/**
 * The first instant, this one or a later one, at which the clock shows no quiet time. Where a clock is set back into
 * quiet hours they begin again, and where it is set forward over their end they are over at once.
 */
export const afterQuietHours = (instant: Date, hours: QuietHours, zone: TimeZone): Date => {
  const quiet = { fromMs: timeOfDayMs(hours.startsAt), toMs: timeOfDayMs(hours.endsAt) }
  let at = instant
  for (;;) {
    const leftMs = quietLeftMs(shownMs(at, zone), quiet)
    if (leftMs === 0) return at
    const end = new Date(at.getTime() + leftMs)
    const change = nextOffsetChange(zone, at)
    // What the clock shows after a change, and be it in the very moment in which the hours end, is looked at anew.
    at = change !== undefined && change < end ? change : end
  }
}

const shownMs = (at: Date, zone: TimeZone): number => {
  const wallMs = at.getTime() + offsetMinutes(at, zone) * minuteMs
  return ((wallMs % dayMs) + dayMs) % dayMs
}

/** How long the clock must run on until it shows the end of the hours; 0 outside of them. */
const quietLeftMs = (shown: number, { fromMs, toMs }: { fromMs: number; toMs: number }): number => {
  const inside = fromMs <= toMs ? fromMs <= shown && shown < toMs : fromMs <= shown || shown < toMs
  if (!inside) return 0
  return shown < toMs ? toMs - shown : toMs + dayMs - shown
}

const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d$/

const timeOfDayMs = (text: string): number => {
  if (!timeOfDay.test(text)) throw new RangeError(`${text} is not a time of day`)
  return (Number(text.slice(0, 2)) * 60 + Number(text.slice(3))) * minuteMs
}
