import { z } from 'zod'
import type { CallContext } from '../call.ts'
import { jsonOf } from '../http.ts'
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
  ProviderEvent,
  ReadEventAnswer,
  UpdateAnswer,
} from './calendar.ts'
import { GRAPH_URL, GRAPH_VERSION, graphCalls } from './graph.ts'
import type { GraphCalls, GraphOptions } from './graph.ts'
import { busyOfSchedules, Schedules } from './microsoft-busy.ts'
import { existingEventIdOf, failureOfGraph, failureOfGraphWrite, graphCodeOf } from './microsoft-errors.ts'
import {
  EXPAND_OPERATION,
  MicrosoftEvent,
  eventOfMicrosoft,
  microsoftBodyOf,
  microsoftPatchOf,
  operationFilter,
  transactionIdOf,
  withoutOffset,
} from './microsoft-event.ts'

/**
 * Documented limits (Microsoft Graph docs, calendar: getSchedule): 20 schedules and less than 62 days. A part is asked
 * for with a day more to each side.
 */
const LIMITS = { windowMaxMs: 58 * DAY_MS, addressesMax: 20 } as const

/** Must fit into the window that is asked for (PlaceOS/office365#29), which has a day more to each side than any query. */
const VIEW_INTERVAL_MINUTES = 30

/** Outlook calendars over Microsoft Graph: one method, one request per page or part, none repeated. */
export const microsoftCalendar = (options: GraphOptions): Calendar => {
  const call = graphCalls(options)
  const root = `${(options.baseUrl ?? GRAPH_URL).replace(/\/+$/, '')}/${GRAPH_VERSION}/`
  return {
    provider: 'microsoft',
    readFreeBusy: (query, context) => readInParts(query, LIMITS, (part) => readPart(call, part, context)),
    insertEvent: (draft, context) => insertEvent(call, draft, context),
    updateEvent: (ref, draft, etag, context) => updateEvent(call, { ref, draft, etag }, context),
    readEvent: (ref, context) => readEvent(call, ref, context),
    findEvents: (calendarAddress, operationId, context) =>
      findOverPages(
        // Values of extended properties compare in any case.
        (event) => event.operationId?.toLowerCase() === operationId.toLowerCase(),
        (nextLink) => readPage(call, { calendarAddress, operationId, root, nextLink }, context),
      ),
    cancelEvent: (ref, context) => cancelEvent(call, ref, context),
  }
}

const eventsPath = (calendarAddress: string): string => `/users/${encodeURIComponent(calendarAddress)}/events`
const eventPath = ({ calendarAddress, eventId }: EventRef): string =>
  `${eventsPath(calendarAddress)}/${encodeURIComponent(eventId)}`

/** Asked from the token owner's own mailbox, which sees its own calendar and whatever others share with it. */
const readPart = (call: GraphCalls, part: ReadPart, context: CallContext): Promise<PartAnswer> =>
  call({
    operation: 'calendar.getSchedule',
    context,
    path: '/me/calendar/getSchedule',
    send: (request) =>
      request.post({
        schedules: part.addresses,
        // All-day items are matched against the window as floating midnights, so those at its edges need a day's room.
        startTime: {
          dateTime: withoutOffset(new Date(part.window.start.getTime() - DAY_MS)),
          timeZone: 'UTC',
        },
        endTime: { dateTime: withoutOffset(new Date(part.window.end.getTime() + DAY_MS)), timeZone: 'UTC' },
        availabilityViewInterval: VIEW_INTERVAL_MINUTES,
      }),
    judge: (answered): PartAnswer => {
      if (answered.status !== 200) return failureOfGraph(answered)
      const parsed = Schedules.safeParse(jsonOf(answered.body))
      if (!parsed.success) return { type: 'malformed', code: 'schedule_shape' }
      return { type: 'read', busyByAddress: busyOfSchedules(part.addresses, parsed.data) }
    },
  })

const Page = z.object({
  value: z.array(MicrosoftEvent),
  '@odata.nextLink': z.string().optional(),
})

