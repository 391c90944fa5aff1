/**
 * Names of time zones, checked once at the edge.
 *
 * Only IANA Area/Location names and UTC get through. Abbreviations are refused because they name an offset, not a
 * zone ("EST" is Panama all year), or several zones ("IST", "BST", "CST"); offsets because they know no summer time.
 */
import { Temporal } from 'temporal-polyfill'

declare const timeZoneBrand: unique symbol

/** The IANA name of a zone this runtime knows, in its registered spelling. */
export type TimeZone = string & { readonly [timeZoneBrand]: true }

export type MalformedZoneReason = 'empty' | 'offset' | 'not_area_and_location' | 'unknown_zone'
export type ZoneText =
  | { readonly type: 'zone'; readonly zone: TimeZone }
  | { readonly type: 'malformed'; readonly reason: MalformedZoneReason }

// The areas of the tz database, with its backward-compatible ones. ICU also knows SystemV/*, which nobody else does.
const area =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US)\/[A-Za-z0-9_+/-]+$/i
const offset = /^(?:(?:utc|gmt|z)\s*)?[+-]?\d|^(?:utc|gmt)\s*[+-]|^[+-]/i

/** Reads the name of a zone. Letter case is forgiven, nothing else is: the zone comes back as registered. */
export const parseTimeZone = (text: string): ZoneText => {
  if (text.trim() === '') return { type: 'malformed', reason: 'empty' }
  if (offset.test(text)) return { type: 'malformed', reason: 'offset' }
  if (text.toUpperCase() !== 'UTC' && !area.test(text)) {
    return { type: 'malformed', reason: 'not_area_and_location' }
  }
  const name = registeredName(text)
  if (name === undefined || !isTimeZone(name)) return { type: 'malformed', reason: 'unknown_zone' }
  return { type: 'zone', zone: name }
}

/** True for a name that `parseTimeZone` gives back unchanged. Made for schemas that read a stored zone. */
export const isTimeZone = (text: string): text is TimeZone =>
  (text === 'UTC' || area.test(text)) && registeredName(text) === text

/** Registered names that were found to be usable: asking Intl costs a formatter, and stored zones are read all the time. */
const usable = new Set<string>()

// Intl.supportedValuesOf lacks names that work (Europe/Kyiv, UTC, Etc/GMT+5), so a zone is known if it can be used:
// by Intl, which prints its name, and by Temporal, which does the arithmetic.
const registeredName = (text: string): string | undefined => {
  if (usable.has(text)) return text
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text })
    const name = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId
    // Other spellings are not kept: of them there is no end.
    if (name === text) usable.add(name)
    return name
  } catch (error) {
    // Both say "no such zone" only by throwing this.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
