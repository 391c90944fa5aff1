/**
 * What a meeting cannot do without and was not told. Absent knowledge is accepted and asked for, with an owner and a
 * deadline; it is never filled in by a guess. Pure.
 */
import { z } from 'zod'
import { Authority, CalendarIdentity, IntentDraft, MeetingIntent, ZoneName } from './intent.ts'

export const absenceCodes = [
  'zone_missing',
  'authority_missing',
  'identity_missing',
  'organizer_calendar_missing',
] as const
export type AbsenceCode = (typeof absenceCodes)[number]

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
    if (person.address === undefined || person.calendarConnectionId === undefined) {
      absences.push({ code: 'identity_missing', path })
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
  identity_missing: CalendarIdentity,
  organizer_calendar_missing: CalendarIdentity,
} as const satisfies Record<AbsenceCode, z.ZodType>

export type Resolved =
  /** Others are still missing. */
  | { readonly type: 'incomplete'; readonly draft: IntentDraft }
  | { readonly type: 'complete'; readonly intent: MeetingIntent }
  | {
      readonly type: 'malformed'
      readonly problems: readonly { readonly path: readonly (string | number)[]; readonly reason: string }[]
    }

/** Puts an answer where something was missing. An answer that is not of the absence's shape is malformed. */
export const resolveAbsence = (draft: IntentDraft, absence: Absence, answer: unknown): Resolved => {
  const shaped = resolutionByCode[absence.code].safeParse(answer)
  if (!shaped.success) return malformedBy(shaped.error)
  const filled = IntentDraft.safeParse(fill(draft, absence, shaped.data))
  if (!filled.success) return malformedBy(filled.error)
  const complete = absencesOf(filled.data).length === 0
  return complete
    ? { type: 'complete', intent: MeetingIntent.parse(filled.data) }
    : { type: 'incomplete', draft: filled.data }
}

/** An unknown key is named by itself, not by what it stands in. */
const malformedBy = (error: z.ZodError): Resolved => ({
  type: 'malformed',
  problems: error.issues.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], reason: 'not a field of this answer' }))
      : [{ path, reason: issue.message }]
  }),
})

const fill = (draft: IntentDraft, { code, path }: Absence, answer: object): unknown => {
  switch (code) {
    case 'authority_missing':
      return { ...draft, ...answer }
    case 'organizer_calendar_missing':
      return { ...draft, organizer: answer }
    case 'identity_missing':
      return withPerson(draft, path[1], answer)
    case 'zone_missing':
      return path[0] === 'participants' ? withPerson(draft, path[1], answer) : { ...draft, ...answer }
  }
}

const withPerson = (draft: IntentDraft, index: string | number | undefined, fields: object): unknown => ({
  ...draft,
  participants: draft.participants.map((person, at) => (at === index ? { ...person, ...fields } : person)),
})
