/**
 * What a meeting cannot do without and was not told. Absent knowledge is accepted and asked for, with an owner and a
 * deadline; it is never filled in by a guess. Pure.
 */
import { z } from 'zod'
import {
  Authority,
  CalendarIdentity,
  Identity,
  IntentDraft,
  MeetingIntent,
  Outreach,
  sameAddress,
} from './intent.ts'
import { askedOf, ZoneName } from './values.ts'

export const absenceCodes = [
  'zone_missing',
  'authority_missing',
  'identity_missing',
  'outreach_missing',
  'organizer_calendar_missing',
] as const
export type AbsenceCode = (typeof absenceCodes)[number]

/** What each of them says was not told. */
export const absenceMeanings = {
  zone_missing: "The zone of the meeting, or of somebody's working hours.",
  authority_missing: 'Who approves a time before it is booked.',
  identity_missing: 'Who a participant is: an address.',
  outreach_missing:
    'How the time of somebody is learned: their calendar is not connected, and there is no authority to ask by mail.',
  organizer_calendar_missing: 'In whose calendar the event is written.',
} as const satisfies Record<AbsenceCode, string>

/** Where in the intent something is missing, and what. */
export interface Absence {
  readonly code: AbsenceCode
  readonly path: readonly (string | number)[]
}

/** Everything that is missing from a draft, in the order of its fields. Empty: the intent is complete. */
export const absencesOf = (draft: IntentDraft): readonly Absence[] => {
  const absences: Absence[] = []
  if (draft.timeZone === undefined) absences.push({ code: 'zone_missing', path: ['timeZone'] })
  if (!CalendarIdentity.safeParse(draft.organizer).success) {
    absences.push({ code: 'organizer_calendar_missing', path: ['organizer'] })
  }
  draft.participants.forEach((person, index) => {
    const path = ['participants', index]
    if (person.address === undefined) absences.push({ code: 'identity_missing', path })
    // Nobody's time is known without a calendar to read or the authority to ask.
    else if (person.calendarConnectionId === undefined && draft.outreach === undefined) {
      absences.push({ code: 'outreach_missing', path })
    }
    // Working hours mean nothing without the zone they are kept in.
    if (person.workingHours !== undefined && person.timeZone === undefined) {
      absences.push({ code: 'zone_missing', path: [...path, 'timeZone'] })
    }
  })
  if (draft.approval === undefined) absences.push({ code: 'authority_missing', path: ['approval'] })
  return absences
}

/** What a person may answer to each absence. */
export const resolutionByCode = {
  zone_missing: z.strictObject({ timeZone: ZoneName }),
  authority_missing: z.strictObject({ approval: Authority }),
  identity_missing: Identity,
  outreach_missing: z
    .strictObject({ outreach: Outreach, ...CalendarIdentity.pick({ calendarConnectionId: true }).shape })
    .partial()
    .refine(({ outreach, calendarConnectionId }) => (outreach ?? calendarConnectionId) !== undefined, {
      error: 'must have outreach, or this person’s calendarConnectionId',
      ...askedOf('outreach', 'calendarConnectionId'),
    }),
  organizer_calendar_missing: CalendarIdentity,
} as const satisfies Record<AbsenceCode, z.ZodType>

/** The names of the fields with which an absence can be answered, as its answer is held against them. */
export const answeredBy = (code: AbsenceCode): readonly string[] => Object.keys(resolutionByCode[code].shape)

/** Something wrong with an answer: where in it, and which rule it breaks. */
interface Fault {
  readonly path: readonly (string | number)[]
  readonly reason: string
}

export type Resolved =
  /** Others are still missing. */
  | { readonly type: 'incomplete'; readonly draft: IntentDraft }
  | { readonly type: 'complete'; readonly intent: MeetingIntent }
  | { readonly type: 'malformed'; readonly problems: readonly Fault[] }

/**
 * Puts an answer where something was missing. An answer that is not of the absence's shape is malformed, and so is one
 * that contradicts what was told before; what was told need not be told again.
 */
