/** The small values that requests are made of, each with the words in which it is refused. */
import { isCalendarDate, parseTimeZone, type MalformedZoneReason, type TimeZone } from '@aftercommit/time'
import { z } from 'zod'

const ZONE_RULE = 'must be an IANA time zone, area and place, such as Europe/Berlin'

const zoneRule = (text: string, reason: MalformedZoneReason): string => {
  switch (reason) {
    case 'empty':
      return ZONE_RULE
    case 'offset':
      return `${ZONE_RULE}; an offset is refused, because it does not know summer time`
    case 'not_area_and_location':
      return text.includes('/')
        ? `${ZONE_RULE}; there is no area of that name`
        : `${ZONE_RULE}; abbreviations and other names are refused, because they can mean several zones, or only an offset`
    case 'unknown_zone':
      return `${ZONE_RULE}; there is no zone of that name`
  }
}

/** An IANA zone. `EST`, `BST` and the like name different clocks to different people and are refused. */
export const ZoneName = z
  .string()
  .meta({
    description: 'An IANA time zone. Abbreviations and offsets are refused.',
    examples: ['Europe/Berlin'],
  })
  .transform((text, context): TimeZone => {
    const zone = parseTimeZone(text)
    if (zone.type === 'zone') return zone.zone
    context.addIssue({ code: 'custom', message: zoneRule(text, zone.reason) })
    return z.NEVER
  })

/** Other years are slips of the finger, and neither every clock nor the database can count them all. */
const YEARS_RULE = 'must be in the years 2000 to 2199'
/** What does not begin with a year at all is refused by its shape. */
const YEAR = /^(?:2[01]\d\d-|(?!\d{4}-))/

/** No clock on earth is further from UTC, and the database reads no offset of 16 hours or more. */
const OFFSET_TOO_LARGE = /[+-](?:1[5-9]|2\d):\d\d$/

/** An instant with its offset. */
export const Instant = z.iso
  .datetime({ offset: true, abort: true })
  .refine((text) => YEAR.test(text), { error: YEARS_RULE })
  .refine((text) => !OFFSET_TOO_LARGE.test(text), { error: 'must have an offset of less than 15 hours' })

const LOCAL_DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/

/** A wall-clock time without offset; it means something only together with a zone. */
export const LocalDateTime = z
  .string()
  .regex(LOCAL_DATE_TIME, {
    error:
      'must be a local date and time, such as 2027-03-29T09:00, without Z or offset; the zone is a field of its own',
    abort: true,
  })
  .refine((text) => isCalendarDate(text.slice(0, 10)), {
    error: 'must be a date that the calendar has',
    abort: true,
  })
  .refine((text) => YEAR.test(text), { error: YEARS_RULE })

/** Compared without letter case, and kept as given for the provider. */
export const Address = z
  .email()
  .max(254)
  .meta({
    description: 'The address by which calendars know this person. Compared without letter case.',
    examples: ['ada@example.com'],
  })

/**
 * For a rule between fields of one object: it is asked whenever these fields are well formed, whatever is wrong with
 * others, and never of a value that failed to parse, of which it could only say something false.
 */
export const askedOf = (...fields: readonly string[]) => ({
  when: ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' &&
    value !== null &&
    !issues.some(({ path: [field] = [] }) => fields.some((each) => each === field)),
})
