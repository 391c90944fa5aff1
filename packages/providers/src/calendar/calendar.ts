/**
 * What this product asks of a calendar, and every answer a calendar can give.
 *
 * An adapter never throws for the world's behaviour: it answers with one member of a closed union, and the
 * caller decides. Throwing is left to defects. All instants are UTC; intervals are half open, [start, end).
 */
import type { CallContext, CallFailure } from '../call.ts'

export type { CallContext } from '../call.ts'

export interface Interval {
  readonly start: Date
  readonly end: Date
}

/** A bearer token for one calendar, or why there is none. Asked for before every call; the source caches. */
export interface TokenSource {
  (context: CallContext): Promise<TokenAnswer>
  /**
   * Told of a token that the provider refused (401), so that it is not handed out again. Without this a grant that was
   * withdrawn early would look unauthenticated, not revoked, until the cached token runs out.
   */
  readonly forget?: (accessToken: string) => void
}
export type TokenAnswer =
  | { readonly type: 'token'; readonly accessToken: string }
  /** The grant is gone (revoked, expired, consent withdrawn). Only a person can bring it back. */
  | { readonly type: 'revoked'; readonly code: string }
  | { readonly type: 'unavailable'; readonly code: string; readonly retryAfterMs?: number }

export interface FreeBusyQuery {
  /** Calendar addresses to read. */
  readonly addresses: readonly string[]
  readonly window: Interval
}

/**
 * What is known of one calendar. `unknown` is never to be read as free: the provider answered for the others and
 * not for this one (no such person, no access, internal error), or the answer lacked it.
 */
export type CalendarBusy =
  | { readonly type: 'known'; readonly busy: readonly Interval[] }
  | { readonly type: 'unknown'; readonly reason: UnknownCalendarReason; readonly code: string }
export type UnknownCalendarReason =
  'not_found' | 'no_access' | 'too_many_entries' | 'internal' | 'missing' | 'other'

export type FreeBusyAnswer =
  { readonly type: 'read'; readonly busyByAddress: ReadonlyMap<string, CalendarBusy> } | CallFailure

export interface EventAttendee {
  readonly address: string
  readonly displayName: string
  readonly role: 'required' | 'optional'
}

/**
 * One event to write. The same draft is sent byte for byte on every retry: Microsoft refuses a known transactionId
 * with another body (ErrorDuplicateTransactionId).
 */
export interface EventDraft {
  /** Our identity of the write: stable across dispatchers, attempts and replays. A UUID. */
  readonly operationId: string
  /** Raised when the provider has used up the id (a deleted Google id stays taken). Starts at 0. */
  readonly epoch: number
  readonly calendarAddress: string
  readonly title: string
  readonly start: Date
  readonly end: Date
  /** IANA zone in which the organizer sees the event. */
  readonly timeZone: string
  readonly attendees: readonly EventAttendee[]
  readonly location: string | undefined
  /** True asks for a Meet or Teams conference. */
  readonly conference: boolean
}

/** Where an event lives at the provider. */
export interface EventRef {
  readonly calendarAddress: string
  readonly eventId: string
}

export interface ProviderEvent {
  readonly provider: 'google' | 'microsoft'
  readonly calendarAddress: string
  readonly eventId: string
  readonly etag: string
  /** The iCalendar UID, for the provider's ids alone have been seen to repeat (microsoft-graph-docs#7330). */
  readonly icalUid: string
  readonly status: 'confirmed' | 'tentative' | 'cancelled'
  readonly title: string
  /**
   * Undefined, like `end`, where the provider gives no instant: somebody made it an all-day event, or it is deleted and
   * only its id is left (Google Calendar API reference, Events, status).
   */
  readonly start: Date | undefined
  readonly end: Date | undefined
  /** As the provider names it; Microsoft answers UTC when asked to. */
  readonly timeZone: string
  readonly attendees: readonly ProviderAttendee[]
  readonly location: string | undefined
  /**
   * `failed` was asked for and refused; where Microsoft makes no meeting it says so by silence, which is `none`.
   */
  readonly conference: 'none' | 'pending' | 'failed' | 'ready'
  /** Where to join, an https address; undefined until the conference is ready. Whoever knows it may come in. */
  readonly conferenceUrl: string | undefined
  /** `default` is what a draft asks for; anything else is wider or narrower than approved. */
  readonly visibility: string
  /**
   * Our identity as read back from the private extended property; undefined when the event does not carry it, and in
   * Microsoft's answers to writes, which leave such properties out.
   */
  readonly operationId: string | undefined
}

