/** Graph's getSchedule answer in our words (Microsoft Graph docs, "Get free/busy schedule of Outlook users"). */
import { findIana } from 'windows-iana'
import { z } from 'zod'
import { safeCode } from '../http.ts'
import { DAY_MS, findByAddress } from './busy.ts'
import type { CalendarBusy, Interval, UnknownCalendarReason } from './calendar.ts'
import { UtcTime } from './microsoft-event.ts'

/** Entries are judged one by one, so that one odd mailbox does not take the others with it. */
export const Schedules = z.object({ value: z.array(z.looseObject({ scheduleId: z.string() })) })

const Failed = z.object({ error: z.object({ responseCode: z.string().nullish() }) })

const Item = z
  .object({ status: z.string(), start: UtcTime, end: UtcTime })
  .refine(({ start, end }) => start <= end)

const Entry = z.object({
  error: z.null().optional(),
  scheduleItems: z.array(Item),
  workingHours: z.object({ timeZone: z.unknown() }).nullish(),
})

/** What is known of each asked address. Ids are echoed in the mailbox's own spelling, so case does not count. */
export const busyOfSchedules = (
  addresses: readonly string[],
  { value }: z.infer<typeof Schedules>,
): ReadonlyMap<string, CalendarBusy> => {
  const entries = new Map(value.map((entry) => [entry.scheduleId, entry]))
  return new Map(addresses.map((address) => [address, busyOf(findByAddress(entries, address))]))
}

/**
 * Known only when the entry is there, has no error and lists its items. The error codes are numbers in strings without
 * a published list (microsoft-graph-docs#11225), so it is the presence of an error that counts, not its value.
 */
const busyOf = (entry: unknown): CalendarBusy => {
  if (entry === undefined) return { type: 'unknown', reason: 'missing', code: 'missing' }
  const failed = Failed.safeParse(entry)
  if (failed.success) {
    const { responseCode } = failed.data.error
    return { type: 'unknown', reason: unknownReasonOf(responseCode), code: safeCode(responseCode, 'other') }
  }
  const known = Entry.safeParse(entry)
  if (!known.success) return { type: 'unknown', reason: 'other', code: 'entry_shape' }
  const offsets = offsetsOf(known.data.workingHours?.timeZone)
  const busy = known.data.scheduleItems
    .filter(({ status }) => !FREE.has(status.toLowerCase()))
    .map((item) => settleFloating(item, offsets))
  return { type: 'known', busy }
}

/** Free items are listed too. Someone working elsewhere can be met, as Graph's own availability digit 0 says. */
const FREE = new Set(['free', 'workingelsewhere'])

/** The numbers that were seen, and the names that Exchange has for such errors (EWS reference, ResponseCode). */
const UNKNOWN_REASONS = new Map<string, UnknownCalendarReason>([
  ['5009', 'not_found'],
  ['ErrorMailRecipientNotFound', 'not_found'],
  ['5016', 'not_found'],
  ['5006', 'too_many_entries'],
  ['ErrorNoFreeBusyAccess', 'no_access'],
  ['ErrorAccessDenied', 'no_access'],
  ['ErrorFreeBusyGenerationFailed', 'internal'],
])
const unknownReasonOf = (code: string | null | undefined): UnknownCalendarReason =>
  UNKNOWN_REASONS.get(code ?? '') ?? 'other'

/** Minutes east of UTC, the widest span the person's zone can have around an instant. */
type Offsets = (instant: Date) => { readonly least: number; readonly most: number }

/**
 * An all-day item is told as midnights of the zone that was asked in, whatever the person's own zone. Asked in UTC it
 * spans whole UTC days, and must be moved to where the person lives before it is an interval of time.
 */
const settleFloating = ({ start, end }: Interval, offsets: Offsets): Interval => {
  const spansWholeDays = isUtcMidnight(start) && isUtcMidnight(end) && start < end
  if (!spansWholeDays) return { start, end }
  return {
    start: new Date(start.getTime() - offsets(start).most * MINUTE_MS),
    end: new Date(end.getTime() - offsets(end).least * MINUTE_MS),
  }
}

const MINUTE_MS = 60_000
const isUtcMidnight = (instant: Date): boolean => instant.getTime() % DAY_MS === 0

/** Every zone on earth. For a person whose zone is not told, an all-day item may be anywhere in it. */
const ANY_ZONE = { least: -12 * 60, most: 14 * 60 } as const

const NamedZone = z.object({ name: z.string() })
/** No name that anyone else knows, but its rules: minutes to add to local time to get UTC. */
const CustomZone = z.object({
  bias: z.int(),
  daylightOffset: z.object({ daylightBias: z.int() }).nullish(),
})

const offsetsOf = (timeZone: unknown): Offsets => {
  const custom = CustomZone.safeParse(timeZone)
  if (custom.success) {
    const standard = 0 - custom.data.bias
    // Whether daylight time is on at that date is not worked out: both offsets are covered, an hour more than needed.
    const daylight = standard - (custom.data.daylightOffset?.daylightBias ?? 0)
    return () => ({ least: Math.min(standard, daylight), most: Math.max(standard, daylight) })
  }
  const format = formatIn(NamedZone.safeParse(timeZone).data?.name)
  if (format === undefined) return () => ANY_ZONE
  return (instant) => {
    // A day to each side of the instant the zone's clock cannot have changed twice, so these two are all there is.
    const near = [-DAY_MS, DAY_MS].map((ms) => offsetMinutes(new Date(instant.getTime() + ms), format))
    return { least: Math.min(...near), most: Math.max(...near) }
  }
}

/** Outlook names zones as Windows does; newer mailboxes answer IANA names. */
const formatIn = (name: string | undefined): Intl.DateTimeFormat | undefined => {
  if (name === undefined) return undefined
  const windows: readonly string[] = findIana(name)
  const zone = windows[0] ?? name
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, ...WALL_CLOCK })
  } catch {
    // A name that neither list knows is a zone that is not told.
    return undefined
  }
}

const WALL_CLOCK = {
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
} as const

const offsetMinutes = (instant: Date, format: Intl.DateTimeFormat): number => {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const wallMs = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  return Math.round((wallMs - instant.getTime()) / MINUTE_MS)
}