const judge = judgesOf({
  failureOf: failureOfGraph,
  failureOfWrite: failureOfGraphWrite,
  // A 404 is also the answer for a mailbox that cannot be reached (MailboxNotEnabledForRESTAPI, ErrorInvalidUser).
  isGone: (answered) => answered.status === 404 && graphCodeOf(answered) === 'ErrorItemNotFound',
  eventOf: readingOf(MicrosoftEvent, eventOfMicrosoft),
  pageOf: readingOf(Page, (page, calendarAddress) => ({
    events: page.value.map((event) => eventOfMicrosoft(event, calendarAddress)),
    next: page['@odata.nextLink'],
  })),
})

const insertEvent = (call: GraphCalls, draft: EventDraft, context: CallContext): Promise<InsertAnswer> =>
  call({
    operation: 'events.create',
    context,
    path: eventsPath(draft.calendarAddress),
    send: (request) => request.post(microsoftBodyOf(draft)),
    judge: (answered): InsertAnswer =>
      // Seen with 400; some clients expect 409. The code decides.
      graphCodeOf(answered) === 'ErrorDuplicateTransactionId'
        ? { type: 'already_exists', eventId: existingEventIdOf(answered) }
        : judge.inserted(answered, draft.calendarAddress, (event) => isAnswerTo(draft, answered, event)),
  })

const Named = z.object({ transactionId: z.string().nullish() })

/**
 * Graph chooses the id, so the transaction that an event names tells whose it is, also when the event was moved since. One
 * that names none is told by its time.
 */
const isAnswerTo = (draft: EventDraft, { body }: Answered, { start, end }: ProviderEvent): boolean => {
  const transactionId = Named.safeParse(jsonOf(body)).data?.transactionId ?? undefined
  return transactionId === undefined
    ? start?.getTime() === draft.start.getTime() && end?.getTime() === draft.end.getTime()
    : transactionId.toLowerCase() === transactionIdOf(draft).toLowerCase()
}

/**
 * Graph honours If-Match here without documenting it, and now and then refuses with 412 a call that named no etag at all
 * (microsoft-graph-docs-contrib#7934).
 */
const updateEvent = (call: GraphCalls, update: EventUpdate, context: CallContext): Promise<UpdateAnswer> => {
  const { ref, etag } = update
  const read = () => readEvent(call, ref, context)
  return updateKeepingConference(update, read, ({ draft }) =>
    call({
      operation: 'events.patch',
      context,
      path: eventPath(ref),
      ifMatch: etag,
      send: (request) => request.patch(microsoftPatchOf(draft)),
      judge: (answered) => judge.updated(answered, ref.calendarAddress, etag !== undefined),
    }),
  )
}

const readEvent = (call: GraphCalls, ref: EventRef, context: CallContext): Promise<ReadEventAnswer> =>
  call({
    operation: 'events.get',
    context,
    path: eventPath(ref),
    send: (request) => request.query({ $expand: encodeURIComponent(EXPAND_OPERATION) }).get(),
    judge: (answered) => judge.found(answered, ref.calendarAddress),
  })

interface PageOf {
  readonly calendarAddress: string
  readonly operationId: string
  /** What a next link must begin with: it is followed with the bearer token, so it must not lead elsewhere. */
  readonly root: string
  readonly nextLink: string | undefined
}

const readPage = async (call: GraphCalls, page: PageOf, context: CallContext): Promise<PageAnswer> => {
  const { calendarAddress, root, nextLink } = page
  if (nextLink !== undefined && !nextLink.startsWith(root)) {
    return { type: 'malformed', code: 'foreign_next_link' }
  }
  return call({
    operation: 'events.list',
    context,
    path: nextLink === undefined ? firstPagePath(page) : `/${nextLink.slice(root.length)}`,
    send: (request) => request.get(),
    judge: (answered) => judge.page(answered, calendarAddress),
  })
}

const firstPagePath = ({ calendarAddress, operationId }: PageOf): string => {
  const filter = encodeURIComponent(operationFilter(operationId))
  const expand = encodeURIComponent(EXPAND_OPERATION)
  return `${eventsPath(calendarAddress)}?$filter=${filter}&$expand=${expand}&$top=50`
}

const cancelEvent = (call: GraphCalls, ref: EventRef, context: CallContext): Promise<CancelAnswer> =>
  call({
    operation: 'events.cancel',
    context,
    path: `${eventPath(ref)}/cancel`,
    send: (request) => request.post({}),
    judge: judge.cancelled,
  })
