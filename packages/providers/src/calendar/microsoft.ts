import { z } from 'zod'
import type { CallContext, CallFailure } from '../call.ts'
import { jsonOf } from '../http.ts'
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
} from './calendar.ts'
import { GRAPH_URL, GRAPH_VERSION, graphCalls } from './graph.ts'
import type { GraphCalls, GraphOptions } from './graph.ts'
import { busyOfSchedules, Schedules } from './microsoft-busy.ts'
import { existingEventIdOf, failureOfGraph, failureOfGraphCreate, graphCodeOf } from './microsoft-errors.ts'
import {
  EXPAND_OPERATION,
  MicrosoftEvent,
  eventOfMicrosoft,
  microsoftBodyOf,
  operationFilter,
  withoutOffset,
} from './microsoft-event.ts'

/**
 * Documented limits (Microsoft Graph docs, calendar: getSchedule): 20 schedules and less than 62 days. A part is asked
 * for with a day more to each side.
 */
const LIMITS = { windowMaxMs: 58 * DAY_MS, addressesMax: 20 } as const

const VIEW_INTERVAL_MINUTES = 30

/** A listing that does not end is broken, not long: nobody has this many events of one operation. */
const PAGES_MAX = 100

/** Outlook calendars over Microsoft Graph: one method, one request per page or part, none repeated. */
export const microsoftCalendar = (options: GraphOptions): Calendar => {
  const call = graphCalls(options)
  const root = `${(options.baseUrl ?? GRAPH_URL).replace(/\/+$/, '')}/${GRAPH_VERSION}/`
  return {
    provider: 'microsoft',
    readFreeBusy: (query, context) => readInParts(query, LIMITS, (part) => readPart(call, part, context)),
    insertEvent: (draft, context) => insertEvent(call, draft, context),
    readEvent: (ref, context) => readEvent(call, ref, context),
    findEvents: (calendarAddress, operationId, context) =>
      findEvents(call, { calendarAddress, operationId, root }, context),
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

const insertEvent = (call: GraphCalls, draft: EventDraft, context: CallContext): Promise<InsertAnswer> =>
  call({
    operation: 'events.create',
    context,
    path: eventsPath(draft.calendarAddress),
    send: (request) => request.post(microsoftBodyOf(draft)),
    judge: (answered): InsertAnswer => {
      // Seen with 400; some clients expect 409. The code decides.
      if (graphCodeOf(answered) === 'ErrorDuplicateTransactionId') {
        return { type: 'already_exists', eventId: existingEventIdOf(answered) }
      }
      if (!isSuccess(answered)) return failureOfGraphCreate(answered)
      const event = eventIn(answered, draft.calendarAddress)
      return 'eventId' in event ? { type: 'written', event } : event
    },
  })

const readEvent = (call: GraphCalls, ref: EventRef, context: CallContext): Promise<ReadEventAnswer> =>
  call({
    operation: 'events.get',
    context,
    path: eventPath(ref),
    send: (request) => request.query({ $expand: encodeURIComponent(EXPAND_OPERATION) }).get(),
    judge: (answered): ReadEventAnswer => {
      if (isGone(answered)) return { type: 'not_found' }
      if (!isSuccess(answered)) return failureOfGraph(answered)
      const event = eventIn(answered, ref.calendarAddress)
      return 'eventId' in event ? { type: 'found', event } : event
    },
  })

const isSuccess = ({ status }: Answered): boolean => status >= 200 && status < 300

const eventIn = (answered: Answered, calendarAddress: string): ProviderEvent | CallFailure => {
  const parsed = MicrosoftEvent.safeParse(jsonOf(answered.body))
  return parsed.success
    ? eventOfMicrosoft(parsed.data, calendarAddress)
    : { type: 'malformed', code: 'event_shape' }
}

/**
 * Absence of the event, and of nothing else: a 404 is also the answer for a mailbox that cannot be reached
 * (MailboxNotEnabledForRESTAPI, ErrorInvalidUser) and of any proxy on the way.
 */
const isGone = (answered: Answered): boolean =>
  answered.status === 404 && graphCodeOf(answered) === 'ErrorItemNotFound'

const Page = z.object({
  value: z.array(MicrosoftEvent),
  '@odata.nextLink': z.string().optional(),
})

interface Search {
  readonly calendarAddress: string
  readonly operationId: string
  /** What a next link must begin with. */
  readonly root: string
}

const findEvents = async (
  call: GraphCalls,
  search: Search,
  context: CallContext,
): Promise<FindEventsAnswer> => {
  const wanted = search.operationId.toLowerCase()
  const events: ProviderEvent[] = []
  let path: string | undefined = firstPagePath(search)
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer: PageAnswer = await readPage(call, path, context)
    if (answer.type !== 'read') return answer
    const found = answer.page.value.map((event) => eventOfMicrosoft(event, search.calendarAddress))
    // The server filters already; an event without our identity must never be taken for ours. Values compare in any case.
    events.push(...found.filter(({ operationId }) => operationId?.toLowerCase() === wanted))
    const nextLink = answer.page['@odata.nextLink']
    if (nextLink === undefined) return { type: 'read', events }
    // The link is followed with the bearer token, so it must not lead elsewhere.
    if (!nextLink.startsWith(search.root)) return { type: 'malformed', code: 'foreign_next_link' }
    path = `/${nextLink.slice(search.root.length)}`
  }
  return { type: 'malformed', code: 'endless_pages' }
}

const firstPagePath = ({ calendarAddress, operationId }: Search): string => {
  const filter = encodeURIComponent(operationFilter(operationId))
  const expand = encodeURIComponent(EXPAND_OPERATION)
  return `${eventsPath(calendarAddress)}?$filter=${filter}&$expand=${expand}&$top=50`
}

type PageAnswer = { readonly type: 'read'; readonly page: z.infer<typeof Page> } | CallFailure

const readPage = (call: GraphCalls, path: string, context: CallContext): Promise<PageAnswer> =>
  call({
    operation: 'events.list',
    context,
    path,
    send: (request) => request.get(),
    judge: (answered): PageAnswer => {
      if (!isSuccess(answered)) return failureOfGraph(answered)
      const parsed = Page.safeParse(jsonOf(answered.body))
      return parsed.success ? { type: 'read', page: parsed.data } : { type: 'malformed', code: 'list_shape' }
    },
  })

const cancelEvent = (call: GraphCalls, ref: EventRef, context: CallContext): Promise<CancelAnswer> =>
  call({
    operation: 'events.cancel',
    context,
    path: `${eventPath(ref)}/cancel`,
    send: (request) => request.post({}),
    judge: (answered): CancelAnswer => {
      if (isGone(answered)) return { type: 'already_gone' }
      if (!isSuccess(answered)) return failureOfGraph(answered)
      // 202 without a body is the promise; a page of HTML with status 200 came from somewhere else.
      return answered.body === '' ? { type: 'cancelled' } : { type: 'malformed', code: 'cancel_shape' }
    },
  })
