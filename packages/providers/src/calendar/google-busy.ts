/** Google's free/busy answer in our words (Google Calendar API reference, freebusy.query). */
import { z } from 'zod'
import { safeCode } from '../http.ts'
import { findByAddress } from './busy.ts'
import type { CalendarBusy, UnknownCalendarReason } from './calendar.ts'

/** Entries are judged one by one, so that one odd calendar does not take the others with it. */
export const FreeBusy = z.object({ calendars: z.record(z.string(), z.unknown()) })

/** What is known of each asked address. */
export const busyOfCalendars = (
  addresses: readonly string[],
  { calendars }: z.infer<typeof FreeBusy>,
): ReadonlyMap<string, CalendarBusy> => {
  const entries = new Map(Object.entries(calendars))
  return new Map(addresses.map((address) => [address, calendarBusyOf(findByAddress(entries, address))]))
}

const CalendarErrors = z.object({ errors: z.array(z.object({ reason: z.string() })).min(1) })

const CalendarEntry = z.object({
  errors: z.array(z.unknown()).max(0).optional(),
  busy: z.array(
    z
      .object({ start: z.iso.datetime({ offset: true }), end: z.iso.datetime({ offset: true }) })
      .transform(({ start, end }) => ({ start: new Date(start), end: new Date(end) }))
      .refine(({ start, end }) => start <= end),
  ),
})

/** Known only when the entry is there, names no error and lists its busy times; an empty list is a fact, a gap is not. */
const calendarBusyOf = (entry: unknown): CalendarBusy => {
  if (entry === undefined) return { type: 'unknown', reason: 'missing', code: 'missing' }
  const failed = CalendarErrors.safeParse(entry)
  if (failed.success) {
    const reason = failed.data.errors[0]?.reason
    return { type: 'unknown', reason: unknownReasonOf(reason), code: safeCode(reason, 'other') }
  }
  const known = CalendarEntry.safeParse(entry)
  if (!known.success) return { type: 'unknown', reason: 'other', code: 'entry_shape' }
  return { type: 'known', busy: known.data.busy }
}

/** The reference lists four reasons and says that more may come. */
const UNKNOWN_REASONS = new Map<string, UnknownCalendarReason>([
  ['notFound', 'not_found'],
  ['internalError', 'internal'],
  ['backendError', 'internal'],
  ['tooManyCalendarsRequested', 'too_many_entries'],
  ['groupTooBig', 'too_many_entries'],
  ['forbidden', 'no_access'],
  ['insufficientPermissions', 'no_access'],
])
const unknownReasonOf = (reason: string | undefined): UnknownCalendarReason =>
  UNKNOWN_REASONS.get(reason ?? '') ?? 'other'
