/** Google's event resource: rendering what is held, and reading what a client sends. */
import type { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import { z } from 'zod'
import type { Person } from '../contract.ts'
import type { Answer } from '../exchange.ts'
import type { EventTime, HeldAttendee, HeldEvent } from '../state.ts'
import { instantOf, isZone, withOffset } from '../zone.ts'
import { badRequest, invalid, rangeEmpty, required } from './errors.ts'

const DateTimeInput = z.object({
  date: z.string().nullish(),
  dateTime: z.string().nullish(),
  timeZone: z.string().nullish(),
})

export const EventInput = z.looseObject({
  id: z.string().nullish(),
  iCalUID: z.string().nullish(),
  summary: z.string().nullish(),
  location: z.string().nullish(),
  status: z.enum(['confirmed', 'tentative', 'cancelled']).nullish(),
  start: DateTimeInput.nullish(),
  end: DateTimeInput.nullish(),
  transparency: z.enum(['opaque', 'transparent']).nullish(),
  recurrence: z.array(z.string()).nullish(),
  attendees: z
    .array(
      z.looseObject({
        email: z.string().nullish(),
        displayName: z.string().nullish(),
        optional: z.boolean().nullish(),
        resource: z.boolean().nullish(),
        responseStatus: z.enum(['needsAction', 'declined', 'tentative', 'accepted']).nullish(),
      }),
    )
    .nullish(),
  conferenceData: z
    .looseObject({ createRequest: z.looseObject({ requestId: z.string().nullish() }).nullish() })
    .nullish(),
  extendedProperties: z
    .looseObject({
      private: z.record(z.string(), z.string().nullable()).nullish(),
      shared: z.record(z.string(), z.string().nullable()).nullish(),
    })
    .nullish(),
})
export type EventInput = z.infer<typeof EventInput>

const echoed = [
  'description',
  'visibility',
  'colorId',
  'anyoneCanAddSelf',
  'guestsCanInviteOthers',
  'guestsCanModify',
  'guestsCanSeeOtherGuests',
  'reminders',
  'source',
]

/** The fields this calendar stores without looking at them; null removes one. */
export const echoesOf = (
  before: Readonly<Record<string, unknown>>,
  input: EventInput,
): Record<string, unknown> =>
  Object.fromEntries(
    echoed.flatMap((name) => {
      const value = name in input ? input[name] : before[name]
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )

export type TimeReading =
  { readonly type: 'read'; readonly time: EventTime } | { readonly type: 'refused'; readonly answer: Answer }

/** Start and end: two dates, or two times that carry an offset or a zone. */
export const readTime = (input: Pick<EventInput, 'start' | 'end'>, calendarZone: string): TimeReading => {
  const { start, end } = input
  if (!start || (!start.date && !start.dateTime)) return refused(required('Missing start time.'))
  if (!end || (!end.date && !end.dateTime)) return refused(required('Missing end time.'))
  if (start.date && start.dateTime) return refused(invalid('Invalid start time.'))
  if (end.date && end.dateTime) return refused(invalid('Invalid end time.'))
  if (start.date && end.date) {
    if (!z.iso.date().safeParse(start.date).success || !z.iso.date().safeParse(end.date).success) {
      return refused(badRequest())
    }
    if (end.date <= start.date) return refused(rangeEmpty())
    return { type: 'read', time: { type: 'all_day', start: start.date, end: end.date } }
  }
  const from = readInstant(start)
  const to = readInstant(end)
  if (from === 'no_zone') return refused(required('Missing time zone definition for start time.'))
  if (to === 'no_zone') return refused(required('Missing time zone definition for end time.'))
  if (!from || !to) return refused(badRequest())
  if (to < from) return refused(rangeEmpty())
  return {
    type: 'read',
    time: { type: 'timed', start: from, end: to, timeZone: start.timeZone ?? calendarZone },
  }
}

const refused = (answer: Answer): TimeReading => ({ type: 'refused', answer })

const readInstant = ({ dateTime, timeZone }: z.infer<typeof DateTimeInput>): Date | 'no_zone' | undefined => {
  if (!dateTime || (timeZone && !isZone(timeZone))) return undefined
  if (z.iso.datetime({ offset: true }).safeParse(dateTime).success) return new Date(dateTime)
  if (!z.iso.datetime({ local: true }).safeParse(dateTime).success) return undefined
  return timeZone ? instantOf(dateTime, timeZone) : 'no_zone'
}

const responseByStatus = {
  needsAction: 'needs_action',
  accepted: 'accepted',
  tentative: 'tentative',
  declined: 'declined',
} as const
const statusByResponse = {
  needs_action: 'needsAction',
  accepted: 'accepted',
  tentative: 'tentative',
  declined: 'declined',
} as const

/** Attendees as sent, addresses in lower case. Whether Google takes them is decided before. */
export const attendeesOf = (input: EventInput): HeldAttendee[] =>
  (input.attendees ?? []).map((attendee) => ({
    address: (attendee.email ?? '').toLowerCase(),
    displayName: attendee.displayName ?? undefined,
    kind: attendee.resource ? 'resource' : attendee.optional ? 'optional' : 'required',
    response: responseByStatus[attendee.responseStatus ?? 'needsAction'],
    respondedAt: undefined,
  }))

export const etagOf = (event: HeldEvent): string =>
  `"${event.createdAt.getTime()}${String(event.version).padStart(4, '0')}"`

/** The event as its organizer's calendar shows it, times with the offset of the zone asked for. */
export const render = (event: HeldEvent, person: Person, timeZone: string): calendar_v3.Schema$Event => {
  const self = { email: event.calendarAddress, self: true }
  return {
    kind: 'calendar#event',
    etag: etagOf(event),
    id: event.id,
    status: event.status,
    htmlLink: `https://www.google.com/calendar/event?eid=${Buffer.from(event.id).toString('base64url')}`,
    created: event.createdAt.toISOString(),
    updated: event.updatedAt.toISOString(),
    summary: event.title,
    ...(event.location === undefined ? {} : { location: event.location }),
    creator: self,
    organizer: self,
    ...renderTime(event.time, timeZone),
    ...(event.showAs === 'free' ? { transparency: 'transparent' } : {}),
    iCalUID: event.icalUid,
    sequence: event.sequence,
    ...(event.attendees.length > 0
      ? { attendees: event.attendees.map((each) => renderAttendee(each, person)) }
      : {}),
    ...renderProperties(event),
    ...renderConference(event),
    reminders: { useDefault: true },
    eventType: 'default',
    ...event.echoes,
  }
}

const renderProperties = (event: HeldEvent): Pick<calendar_v3.Schema$Event, 'extendedProperties'> => {
  const { properties, sharedProperties: shared } = event
  if (properties.size === 0 && shared.size === 0) return {}
  return {
    extendedProperties: {
      ...(properties.size > 0 ? { private: Object.fromEntries(properties) } : {}),
      ...(shared.size > 0 ? { shared: Object.fromEntries(shared) } : {}),
    },
  }
}

const renderTime = (
  time: EventTime,
  viewZone: string,
): { start: calendar_v3.Schema$EventDateTime; end: calendar_v3.Schema$EventDateTime } =>
  time.type === 'all_day'
    ? { start: { date: time.start }, end: { date: time.end } }
    : {
        start: { dateTime: withOffset(time.start, viewZone), timeZone: time.timeZone },
        end: { dateTime: withOffset(time.end, viewZone), timeZone: time.timeZone },
      }

const renderAttendee = (attendee: HeldAttendee, organizer: Person): calendar_v3.Schema$EventAttendee => ({
  email: attendee.address,
  ...(attendee.displayName === undefined ? {} : { displayName: attendee.displayName }),
  ...(attendee.kind === 'optional' ? { optional: true } : {}),
  ...(attendee.kind === 'resource' ? { resource: true } : {}),
  ...(attendee.address === organizer.address ? { organizer: true, self: true } : {}),
  responseStatus: statusByResponse[attendee.response],
})

const renderConference = ({
  conference,
}: HeldEvent): Pick<calendar_v3.Schema$Event, 'conferenceData' | 'hangoutLink'> => {
  if (conference.type === 'none') return {}
  const statusCode = { pending: 'pending', ready: 'success', failed: 'failure' }[conference.type]
  const createRequest = {
    requestId: conference.requestId,
    conferenceSolutionKey: { type: 'hangoutsMeet' },
    status: { statusCode },
  }
  if (conference.type !== 'ready') return { conferenceData: { createRequest } }
  return {
    hangoutLink: conference.url,
    conferenceData: {
      createRequest,
      entryPoints: [
        { entryPointType: 'video', uri: conference.url, label: conference.url.replace('https://', '') },
      ],
      conferenceSolution: { key: { type: 'hangoutsMeet' }, name: 'Google Meet' },
      conferenceId: conference.url.split('/').at(-1) ?? '',
    },
  }
}
