/**
 * From an instant to what people read. The text is the same whatever zone the host is set to.
 *
 * date-fns-tz formats by moving a Date until the *host's* clock shows the wanted time, and so cannot show a time which
 * the host's own clock skips: under TZ=Europe/Berlin, 2026-03-28T21:00Z in Asia/Kolkata prints 03:30 for 02:30. Here
 * the wall time comes from Temporal, and date-fns reads it from a Date whose clock has neither host zone nor gap.
 */
import { format } from 'date-fns-tz'
import { offsetMinutes } from './dates.ts'
import type { TimeZone } from './zone.ts'

/**
 * The instant in a zone, in a date-fns pattern (https://date-fns.org/docs/format). `t`, `T` and `ppp` or `pppp` are
 * refused with a RangeError, as date-fns refuses letters it does not know: they would print the host's view.
 */
export const formatInstant = (instant: Date, zone: TimeZone, pattern: string): string => {
  const wall = new WallClock(instant.getTime() + offsetMinutes(instant, zone) * 60_000)
  return (pattern.match(pieces) ?? [])
    .map((piece) => {
      if (hostTokens.test(piece))
        throw new RangeError(`the pattern ${pattern} has a token that reads the host's zone`)
      return format(wall, piece, { timeZone: zone, originalDate: instant })
    })
    .join('')
}

// Quoted text, a run of one zone token, anything else. One by one, because date-fns-tz looks for a zone token by its
// letters alone, and finds them in quoted text and in the zone names it has put there.
const pieces = /''|'(?:''|[^'])+(?:'|$)|([xXOz])\1*|[^'xXOz]+/g
const hostTokens = /^[^']*(?:[tT]|p{3})/

/** A Date that takes UTC for its local time, so that date-fns' arithmetic never meets the host's zone. */
class WallClock extends Date {
  override getTimezoneOffset = (): number => 0
  override getFullYear = (): number => this.getUTCFullYear()
  override getMonth = (): number => this.getUTCMonth()
  override getDate = (): number => this.getUTCDate()
  override getDay = (): number => this.getUTCDay()
  override getHours = (): number => this.getUTCHours()
  override getMinutes = (): number => this.getUTCMinutes()
  override getSeconds = (): number => this.getUTCSeconds()
  override getMilliseconds = (): number => this.getUTCMilliseconds()
  override setFullYear = (...to: Parameters<Date['setUTCFullYear']>): number => this.setUTCFullYear(...to)
  override setMonth = (...to: Parameters<Date['setUTCMonth']>): number => this.setUTCMonth(...to)
  override setDate = (...to: Parameters<Date['setUTCDate']>): number => this.setUTCDate(...to)
  override setHours = (...to: Parameters<Date['setUTCHours']>): number => this.setUTCHours(...to)
  override setMinutes = (...to: Parameters<Date['setUTCMinutes']>): number => this.setUTCMinutes(...to)
  override setSeconds = (...to: Parameters<Date['setUTCSeconds']>): number => this.setUTCSeconds(...to)
  override setMilliseconds = (to: number): number => this.setUTCMilliseconds(to)
}
