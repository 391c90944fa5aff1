import { z } from 'zod'
import { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import type { CallContext, CallFailure } from '../call.ts'
import { exchangeThrough, jsonOf } from '../http.ts'
import type { Answered } from '../http.ts'
import { DAY_MS, readInParts } from './busy.ts'
import type { PartAnswer, ReadPart } from './busy.ts'
import type {
  Calendar,
  CancelAnswer,
  EventDraft,
  EventRef,
  FindEventsAnswer,
  InsertAnswer,
  ProviderEvent,
  ReadEventAnswer,
  TokenSource,
} from './calendar.ts'
import { busyOfCalendars, FreeBusy } from './google-busy.ts'
import { failureOfGoogle, googleRefusalOf } from './google-errors.ts'
import { GoogleEvent, eventOfGoogle, googleBodyOf, googleEventId, operationFilter } from './google-event.ts'
import { callAuthorised } from './tokens.ts'

export interface GoogleCalendarOptions {
  /** Where the API lives, with a closing slash. Default: Google. */
  readonly rootUrl?: string
  readonly tokens: TokenSource
}

/** The window limit is not documented; three months were seen to be refused (timeRangeTooLong), so we stay well below. */
const LIMITS = { windowMaxMs: 60 * DAY_MS, addressesMax: 50 } as const

/** A listing that does not end is broken, not long: nobody has this many events of one operation. */
const PAGES_MAX = 100

/** Google Calendar over Google's own client, without its retries: one method, one request per page or part. */
export const googleCalendar = (options: GoogleCalendarOptions): Calendar => {
  const call = googleCalls(options)
  return {
    provider: 'google',
    readFreeBusy: (query, context) => readInParts(query, LIMITS, (part) => readPart(call, part, context)),
    insertEvent: (draft, context) => insertEvent(call, draft, context),
    readEvent: (ref, context) => readEvent(call, ref, context),
    findEvents: (calendarAddress, operationId, context) =>
      findEvents(call, calendarAddress, operationId, context),
    cancelEvent: (ref, context) => cancelEvent(call, ref, context),
  }
}

type MethodOptions = Omit<calendar_v3.Options, 'version' | 'auth'>

interface GoogleCall<T> {
  readonly operation: string
  readonly context: CallContext
  readonly send: (client: calendar_v3.Calendar, options: MethodOptions) => Promise<unknown>
  readonly judge: (answered: Answered) => T
}
type GoogleCalls = <T extends { readonly type: string }>(call: GoogleCall<T>) => Promise<T | CallFailure>

const googleCalls = ({ rootUrl, tokens }: GoogleCalendarOptions): GoogleCalls => {
  const client = new calendar_v3.Calendar({})
  return ({ operation, context, send, judge }) =>
    callAuthorised({
      provider: 'google',
      operation,
      tokens,
      context,
      judge,
      send: (accessToken) =>
        exchangeThrough(context, (fetch) =>
          send(client, {
            // Given per call because the client drops the path of a root URL that it was constructed with.
            ...(rootUrl === undefined ? {} : { rootUrl }),
            headers: { authorization: `Bearer ${accessToken}` },
            retry: false,
            responseType: 'text',
            fetchImplementation: fetch,
          }),
        ),
    })
}

const readPart = (call: GoogleCalls, part: ReadPart, context: CallContext): Promise<PartAnswer> =>
  call({
    operation: 'freebusy.query',
    context,
    send: (client, options) =>
      client.freebusy.query(
        {
          requestBody: {
            timeMin: part.window.start.toISOString(),
            timeMax: part.window.end.toISOString(),
            items: part.addresses.map((id) => ({ id })),
          },
        },
        options,
      ),
    judge: (answered): PartAnswer => {
      if (answered.status !== 200) return failureOfGoogle(answered)
      const parsed = FreeBusy.safeParse(jsonOf(answered.body))
      if (!parsed.success) return { type: 'malformed', code: 'free_busy_shape' }
      return { type: 'read', busyByAddress: busyOfCalendars(part.addresses, parsed.data) }
    },
  })

const insertEvent = (call: GoogleCalls, draft: EventDraft, context: CallContext): Promise<InsertAnswer> =>
  call({
    operation: 'events.insert',
    context,
    send: (client, options) =>
      client.events.insert(
        {
          calendarId: draft.calendarAddress,
          sendUpdates: 'all',
          // Version 0, the default, ignores a conference request without a word.
          ...(draft.conference ? { conferenceDataVersion: 1 } : {}),
          requestBody: googleBodyOf(draft),
        },
        options,
      ),
    judge: (answered): InsertAnswer => {
      if (answered.status === 409) return { type: 'already_exists', eventId: googleEventId(draft) }
      const event = eventIn(answered, draft.calendarAddress)
      return 'eventId' in event ? { type: 'written', event } : event
    },
  })

const readEvent = (call: GoogleCalls, ref: EventRef, context: CallContext): Promise<ReadEventAnswer> =>
  call({
    operation: 'events.get',
    context,
    send: (client, options) =>
      client.events.get({ calendarId: ref.calendarAddress, eventId: ref.eventId }, options),
    judge: (answered): ReadEventAnswer => {
      if (isGone(answered)) return { type: 'not_found' }
      const event = eventIn(answered, ref.calendarAddress)
      return 'eventId' in event ? { type: 'found', event } : event
    },
  })

const eventIn = (answered: Answered, calendarAddress: string): ProviderEvent | CallFailure => {
  if (answered.status !== 200) return failureOfGoogle(answered)
  const parsed = GoogleEvent.safeParse(jsonOf(answered.body))
  if (!parsed.success) return { type: 'malformed', code: 'event_shape' }
  return eventOfGoogle(parsed.data, calendarAddress)
}

/** Absence counts only in Google's own words: a proxy's 404 page says nothing about the event. */
const isGone = (answered: Answered): boolean => {
  if (answered.status !== 404 && answered.status !== 410) return false
  const reason = googleRefusalOf(answered)?.reason
  return reason === 'notFound' || reason === 'deleted'
}

const Page = z.object({
  items: z.array(GoogleEvent).default([]),
  nextPageToken: z.string().optional(),
})

const findEvents = async (
  call: GoogleCalls,
  calendarAddress: string,
  operationId: string,
  context: CallContext,
): Promise<FindEventsAnswer> => {
  const events: ProviderEvent[] = []
  let pageToken: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await readPage(call, { calendarAddress, operationId, pageToken }, context)
    if (answer.type !== 'read') return answer
    const found = answer.page.items.map((event) => eventOfGoogle(event, calendarAddress))
    // The server filters already; an event without our identity must never be taken for ours, whatever it answers.
    events.push(...found.filter((event) => event.operationId === operationId))
    // A page may be empty and still not be the last (Calendar API guide, "Pagination").
    pageToken = answer.page.nextPageToken
    if (pageToken === undefined) return { type: 'read', events }
  }
  return { type: 'malformed', code: 'endless_pages' }
}

