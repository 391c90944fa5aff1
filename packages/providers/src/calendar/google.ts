import { z } from 'zod'
import { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import type { CallContext, CallFailure } from '../call.ts'
import { exchangeThrough, jsonOf } from '../http.ts'
import type { Answered } from '../http.ts'
import { findOverPages, judgesOf, readingOf, updateKeepingConference } from './answers.ts'
import type { EventUpdate, PageAnswer } from './answers.ts'
import { DAY_MS, readInParts } from './busy.ts'
import type { PartAnswer, ReadPart } from './busy.ts'
import type {
  Calendar,
  CancelAnswer,
  EventDraft,
  EventRef,
  InsertAnswer,
  ReadEventAnswer,
  TokenSource,
  UpdateAnswer,
} from './calendar.ts'
import { busyOfCalendars, FreeBusy } from './google-busy.ts'
import { failureOfGoogle, googleRefusalOf } from './google-errors.ts'
import {
  GoogleEvent,
  eventOfGoogle,
  googleBodyOf,
  googleEventId,
  googlePatchOf,
  operationFilter,
} from './google-event.ts'
import { callAuthorised } from './tokens.ts'

export interface GoogleCalendarOptions {
  /** Where the API lives, with a closing slash. Default: Google. */
  readonly rootUrl?: string
  readonly tokens: TokenSource
}

/** The window limit is not documented; three months were seen to be refused (timeRangeTooLong), so we stay well below. */
const LIMITS = { windowMaxMs: 60 * DAY_MS, addressesMax: 50 } as const

/** Google Calendar over Google's own client, without its retries: one method, one request per page or part. */
export const googleCalendar = (options: GoogleCalendarOptions): Calendar => {
  const call = googleCalls(options)
  return {
    provider: 'google',
    readFreeBusy: (query, context) => readInParts(query, LIMITS, (part) => readPart(call, part, context)),
    insertEvent: (draft, context) => insertEvent(call, draft, context),
    updateEvent: (ref, draft, etag, context) => updateEvent(call, { ref, draft, etag }, context),
    readEvent: (ref, context) => readEvent(call, ref, context),
    findEvents: (calendarAddress, operationId, context) =>
      findOverPages(
        (event) => event.operationId === operationId,
        (pageToken) => readPage(call, { calendarAddress, operationId, pageToken }, context),
      ),
    cancelEvent: (ref, context) => cancelEvent(call, ref, context),
  }
}

type MethodOptions = Omit<calendar_v3.Options, 'version' | 'auth'>

interface GoogleCall<T> {
  readonly operation: string
  readonly context: CallContext
  /** The etag that the event must still have. */
  readonly ifMatch?: string | undefined
  readonly send: (client: calendar_v3.Calendar, options: MethodOptions) => Promise<unknown>
  readonly judge: (answered: Answered) => T
}
type GoogleCalls = <T extends { readonly type: string }>(call: GoogleCall<T>) => Promise<T | CallFailure>

const googleCalls = ({ rootUrl, tokens }: GoogleCalendarOptions): GoogleCalls => {
  const client = new calendar_v3.Calendar({})
  return ({ operation, context, ifMatch, send, judge }) =>
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
            headers: {
              authorization: `Bearer ${accessToken}`,
              ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
            },
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

const Page = z.object({
  items: z.array(GoogleEvent).default([]),
  nextPageToken: z.string().optional(),
})

const judge = judgesOf({
  failureOf: failureOfGoogle,
  failureOfWrite: failureOfGoogle,
  isGone: (answered) =>
    (answered.status === 404 || answered.status === 410) &&
    ['notFound', 'deleted'].includes(googleRefusalOf(answered)?.reason ?? ''),
  eventOf: readingOf(GoogleEvent, eventOfGoogle),
  pageOf: readingOf(Page, ({ items, nextPageToken }, calendarAddress) => ({
    events: items.map((event) => eventOfGoogle(event, calendarAddress)),
    next: nextPageToken,
  })),
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
    judge: (answered): InsertAnswer =>
      answered.status === 409
        ? { type: 'already_exists', eventId: googleEventId(draft) }
        : judge.inserted(answered, draft.calendarAddress, ({ eventId }) => eventId === googleEventId(draft)),
  })

const updateEvent = (call: GoogleCalls, update: EventUpdate, context: CallContext): Promise<UpdateAnswer> => {
  const read = () => readEvent(call, update.ref, context)
  return updateKeepingConference(update, read, async (asked) => {
    const answer = await patchEvent(call, asked, context)
    if (answer.type !== 'refused' || answer.code !== 'forbidden') return answer
    // So is refused what our grant does not cover, and in the same words a write to a deleted event
    // (google-api-ruby-client#1811). Only a look at the event tells them apart; nothing is written again.
    const held = await read()
    const isDeleted = held.type === 'found' && held.event.status === 'cancelled'
    return isDeleted || held.type === 'not_found' ? { type: 'not_found' } : answer
  })
}

const patchEvent = (call: GoogleCalls, update: EventUpdate, context: CallContext): Promise<UpdateAnswer> => {
  const { ref, etag } = update
  return call({
    operation: 'events.patch',
    context,
    ifMatch: etag,
    send: (client, options) =>
      client.events.patch(
        {
          calendarId: ref.calendarAddress,
          eventId: ref.eventId,
          sendUpdates: 'all',
          // Also for an event that only keeps its conference: version 0 speaks for a client that knows none.
          conferenceDataVersion: 1,
          requestBody: googlePatchOf(update),
        },
        options,
      ),
    judge: (answered) => judge.updated(answered, ref.calendarAddress, etag !== undefined),
  })
}

const readEvent = (call: GoogleCalls, ref: EventRef, context: CallContext): Promise<ReadEventAnswer> =>
  call({
    operation: 'events.get',
    context,
    send: (client, options) =>
      client.events.get({ calendarId: ref.calendarAddress, eventId: ref.eventId }, options),
    judge: (answered) => judge.found(answered, ref.calendarAddress),
  })

interface PageOf {
  readonly calendarAddress: string
  readonly operationId: string
  readonly pageToken: string | undefined
}

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
    judge: (answered) => judge.page(answered, calendarAddress),
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
    judge: judge.cancelled,
  })
