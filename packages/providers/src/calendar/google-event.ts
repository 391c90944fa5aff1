/** Google's event resource (Calendar API v3 discovery document, Event) in our words, both ways. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import type { EventUpdate } from './answers.ts'
import type { EventDraft, ProviderAttendee, ProviderEvent } from './calendar.ts'
import { JoinUrl } from './join-url.ts'

/** Private extended properties live on the organizer's copy only, so that no attendee's copy carries our identity. */
const OPERATION_PROPERTY = 'aftercommitOperationId'

/** The filter under which `events.list` finds the events of one operation. */
export const operationFilter = (operationId: string): string => `${OPERATION_PROPERTY}=${operationId}`

/**
 * The event id of a write. Google lets the client choose it from base32hex, lower case, 5 to 1024 characters (discovery
 * document, Event.id), which makes a repeated insert answer 409 instead of writing twice.
 */
export const googleEventId = ({ operationId, epoch }: Pick<EventDraft, 'operationId' | 'epoch'>): string =>
  hashOf(`${operationId}:${epoch}`)

const hashOf = (text: string): string => base32hex(createHash('sha256').update(text).digest())

const BASE32HEX = '0123456789abcdefghijklmnopqrstuv'
const base32hex = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => BASE32HEX.charAt(parseInt(group.padEnd(5, '0'), 2))).join('')
}

/** The same draft gives the same body, byte for byte. */
export const googleBodyOf = (draft: EventDraft): calendar_v3.Schema$Event => {
  const id = googleEventId(draft)
  return {
    id,
    summary: draft.title,
    start: timeOf(draft.start, draft),
    end: timeOf(draft.end, draft),
    attendees: attendeesOf(draft),
    ...(draft.location === undefined ? {} : { location: draft.location }),
    ...(draft.conference ? { conferenceData: meetRequest(id) } : {}),
    extendedProperties: { private: { [OPERATION_PROPERTY]: draft.operationId } },
  }
}

/**
 * The draft as a patch of the event that it was written as. A patch replaces arrays and merges objects (Calendar API
 * guide, "Patch semantics"), so the date of an event that somebody made an all-day one has to be taken away by name:
 * beside a time it is refused as "Invalid start time" (n8n#35800). What is not named here stays, our identity included.
 */
export const googlePatchOf = ({ ref, draft, etag }: EventUpdate): calendar_v3.Schema$Event => ({
  summary: draft.title,
  start: { ...timeOf(draft.start, draft), date: null },
  end: { ...timeOf(draft.end, draft), date: null },
  attendees: attendeesOf(draft),
  location: draft.location ?? null,
  // Under a name of its own: the first request's was used up by a conference that somebody has since taken away.
  ...(draft.conference ? { conferenceData: meetRequest(hashOf(`${ref.eventId}:${etag ?? ''}`)) } : {}),
})

/** The instant is unambiguous; the zone is how the organizer sees it. */
const timeOf = (at: Date, { timeZone }: EventDraft): calendar_v3.Schema$EventDateTime => ({
  dateTime: at.toISOString(),
  timeZone,
})

const attendeesOf = ({ attendees }: EventDraft): calendar_v3.Schema$EventAttendee[] =>
  attendees.map(({ address, displayName, role }) => ({
    email: address,
    displayName,
    optional: role === 'optional',
  }))

/** A request id that was seen before is ignored (discovery document, CreateConferenceRequest), so it repeats safely. */
const meetRequest = (requestId: string): calendar_v3.Schema$ConferenceData => ({
  createRequest: { requestId, conferenceSolutionKey: { type: 'hangoutsMeet' } },
})

const When = z.object({
  dateTime: z.iso.datetime({ offset: true, local: true }).optional(),
  date: z.string().optional(),
  timeZone: z.string().optional(),
})

const Attendee = z.object({
  email: z.string().default(''),
  optional: z.boolean().default(false),
  organizer: z.boolean().default(false),
  responseStatus: z.string().default('needsAction'),
})

const Conference = z.object({
  createRequest: z.object({ status: z.object({ statusCode: z.string() }).optional() }).optional(),
  entryPoints: z
    .array(z.object({ entryPointType: z.string().optional(), uri: z.unknown().optional() }).catch({}))
    .default([]),
})

/** Of a deleted event only the id is promised (Calendar API reference, Events, status). */
const Deleted = z.object({
  id: z.string(),
  status: z.literal('cancelled'),
  etag: z.string().default(''),
  iCalUID: z.string().default(''),
  start: When.optional(),
  end: When.optional(),
})

const Live = z.object({
  id: z.string(),
  status: z.enum(['confirmed', 'tentative']),
  etag: z.string(),
  iCalUID: z.string(),
  start: When,
  end: When,
})

/** What live and deleted events alike may carry. An event with hidden attendees cannot be checked, so it is refused. */
const Details = z.object({
  summary: z.string().default(''),
  attendees: z.array(Attendee).default([]),
  attendeesOmitted: z.literal(false).optional(),
  location: z.string().optional(),
  conferenceData: Conference.optional(),
  hangoutLink: z.unknown().optional(),
  visibility: z.string().default('default'),
  extendedProperties: z.object({ private: z.record(z.string(), z.string()).optional() }).optional(),
})

export const GoogleEvent = z.discriminatedUnion('status', [Live, Deleted]).and(Details)
export type GoogleEvent = z.infer<typeof GoogleEvent>

export const eventOfGoogle = (event: GoogleEvent, calendarAddress: string): ProviderEvent => ({
  provider: 'google',
  calendarAddress,
  eventId: event.id,
  etag: event.etag,
  icalUid: event.iCalUID,
  status: event.status,
  title: event.summary,
  start: instantOf(event.start),
  end: instantOf(event.end),
  timeZone: event.start?.timeZone ?? '',
  attendees: event.attendees.map(attendeeOf),
  location: event.location,
  conference: conferenceOf(event.conferenceData),
  conferenceUrl: conferenceUrlOf(event),
  visibility: event.visibility,
  operationId: event.extendedProperties?.private?.[OPERATION_PROPERTY],
})

const instantOf = (when: z.infer<typeof When> | undefined): Date | undefined =>
  when?.dateTime === undefined ? undefined : new Date(when.dateTime)

const RESPONSES = new Map<string, ProviderAttendee['response']>([
  ['accepted', 'accepted'],
  ['declined', 'declined'],
  ['tentative', 'tentative'],
])

const attendeeOf = (attendee: z.infer<typeof Attendee>): ProviderAttendee => ({
  address: attendee.email.toLowerCase(),
  role: attendee.optional ? 'optional' : 'required',
  response: RESPONSES.get(attendee.responseStatus) ?? 'needs_action',
  organizer: attendee.organizer,
})

/** Creation is asynchronous, and pending and failed look alike when only the entry points are looked at. */
const conferenceOf = (conference: z.infer<typeof Conference> | undefined): ProviderEvent['conference'] => {
  if (conference === undefined) return 'none'
  const status = conference.createRequest?.status?.statusCode
  if (status === 'failure') return 'failed'
  return status === 'success' || conference.entryPoints.length > 0 ? 'ready' : 'pending'
}

/** Meet's own link; a conference of another maker, which a person put there, has only its entry points. */
const conferenceUrlOf = ({ conferenceData, hangoutLink }: GoogleEvent): string | undefined => {
  if (conferenceOf(conferenceData) !== 'ready') return undefined
  const video = conferenceData?.entryPoints.find(({ entryPointType }) => entryPointType === 'video')
  return JoinUrl.parse(hangoutLink) ?? JoinUrl.parse(video?.uri)
}
