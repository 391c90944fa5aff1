import { resolveLocal, type Interval, type TimeZone } from '@aftercommit/time'
import { z } from 'zod'
import { ConnectionId } from './ids.ts'
import { buffers, Preferences } from './preference.ts'
import { Address, askedOf, Instant, LocalDateTime, ZoneName } from './values.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Both providers answer free/busy for about two months at most; see the calendar adapters. */
const WINDOW_MAX_DAYS = 60
/** A deadline further away is a slip of the finger more often than a plan. */
const BOOK_BY_MAX_DAYS = 366
const PARTICIPANTS_MAX = 100

const CLOCK_RULE = 'must be a time of day as HH:mm, such as 09:00'

export const WorkingHours = z
  .strictObject({
    startsAt: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, CLOCK_RULE)
      .meta({ description: 'When work begins, by the clock on the wall.', examples: ['09:00'] }),
    endsAt: z
      .string()
      .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, `${CLOCK_RULE}, or 24:00`)
      .meta({ description: 'When work ends, on the same day; 24:00 is midnight.', examples: ['17:00'] }),
    days: z
      .array(z.int().min(1).max(7))
      .min(1)
      .max(7)
      .meta({ description: 'ISO days of the week: 1 is Monday, 7 is Sunday.', examples: [[1, 2, 3, 4, 5]] }),
  })
  // Times of this shape sort as text. Hours past midnight would be a guess at which day they belong to.
  .refine(({ startsAt, endsAt }) => startsAt < endsAt, {
    path: ['endsAt'],
    error: 'must be later than startsAt, on the same day',
    ...askedOf('startsAt', 'endsAt'),
  })
  .meta({
    description:
      'When this person may be asked to meet, in their own `timeZone`. Left out, any hour will do.',
  })
export type WorkingHours = z.output<typeof WorkingHours>

const Purpose = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({
    description: 'What the meeting is about; it becomes the title of the event.',
    examples: ['Contract review'],
  })
const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ description: 'What this person is called.', examples: ['Ada Lovelace'] })
const Role = z.enum(['required', 'optional']).meta({
  description:
    'Without a required person there is no meeting; an optional one who cannot come is left out, and the proposal says why.',
  examples: ['required'],
})

const authorityType = <Type extends string>(type: Type, description: string) =>
  z.literal(type).meta({ description, examples: [type] })

export const Authority = z
  .discriminatedUnion('type', [
    z.strictObject({ type: authorityType('automatic', 'The first time found is booked, nobody is asked.') }),
    z.strictObject({ type: authorityType('organizer', 'The organizer approves the time.') }),
    z.strictObject({
      type: authorityType('named_approver', 'The person at `address` approves the time.'),
      address: Address,
    }),
  ])
  .meta({
    description: 'Who approves a time before it is booked. Left out, it is asked for.',
    examples: [{ type: 'organizer' }],
  })

const CalendarConnectionId = ConnectionId.meta({
  description: 'The id that connecting this calendar answered. It must belong to the same address.',
  examples: ['7d0f7a3e-6c0f-4a57-9b0e-3c8e5b1d2f64'],
})

/** Who somebody is to a provider: an address, and the calendar that belongs to it. */
export const CalendarIdentity = z.strictObject({
  address: Address,
  calendarConnectionId: CalendarConnectionId,
})
export type CalendarIdentity = z.output<typeof CalendarIdentity>

/** A person, who may have no calendar connected: then they are asked, if the meeting has the authority to. */
export const Identity = z.strictObject({
  address: Address,
  calendarConnectionId: CalendarConnectionId.optional(),
})
export type Identity = z.output<typeof Identity>

const clockTime = (description: string, example: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, CLOCK_RULE)
    .meta({ description, examples: [example] })