export const resolveAbsence = (draft: IntentDraft, absence: Absence, answer: unknown): Resolved => {
  const told = toldBefore(draft, absence)
  const whole = isObject(answer) ? { ...told, ...answer } : answer
  const shaped = resolutionByCode[absence.code].safeParse(whole)
  if (!shaped.success) return { type: 'malformed', problems: faultsOf(shaped.error) }
  const against = contradictions(told, shaped.data)
  if (against.length > 0) return { type: 'malformed', problems: against }
  const filled = IntentDraft.safeParse(fill(draft, absence, shaped.data))
  if (!filled.success) {
    return { type: 'malformed', problems: inAnswer(absence, answer, faultsOf(filled.error)) }
  }
  const complete = absencesOf(filled.data).length === 0
  return complete
    ? { type: 'complete', intent: MeetingIntent.parse(filled.data) }
    : { type: 'incomplete', draft: filled.data }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Who somebody is has two halves, and one of them may be known already. */
const toldBefore = (draft: IntentDraft, { code, path }: Absence): Partial<CalendarIdentity> => {
  const [, index] = path
  const who =
    code === 'organizer_calendar_missing'
      ? draft.organizer
      : code === 'identity_missing' && typeof index === 'number'
        ? draft.participants[index]
        : undefined
  const { address, calendarConnectionId } = who ?? {}
  return {
    ...(address !== undefined && { address }),
    ...(calendarConnectionId !== undefined && { calendarConnectionId }),
  }
}

const contradictions = (told: Partial<CalendarIdentity>, answer: object): readonly Fault[] =>
  Object.entries(told).flatMap(([field, before]): Fault[] => {
    const now: unknown = Reflect.get(answer, field)
    return typeof now === 'string' && sameAddress(now, before)
      ? []
      : [{ path: [field], reason: `must be what was told before, ${before}, or left out` }]
  })

/** An unknown key is named by itself, not by what it stands in. */
const faultsOf = (error: z.ZodError): readonly Fault[] =>
  error.issues.flatMap((issue): Fault[] => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], reason: 'is not a field of this answer' }))
      : [{ path, reason: issue.message }]
  })

/**
 * Faults of the meeting that an answer would make, said of the answer, which is all that its sender has written. What
 * lies elsewhere in the meeting is named in words.
 */
export const inAnswer = (absence: Absence, answer: unknown, faults: readonly Fault[]): readonly Fault[] => {
  const fields = isObject(answer) ? Object.keys(answer) : []
  const place = placeOf(absence)
  return faults.map(({ path, reason }) => {
    const within = place.every((part, at) => path[at] === part) ? path.slice(place.length) : path
    const [field] = within
    if (typeof field === 'string' && fields.includes(field)) return { path: within, reason }
    return { path: fields.slice(0, 1), reason: `${reason} (${path.join('.')} of the meeting)` }
  })
}

/** What an answer's fields are fields of. */
const placeOf = ({ path }: Absence): Absence['path'] => {
  if (path[0] === 'participants') return path.slice(0, 2)
  return path[0] === 'organizer' ? ['organizer'] : []
}

const fill = (draft: IntentDraft, { code, path }: Absence, answer: object): unknown => {
  switch (code) {
    case 'authority_missing':
      return { ...draft, ...answer }
    case 'organizer_calendar_missing':
      return { ...draft, organizer: answer }
    case 'identity_missing':
      return withPerson(draft, path[1], answer)
    case 'outreach_missing':
      return 'outreach' in answer ? { ...draft, ...answer } : withPerson(draft, path[1], answer)
    case 'zone_missing':
      return path[0] === 'participants' ? withPerson(draft, path[1], answer) : { ...draft, ...answer }
  }
}

const withPerson = (draft: IntentDraft, index: string | number | undefined, fields: object): unknown => ({
  ...draft,
  participants: draft.participants.map((person, at) => (at === index ? { ...person, ...fields } : person)),
})
