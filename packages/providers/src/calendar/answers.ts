/**
 * What answers about events mean, whoever gives them. A provider says in what words it speaks; the rest is the same for
 * all, so that no adapter takes for a success, or for an absence, what another would not.
 */
import type { z } from 'zod'
import type { CallFailure } from '../call.ts'
import { jsonOf } from '../http.ts'
import type { Answered } from '../http.ts'
import type {
  CancelAnswer,
  EventDraft,
  EventRef,
  FindEventsAnswer,
  ProviderEvent,
  ReadEventAnswer,
  UpdateAnswer,
} from './calendar.ts'

/** How one provider words what it answers about the events of a calendar. */
export interface Wording {
  readonly failureOf: (answered: Answered) => CallFailure
  /** The same of a call that writes: some refusals of a write have been seen to lie. */
  readonly failureOfWrite: (answered: Answered) => CallFailure
  /**
   * The event is gone, in the provider's own words. A 404 of a mailbox out of reach or of a proxy on the way says
   * nothing about the event.
   */
  readonly isGone: (answered: Answered) => boolean
  readonly eventOf: Reading<ProviderEvent>
  readonly pageOf: Reading<Page>
}

/** What a body of one calendar says, or undefined when it says nothing that can be relied on. */
export type Reading<T> = (body: unknown, calendarAddress: string) => T | undefined

/** Reads bodies of one shape. */
export const readingOf =
  <Shape, T>(shape: z.ZodType<Shape>, tell: (body: Shape, calendarAddress: string) => T): Reading<T> =>
  (body, calendarAddress) => {
    const parsed = shape.safeParse(body)
    return parsed.success ? tell(parsed.data, calendarAddress) : undefined
  }

export interface Page {
  readonly events: readonly ProviderEvent[]
  /** What asks for the page after this one; undefined on the last. A page may be empty and still not be the last. */
  readonly next: string | undefined
}
export type PageAnswer = { readonly type: 'read'; readonly page: Page } | CallFailure

type WrittenAnswer = Extract<UpdateAnswer, { readonly type: 'written' }> | CallFailure

/** One judge for each thing that can be asked, to be called with an answer that arrived whole. */
export const judgesOf = ({ failureOf, failureOfWrite, isGone, eventOf, pageOf }: Wording) => {
  const written = (answered: Answered, calendarAddress: string): WrittenAnswer => {
    if (!isSuccess(answered)) return failureOfWrite(answered)
    const event = eventOf(jsonOf(answered.body), calendarAddress)
    return event ? { type: 'written', event } : { type: 'malformed', code: 'event_shape' }
  }
  return {
    /**
     * `isOurs` tells whether an event can be the one that was asked for. One that cannot was given for another call, by
     * something on the way: taken for ours it would be changed, and cancelled, in its owner's place.
     */
    inserted: (
      answered: Answered,
      calendarAddress: string,
      isOurs: (event: ProviderEvent) => boolean,
    ): WrittenAnswer => {
      const answer = written(answered, calendarAddress)
      const isForeign = answer.type === 'written' && !isOurs(answer.event)
      return isForeign ? { type: 'malformed', code: 'event_identity' } : answer
    },
    found: (answered: Answered, calendarAddress: string): ReadEventAnswer => {
      if (isGone(answered)) return { type: 'not_found' }
      if (!isSuccess(answered)) return failureOf(answered)
      const event = eventOf(jsonOf(answered.body), calendarAddress)
      return event ? { type: 'found', event } : { type: 'malformed', code: 'event_shape' }
    },
    /** `guarded` says that the call named an etag: without one, a 412 says nothing about the event. */
    updated: (answered: Answered, calendarAddress: string, guarded: boolean): UpdateAnswer => {
      if (isGone(answered)) return { type: 'not_found' }
      if (guarded && answered.status === 412) return { type: 'stale' }
      const answer = written(answered, calendarAddress)
      // Somebody deleted it, and the provider changed what is left of it.
      const isDead = answer.type === 'written' && answer.event.status === 'cancelled'
      return isDead ? { type: 'not_found' } : answer
    },
    cancelled: (answered: Answered): CancelAnswer => {
      if (isGone(answered)) return { type: 'already_gone' }
      if (!isSuccess(answered)) return failureOf(answered)
      // An empty answer is the promise; a page of HTML with status 200 came from somewhere else.
      return answered.body === '' ? { type: 'cancelled' } : { type: 'malformed', code: 'cancel_shape' }
    },
    page: (answered: Answered, calendarAddress: string): PageAnswer => {
      if (!isSuccess(answered)) return failureOf(answered)
      const page = pageOf(jsonOf(answered.body), calendarAddress)
      return page ? { type: 'read', page } : { type: 'malformed', code: 'list_shape' }
    },
  }
}

const isSuccess = ({ status }: Answered): boolean => status >= 200 && status < 300

/** A listing that does not end is broken, not long: nobody has this many events of one operation. */
const PAGES_MAX = 100

/**
 * Follows a listing to its end and keeps what `isOurs`. The server filters already; an event without our identity must
 * never be taken for ours, whatever it answers.
 */
export const findOverPages = async (
  isOurs: (event: ProviderEvent) => boolean,
  readPage: (next: string | undefined) => Promise<PageAnswer>,
): Promise<FindEventsAnswer> => {
  const events: ProviderEvent[] = []
  let next: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await readPage(next)
    if (answer.type !== 'read') return answer
    events.push(...answer.page.events.filter(isOurs))
    next = answer.page.next
    if (next === undefined) return { type: 'read', events }
  }
  return { type: 'malformed', code: 'endless_pages' }
}

/** What `updateEvent` is asked for. */
export interface EventUpdate {
  readonly ref: EventRef
  readonly draft: EventDraft
  /** The event must still have it; undefined overwrites whatever is there. */
  readonly etag: string | undefined
}

/**
 * Updates an event without touching the conference that it has. Asked for once more, a Teams meeting has been seen to
 * disappear (Microsoft Q&A 2135978), and Meet makes another one in place of one that a person put there; so an event
 * whose draft wants a conference is looked at first, and one is asked for only where there is none.
 */
export const updateKeepingConference = async (
  update: EventUpdate,
  read: () => Promise<ReadEventAnswer>,
  write: (update: EventUpdate) => Promise<UpdateAnswer>,
): Promise<UpdateAnswer> => {
  const { draft } = update
  if (!draft.conference) return write(update)
  const held = await read()
  switch (held.type) {
    case 'found':
      if (held.event.status === 'cancelled') return { type: 'not_found' }
      return write({ ...update, draft: { ...draft, conference: held.event.conference === 'none' } })
    case 'uncertain':
    case 'malformed':
      // However the look ended, nothing was written.
      return { type: 'not_sent', code: held.code }
    case 'not_found':
    case 'not_sent':
    case 'refused':
    case 'throttled':
      return held
  }
}