/** The authority to write to people who have no calendar connected, and how often and when at most. */
export const Outreach = z
  .strictObject({
    messagesMax: z
      .int()
      .min(1)
      .max(6)
      .default(3)
      .meta({ description: 'Messages to one person in one search, the first one included.', examples: [3] }),
    spacingHours: z
      .int()
      .min(1)
      .max(168)
      .default(24)
      .meta({ description: 'Hours between two messages to one person.', examples: [24] }),
    quietHours: z
      .strictObject({
        startsAt: clockTime('From when nobody is written to.', '20:00'),
        endsAt: clockTime('Until when nobody is written to.', '08:00'),
      })
      .default({ startsAt: '20:00', endsAt: '08:00' })
      .meta({ description: "By the clock on the person's wall; they may pass midnight." }),
  })
  .meta({
    description:
      'The authority to write to people who have no calendar connected, and how often and when at most.',
  })
export type Outreach = z.output<typeof Outreach>

/** What a participant may learn of the meeting before it is booked. */
export const Disclosure = z.enum(['time_only', 'purpose', 'purpose_and_people']).meta({
  description:
    'What people who are asked may learn before the meeting is booked. Left out, nobody learns more than that time is asked for.',
  examples: ['time_only'],
})
export type Disclosure = z.output<typeof Disclosure>

const SUBSTITUTES_MAX = 5

const Window = z
  .strictObject({
    from: LocalDateTime.meta({
      description: 'The earliest start, by the clock in `timeZone`.',
      examples: ['2027-03-29T00:00'],
    }),
    to: LocalDateTime.meta({
      description: `The latest end, by the clock in \`timeZone\`; in the future, and at most ${WINDOW_MAX_DAYS} days after \`from\`.`,
      examples: ['2027-04-03T00:00'],
    }),
  })
  .meta({
    description:
      'When the meeting may take place. A time that the clock skips or shows twice is refused as an edge.',
  })

const certain = {
  purpose: Purpose,
  durationMinutes: z
    .int()
    .min(5)
    .max(720)
    .multipleOf(5)
    .meta({ description: 'How long the meeting takes.', examples: [60] }),
  window: Window,
  bookBy: Instant.meta({
    description: `Until when the event must be written; in the future, and at most ${BOOK_BY_MAX_DAYS} days ahead. What is still missing then lapses.`,
    examples: ['2027-03-24T12:00:00Z'],
  }),
  location: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: 'Where people meet, as the event shall say it.', examples: ['Room 4.12'] }),
  conference: z
    .boolean()
    .default(false)
    .meta({ description: "Whether the organizer's provider makes a video conference.", examples: [true] }),
  instruction: z
    .string()
    .max(10_000)
    .optional()
    .meta({
      description: "The requester's own words, kept with the meeting. Nothing is decided from them.",
      examples: ['An hour with Ben next week, whenever we are both at work.'],
    }),
  outreach: Outreach.optional(),
  disclosure: Disclosure.default('time_only'),
  preferences: Preferences.optional(),
}
const aboutPerson = {
  displayName: DisplayName,
  timeZone: ZoneName.optional(),
  workingHours: WorkingHours.optional(),
  ...buffers,
}
/** Somebody who was named in advance to take another's place. */
export const Substitute = z.strictObject({ ...aboutPerson, ...Identity.shape })
export type Substitute = z.output<typeof Substitute>
const certainOfPerson = {
  ...aboutPerson,
  role: Role,
  substitutes: z.array(Substitute).max(SUBSTITUTES_MAX).optional().meta({
    description:
      "Who may take this person's place if they cannot be invited or decline, in this order. Somebody has to choose it; the meeting is then approved anew.",
  }),
}

/**
 * A meeting as it is asked for. What is there must be well formed; what may be absent is optional here, and its
 * absence is a question to a person, never a default.
 */
export const IntentDraft = z
  .strictObject({
    ...certain,
    timeZone: ZoneName.optional(),
    organizer: CalendarIdentity.partial().optional().meta({
      description: 'In whose calendar the event is written; need not take part. Left out, it is asked for.',
    }),
    participants: z
      .array(z.strictObject({ ...certainOfPerson, ...Identity.partial().shape }))
      .min(1)
      .max(PARTICIPANTS_MAX)
      .meta({ description: 'Who meets; nobody twice, and at least one of them required.' }),
    approval: Authority.optional(),
  })
  .check((context) => {
    // What is malformed is looked through by faults.ts, which knows what can be told of the rest.
    if (context.issues.length > 0) return
    for (const { path, reason } of [
      ...peopleFaults(context.value.participants),
      ...windowFaults(context.value),
    ]) {
      context.issues.push({ code: 'custom', input: context.value, path: [...path], message: reason })
    }
  })