interface PageOf {
  readonly calendarAddress: string
  readonly operationId: string
  readonly pageToken: string | undefined
}
type PageAnswer = { readonly type: 'read'; readonly page: z.infer<typeof Page> } | CallFailure

const readPage = (
  call: GoogleCalls,
  { calendarAddress, operationId, pageToken }: PageOf,
  context: CallContext,
): Promise<PageAnswer> =>
  call({
    operation: 'events.list',
    context,
    send: (client, options) =>
      client.events.list(
        {
          calendarId: calendarAddress,
          privateExtendedProperty: [operationFilter(operationId)],
          showDeleted: true,
          ...(pageToken === undefined ? {} : { pageToken }),
        },
        options,
      ),
    judge: (answered): PageAnswer => {
      if (answered.status !== 200) return failureOfGoogle(answered)
      const parsed = Page.safeParse(jsonOf(answered.body))
      return parsed.success ? { type: 'read', page: parsed.data } : { type: 'malformed', code: 'list_shape' }
    },
  })

const cancelEvent = (call: GoogleCalls, ref: EventRef, context: CallContext): Promise<CancelAnswer> =>
  call({
    operation: 'events.delete',
    context,
    send: (client, options) =>
      client.events.delete(
        { calendarId: ref.calendarAddress, eventId: ref.eventId, sendUpdates: 'all' },
        options,
      ),
    judge: (answered): CancelAnswer => {
      if (isGone(answered)) return { type: 'already_gone' }
      if (answered.status < 200 || answered.status >= 300) return failureOfGoogle(answered)
      // An empty answer is the promise; a page of HTML with status 200 came from somewhere else.
      return answered.body === '' ? { type: 'cancelled' } : { type: 'malformed', code: 'delete_shape' }
    },
  })
