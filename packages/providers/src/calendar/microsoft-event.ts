/** Graph's event resource (Microsoft Graph v1.0 metadata, event) in our words, both ways. */
import { createHash } from 'node:crypto'
import type { Event } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import type { EventDraft, ProviderAttendee, ProviderEvent } from './calendar.ts'
import { JoinUrl } from './join-url.ts'

/** The GUID is ours and must never change: it is half of the property's name. */
const OPERATION_PROPERTY = 'String {6f1e6ab5-7f0c-4a53-9d0f-2f4a1d2b7c11} Name aftercommitOperationId'

/** The only filter form that finds extended properties (microsoft-graph-docs#6757); quotes are doubled as in OData. */
export const operationFilter = (operationId: string): string =>
  `singleValueExtendedProperties/Any(ep: ep/id eq '${OPERATION_PROPERTY}' and ep/value eq '${operationId.replaceAll("'", "''")}')`

/** Without it, reads leave the property out (Microsoft Graph docs, singleValueLegacyExtendedProperty). */
export const EXPAND_OPERATION = `singleValueExtendedProperties($filter=id eq '${OPERATION_PROPERTY}')`

/** Graph's own guard against repeated creates; one per operation and epoch, the same for every retry. */
export const transactionIdOf = ({ operationId, epoch }: Pick<EventDraft, 'operationId' | 'epoch'>): string =>
  epoch === 0 ? operationId : derivedUuid(`${operationId}:${epoch}`)

/** A UUID of version 8, whose content is the sender's own affair (RFC 9562, 5.8). */
const derivedUuid = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex')
  const variant = '89ab'.charAt(parseInt(hex.charAt(16), 16) % 4)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/**
 * The same draft gives the same body, byte for byte: a known transactionId with another body is refused. Instants go out
 * as UTC, the one zone in which no wall time is ambiguous; the price is that Outlook shows UTC as the original zone.
 */
export const microsoftBodyOf = (draft: EventDraft): Event => ({
  transactionId: transactionIdOf(draft),
  ...statedBy(draft),
  ...(draft.location === undefined ? {} : { location: { displayName: draft.location } }),
  singleValueExtendedProperties: [{ id: OPERATION_PROPERTY, value: draft.operationId }],
})

/**
 * The draft as a patch of the event that it was written as. The list of attendees is replaced, what is not named stays:
 * the transactionId, which may not change, our identity, and the body, in which Outlook keeps how to join an online
 * meeting (Microsoft Graph docs, "Update event").
 */
export const microsoftPatchOf = (draft: EventDraft): Event => ({
  ...statedBy(draft),
  // Times of day are refused of an all-day event, which somebody may have made of it.
  isAllDay: false,
  location: { displayName: draft.location ?? '' },
})

const statedBy = (draft: EventDraft): Event => ({
  subject: draft.title,
  start: { dateTime: withoutOffset(draft.start), timeZone: 'UTC' },
  end: { dateTime: withoutOffset(draft.end), timeZone: 'UTC' },
  attendees: draft.attendees.map(({ address, displayName, role }) => ({
    type: role,
    emailAddress: { address, name: displayName },
  })),
  ...(draft.conference ? { isOnlineMeeting: true, onlineMeetingProvider: 'teamsForBusiness' } : {}),
})

/** Graph's dateTimeTimeZone carries no offset; the zone stands beside it. */
export const withoutOffset = (instant: Date): string => instant.toISOString().replace('Z', '')

/** A dateTimeTimeZone that was asked for in UTC. Any other zone means that the preference was ignored: not readable. */
export const UtcTime = z
  .object({
    dateTime: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/),
    timeZone: z.string().refine((zone) => /^(Etc\/)?UTC$|^Coordinated Universal Time$/i.test(zone)),
  })
  // Graph writes seven digits of fraction; three are what a Date holds.
  .transform(({ dateTime }) => new Date(`${dateTime.slice(0, 23).replace(/Z$/, '')}Z`))
  .refine((instant) => !Number.isNaN(instant.getTime()))

