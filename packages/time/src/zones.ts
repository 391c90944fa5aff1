/** Which zones there are to choose from, and which one an offset stands for. */
import { isTimeZone, parseTimeZone } from './zone.ts'
import type { TimeZone } from './zone.ts'

const named = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new RangeError(`this runtime does not know ${name}`)
  return zone.zone
}

/** For what is the same in every zone, like the day of the week of a date. */
export const UTC = named('UTC')

/** Every zone the runtime lists, and UTC, sorted by name. It knows more: old names, and some it does not list. */
export const listedZones = (): readonly TimeZone[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), UTC])]
    .filter(isTimeZone)
    .sort((a, b) => (a < b ? -1 : 1))

const HOURS_MIN = -12
const HOURS_MAX = 14

/**
 * The zone whose clock is always so far ahead of UTC. Only whole hours have one. The tz database names them the other
 * way round: Etc/GMT+5 is five hours behind.
 */
export const zoneOfOffset = (minutesAhead: number): TimeZone | undefined => {
  const hours = minutesAhead / 60
  if (!Number.isInteger(hours) || hours < HOURS_MIN || hours > HOURS_MAX) return undefined
  return hours === 0 ? UTC : named(`Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`)
}
