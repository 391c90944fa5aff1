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

/** Puts an answer where something was missing. Throws ZodError when the answer is not of the absence's shape. */
export const resolveAbsence = (draft: IntentDraft, absence: Absence, answer: unknown): Resolved => {
  const filled = IntentDraft.safeParse(fill(draft, absence, answer))
  if (!filled.success) {
    const problems = filled.error.issues.map(({ path, message }) => ({
      path: path.filter((part) => typeof part !== 'symbol'),
      reason: message,
    }))
    return { type: 'malformed', problems }
  }
  const complete = absencesOf(filled.data).length === 0
  return complete
    ? { type: 'complete', intent: MeetingIntent.parse(filled.data) }
    : { type: 'incomplete', draft: filled.data }
}

const fill = (draft: IntentDraft, { code, path }: Absence, answer: unknown): unknown => {
  switch (code) {
    case 'authority_missing':
      return { ...draft, ...resolutionByCode.authority_missing.parse(answer) }
    case 'organizer_calendar_missing':
      return { ...draft, organizer: CalendarIdentity.parse(answer) }
    case 'identity_missing':
      return withPerson(draft, path[1], CalendarIdentity.parse(answer))
    case 'zone_missing': {
      const zone = resolutionByCode.zone_missing.parse(answer)
      return path[0] === 'participants' ? withPerson(draft, path[1], zone) : { ...draft, ...zone }
    }
  }
}

const withPerson = (draft: IntentDraft, index: string | number | undefined, fields: object): unknown => ({
  ...draft,
  participants: draft.participants.map((person, at) => (at === index ? { ...person, ...fields } : person)),
})