export interface ProviderAttendee {
  /** Lower case. A legacy Exchange DN ("/o=ExchangeLabs/…") is passed through for the caller to judge. */
  readonly address: string
  readonly role: 'required' | 'optional'
  readonly response: 'needs_action' | 'accepted' | 'tentative' | 'declined'
  readonly organizer: boolean
}

export type InsertAnswer =
  | { readonly type: 'written'; readonly event: ProviderEvent }
  /** The identity is taken: by our earlier call, or by an event since deleted. Only a read tells which. */
  | { readonly type: 'already_exists'; readonly eventId: string | undefined }
  | CallFailure

export type UpdateAnswer =
  | { readonly type: 'written'; readonly event: ProviderEvent }
  /** Gone, or deleted and no more than a tombstone: there is nothing to change in place. */
  | { readonly type: 'not_found' }
  /**
   * The event is not the one that the etag named: somebody changed or deleted it, or it was our own earlier call, of
   * which we got no answer. Nothing was written by this one; a read tells which.
   */
  | { readonly type: 'stale' }
  | CallFailure

export type ReadEventAnswer =
  | { readonly type: 'found'; readonly event: ProviderEvent }
  /** 404. Right after a write this is not yet proof of absence: providers are eventually consistent. */
  | { readonly type: 'not_found' }
  | CallFailure

export type FindEventsAnswer =
  /** Live and cancelled events that carry our identity; events that the filter returned without it are left out. */
  { readonly type: 'read'; readonly events: readonly ProviderEvent[] } | CallFailure

export type CancelAnswer = { readonly type: 'cancelled' } | { readonly type: 'already_gone' } | CallFailure

/** A calendar provider. One value serves one connection: it holds that connection's token source and nothing else. */
export interface Calendar {
  readonly provider: 'google' | 'microsoft'
  /** Splits windows and address lists beyond the provider's limits and merges the parts; one failed part fails the read. */
  readFreeBusy(query: FreeBusyQuery, context: CallContext): Promise<FreeBusyAnswer>
  /** Writes one event and invites its attendees. Never retries by itself. */
  insertEvent(draft: EventDraft, context: CallContext): Promise<InsertAnswer>
  /**
   * Makes an event that exists hold what the draft says: title, times, attendees with their roles, location. It keeps
   * its id, our identity, a conference that it already has (one is added where the draft wants one and there is none),
   * and everything that a draft does not speak of. Attendees are told. What they answered is not carried over, for it
   * may have been an answer to another time: Google forgets it (nspady/google-calendar-mcp#148), Microsoft's own rules
   * decide there.
   *
   * `etag` is the event's as last read, and any change since, also an attendee's answer, makes it stale. Undefined
   * overwrites whatever is there. Never retries by itself.
   */
  updateEvent(
    ref: EventRef,
    draft: EventDraft,
    etag: string | undefined,
    context: CallContext,
  ): Promise<UpdateAnswer>
  readEvent(ref: EventRef, context: CallContext): Promise<ReadEventAnswer>
  /** Finds events by our identity, over all epochs, following every page. */
  findEvents(calendarAddress: string, operationId: string, context: CallContext): Promise<FindEventsAnswer>
  /** Cancels and tells the attendees. An event already gone counts as such, not as an error. */
  cancelEvent(ref: EventRef, context: CallContext): Promise<CancelAnswer>
}