export type IntentDraft = z.output<typeof IntentDraft>

/** One meeting, typed and complete. Everything a decision uses is here; nothing is guessed later. */
export const MeetingIntent = z.strictObject({
  ...certain,
  timeZone: ZoneName,
  organizer: CalendarIdentity,
  participants: z
    .array(z.strictObject({ ...certainOfPerson, ...Identity.shape }))
    .min(1)
    .max(PARTICIPANTS_MAX),
  approval: Authority,
})
export type MeetingIntent = z.output<typeof MeetingIntent>

/** What is wrong in a place that is well formed by itself. */
interface Fault {
  readonly path: readonly (string | number)[]
  readonly reason: string
}

/** Rules between the people of an intent. */
export const peopleFaults = (
  people: readonly { readonly address?: string | undefined; readonly role: string }[],
): readonly Fault[] => {
  const seen = new Set<string>()
  const twice = people.flatMap(({ address }, index): Fault[] => {
    if (address === undefined) return []
    const key = address.toLowerCase()
    if (seen.has(key)) return [{ path: ['participants', index, 'address'], reason: 'the same person twice' }]
    seen.add(key)
    return []
  })
  const reason = 'at least one participant must be required'
  return people.some(({ role }) => role === 'required')
    ? twice
    : [...twice, { path: ['participants'], reason }]
}

/** Rules between the edges of a window, its zone and the length of the meeting. */
export const windowFaults = (draft: {
  readonly window: { readonly from: string; readonly to: string }
  readonly timeZone?: TimeZone | undefined
  readonly durationMinutes: number
}): readonly Fault[] => {
  // Without a zone the length is known to the hour or so; with it, each edge must exist exactly once.
  const zone = draft.timeZone
  const from = zone ? edge(draft.window.from, zone) : new Date(`${draft.window.from}Z`)
  const to = zone ? edge(draft.window.to, zone) : new Date(`${draft.window.to}Z`)
  if (!(from instanceof Date) || !(to instanceof Date)) {
    return [
      ...(from instanceof Date ? [] : [{ path: ['window', 'from'], reason: from }]),
      ...(to instanceof Date ? [] : [{ path: ['window', 'to'], reason: to }]),
    ]
  }
  const reason = lengthRule(to.getTime() - from.getTime(), draft.durationMinutes * MINUTE_MS)
  return reason === undefined ? [] : [{ path: ['window', 'to'], reason }]
}

const lengthRule = (lengthMs: number, meetingMs: number): string | undefined => {
  if (lengthMs < 0) return 'the window ends before it starts'
  if (lengthMs < meetingMs) return 'the window is shorter than the meeting'
  return lengthMs > WINDOW_MAX_DAYS * DAY_MS ? `the window is longer than ${WINDOW_MAX_DAYS} days` : undefined
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

/** A wall clock is at most this much behind UTC, so a local time without a zone is over by then everywhere. */
const BEHIND_MAX_MS = 12 * 60 * MINUTE_MS

/** What was well formed but comes too late, or is too far away. What is left out is not judged. */
export const untimely = (
  draft: { readonly [Field in 'bookBy' | 'window' | 'timeZone']?: IntentDraft[Field] | undefined },
  now: Date,
): readonly Fault[] => {
  const found: Fault[] = []
  const { bookBy, timeZone: zone, window } = draft
  const leftMs = bookBy === undefined ? 1 : Date.parse(bookBy) - now.getTime()
  if (leftMs <= 0) found.push({ path: ['bookBy'], reason: 'the deadline has passed' })
  if (leftMs > BOOK_BY_MAX_DAYS * DAY_MS) {
    found.push({ path: ['bookBy'], reason: `must be at most ${BOOK_BY_MAX_DAYS} days ahead` })
  }
  if (window === undefined) return found
  const end = zone ? edge(window.to, zone) : new Date(Date.parse(`${window.to}Z`) + BEHIND_MAX_MS)
  if (end instanceof Date && end <= now) {
    found.push({ path: ['window', 'to'], reason: 'the window has passed' })
  }
  return found
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
