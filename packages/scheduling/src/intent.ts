import { parseTimeZone, resolveLocal, type Interval, type TimeZone } from '@aftercommit/time'
import { z } from 'zod'
import { ConnectionId } from './ids.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Both providers answer free/busy for about two months at most; see the calendar adapters. */
const WINDOW_MAX_DAYS = 60
const PARTICIPANTS_MAX = 100

/** An IANA zone. `EST`, `BST` and the like name different clocks to different people and are refused. */
export const ZoneName = z.string().transform((text, context): TimeZone => {
  const zone = parseTimeZone(text)
  if (zone.type === 'zone') return zone.zone
  context.addIssue({ code: 'custom', message: `not an IANA time zone (${zone.reason})` })
  return z.NEVER
})

/** A wall-clock time without offset; it means something only together with a zone. */
const LocalDateTime = z.iso.datetime({ local: true, offset: false }).refine((text) => !text.endsWith('Z'), {
  error: 'a local date and time carries no offset; the zone is a field of its own',
})

/** Compared without letter case, and kept as given for the provider. */
const Address = z.email().max(254)

export const WorkingHours = z
  .strictObject({
    startsAt: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:mm'),
    endsAt: z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'HH:mm'),
    /** ISO days of the week, 1 is Monday. */
    days: z.array(z.int().min(1).max(7)).min(1).max(7),
  })
  // Times of this shape sort as text. Hours past midnight would be a guess at which day they belong to.
  .refine(({ startsAt, endsAt }) => startsAt < endsAt, {
    path: ['endsAt'],
    error: 'working hours end after they start, on the same day',
  })
export type WorkingHours = z.output<typeof WorkingHours>

const Purpose = z.string().trim().min(1).max(200)
const DisplayName = z.string().trim().min(1).max(200)
const Role = z.enum(['required', 'optional'])

export const Authority = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('automatic') }),
  z.strictObject({ type: z.literal('named_approver'), address: Address }),
])

/** Who somebody is to a provider: an address, and the calendar that belongs to it. */
export const CalendarIdentity = z.strictObject({ address: Address, calendarConnectionId: ConnectionId })
export type CalendarIdentity = z.output<typeof CalendarIdentity>

const Window = z.strictObject({ from: LocalDateTime, to: LocalDateTime })

const certain = {
  purpose: Purpose,
  durationMinutes: z.int().min(5).max(720).multipleOf(5),
  window: Window,
  /** Until when the event must be written; an instant with its offset. */
  bookBy: z.iso.datetime({ offset: true }),
  location: z.string().trim().min(1).max(500).optional(),
  conference: z.boolean().default(false),
  /** The person's own words. Provenance only: nothing is decided from them. */
  instruction: z.string().max(10_000).optional(),
}
const certainOfPerson = {
  displayName: DisplayName,
  role: Role,
  timeZone: ZoneName.optional(),
  workingHours: WorkingHours.optional(),
}

/**
 * A meeting as it is asked for. What is there must be well formed; what may be absent is optional here, and its
 * absence is a question to a person, never a default.
 */
export const IntentDraft = z
  .strictObject({
    ...certain,
    timeZone: ZoneName.optional(),
    organizer: CalendarIdentity.partial().optional(),
    participants: z
      .array(z.strictObject({ ...certainOfPerson, ...CalendarIdentity.partial().shape }))
      .min(1)
      .max(PARTICIPANTS_MAX),
    approval: Authority.optional(),
  })
  .check((context) => {
    const complain: Complain = (path, message) =>
      context.issues.push({ code: 'custom', input: context.value, path, message })
    checkPeople(context.value.participants, complain)
    checkWindow(context.value, complain)
  })
export type IntentDraft = z.output<typeof IntentDraft>

/** One meeting, typed and complete. Everything a decision uses is here; nothing is guessed later. */
export const MeetingIntent = z.strictObject({
  ...certain,
  timeZone: ZoneName,
  organizer: CalendarIdentity,
  participants: z
    .array(z.strictObject({ ...certainOfPerson, ...CalendarIdentity.shape }))
    .min(1)
    .max(PARTICIPANTS_MAX),
  approval: Authority,
})
export type MeetingIntent = z.output<typeof MeetingIntent>

type Complain = (path: (string | number)[], message: string) => void

const checkPeople = (
  people: readonly { readonly address?: string | undefined; readonly role: string }[],
  complain: Complain,
): void => {
  const seen = new Set<string>()
  people.forEach(({ address }, index) => {
    if (address === undefined) return
    const key = address.toLowerCase()
    if (seen.has(key)) complain(['participants', index, 'address'], 'the same person twice')
    seen.add(key)
  })
  if (!people.some(({ role }) => role === 'required')) {
    complain(['participants'], 'at least one participant must be required')
  }
}

const checkWindow = (
  draft: {
    readonly window: { readonly from: string; readonly to: string }
    readonly timeZone?: TimeZone | undefined
    readonly durationMinutes: number
  },
  complain: Complain,
): void => {
  // Without a zone the length is known to the hour or so; with it, each edge must exist exactly once.
  const zone = draft.timeZone
  const from = zone ? edge(draft.window.from, zone) : new Date(`${draft.window.from}Z`)
  const to = zone ? edge(draft.window.to, zone) : new Date(`${draft.window.to}Z`)
  if (!(from instanceof Date)) complain(['window', 'from'], from)
  if (!(to instanceof Date)) complain(['window', 'to'], to)
  if (!(from instanceof Date) || !(to instanceof Date)) return
  const lengthMs = to.getTime() - from.getTime()
  if (lengthMs < 0) complain(['window', 'to'], 'the window ends before it starts')
  else if (lengthMs < draft.durationMinutes * MINUTE_MS) {
    complain(['window', 'to'], 'the window is shorter than the meeting')
  }
  if (lengthMs > WINDOW_MAX_DAYS * DAY_MS) {
    complain(['window', 'to'], `the window is longer than ${WINDOW_MAX_DAYS} days`)
  }
}

const edge = (local: string, zone: TimeZone): Date | string => {
  const resolved = resolveLocal(local, zone, { gap: 'refuse', overlap: 'refuse' })
  switch (resolved.type) {
    case 'instant':
      return resolved.instant
    case 'gap':
      return 'the clock skips this time in that zone'
    case 'overlap':
      return 'the clock shows this time twice in that zone'
    case 'malformed':
      return `not a local date and time (${resolved.reason})`
  }
}

/** The window as instants. The intent was checked at the edge, so both ends exist exactly once. */
export const windowOf = (intent: MeetingIntent): Interval => {
  const start = edge(intent.window.from, intent.timeZone)
  const end = edge(intent.window.to, intent.timeZone)
  if (!(start instanceof Date) || !(end instanceof Date)) {
    throw new Error('an intent was stored whose window does not exist')
  }
  return { start, end }
}

export const durationMs = (intent: MeetingIntent): number => intent.durationMinutes * MINUTE_MS

export const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