const Attendee = z.object({
  type: z.string().nullish(),
  status: z.object({ response: z.string().nullish() }).nullish(),
  emailAddress: z.object({ address: z.string().nullish() }).nullish(),
})

const Property = z.object({ id: z.string(), value: z.string().nullish() })

export const MicrosoftEvent = z.object({
  id: z.string(),
  '@odata.etag': z.string(),
  iCalUId: z.string(),
  subject: z.string().nullish(),
  start: UtcTime,
  end: UtcTime,
  isAllDay: z.boolean().nullish(),
  isCancelled: z.boolean().nullish(),
  attendees: z.array(Attendee),
  organizer: Attendee.pick({ emailAddress: true }).nullish(),
  location: z.object({ displayName: z.string().nullish() }).nullish(),
  sensitivity: z.string().nullish(),
  isOnlineMeeting: z.boolean().nullish(),
  onlineMeetingProvider: z.string().nullish(),
  onlineMeeting: z.object({ joinUrl: z.unknown().optional() }).nullish(),
  singleValueExtendedProperties: z.array(Property).nullish(),
})
export type MicrosoftEvent = z.infer<typeof MicrosoftEvent>

export const eventOfMicrosoft = (event: MicrosoftEvent, calendarAddress: string): ProviderEvent => {
  const organizer = event.organizer?.emailAddress?.address?.toLowerCase()
  return {
    provider: 'microsoft',
    calendarAddress,
    eventId: event.id,
    etag: event['@odata.etag'],
    icalUid: event.iCalUId,
    status: event.isCancelled === true ? 'cancelled' : 'confirmed',
    title: event.subject ?? '',
    // The midnights of an all-day event float with the zone one asks in; they are no instants.
    start: event.isAllDay === true ? undefined : event.start,
    end: event.isAllDay === true ? undefined : event.end,
    timeZone: 'UTC',
    attendees: event.attendees.map((attendee) => attendeeOf(attendee, organizer)),
    location: event.location?.displayName || undefined,
    conference: conferenceOf(event),
    conferenceUrl: event.isOnlineMeeting === true ? JoinUrl.parse(event.onlineMeeting?.joinUrl) : undefined,
    visibility: (event.sensitivity ?? 'normal') === 'normal' ? 'default' : (event.sensitivity ?? 'default'),
    operationId: operationIdOf(event),
  }
}

/** GUIDs and values compare in any case, the property's name does not. */
const operationIdOf = ({ singleValueExtendedProperties: properties }: MicrosoftEvent): string | undefined => {
  const normal = (id: string) => id.replace(/\{[^}]*\}/, (guid) => guid.toLowerCase())
  return properties?.find(({ id }) => normal(id) === OPERATION_PROPERTY)?.value ?? undefined
}

const RESPONSES = new Map<string, ProviderAttendee['response']>([
  ['organizer', 'accepted'],
  ['accepted', 'accepted'],
  ['tentativelyaccepted', 'tentative'],
  ['declined', 'declined'],
])

const attendeeOf = (attendee: z.infer<typeof Attendee>, organizer: string | undefined): ProviderAttendee => {
  const address = attendee.emailAddress?.address ?? ''
  return {
    address: address.startsWith('/') ? address : address.toLowerCase(),
    role: attendee.type?.toLowerCase() === 'optional' ? 'optional' : 'required',
    response: RESPONSES.get(attendee.status?.response?.toLowerCase() ?? '') ?? 'needs_action',
    organizer: organizer !== undefined && address.toLowerCase() === organizer,
  }
}

/** A meeting asked for where the mailbox allows none comes back without one, and without an error. */
const conferenceOf = (event: MicrosoftEvent): ProviderEvent['conference'] => {
  if (event.isOnlineMeeting !== true) return 'none'
  if (event.onlineMeeting?.joinUrl) return 'ready'
  return event.onlineMeetingProvider === 'unknown' ? 'failed' : 'pending'
}
