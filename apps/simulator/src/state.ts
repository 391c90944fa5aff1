/**
 * The outside world of one running simulator. It lives in memory and dies with the process: it plays other
 * people's systems, whose state is not ours to keep.
 */
import type {
  BusyStatus,
  LedgerEntry,
  Person,
  Provider,
  RequestEntry,
  Response,
  WebhookInbox,
} from './contract.ts'
import type { Exchanged } from './exchange.ts'
import { clearFaults } from './faults.ts'
import type { ScriptedFault } from './faults.ts'
import type { Mailbox } from './mail/contract.ts'
import { occurrencesOf } from './series.ts'
import { instantOf } from './zone.ts'

export type EventTime =
  | { readonly type: 'timed'; readonly start: Date; readonly end: Date; readonly timeZone: string }
  /** Floating dates, the end exclusive: which instants they are depends on who looks. */
  | { readonly type: 'all_day'; readonly start: string; readonly end: string }

export interface HeldAttendee {
  readonly address: string
  readonly displayName: string | undefined
  readonly kind: 'required' | 'optional' | 'resource'
  readonly response: Response
  readonly respondedAt: Date | undefined
}

export type Conference =
  | { readonly type: 'none' }
  | { readonly type: 'pending' | 'ready' | 'failed'; readonly requestId: string; readonly url: string }

export interface HeldEvent {
  readonly provider: Provider
  /** The organizer's calendar. Attendees' copies are not kept apart; their free/busy follows this one. */
  readonly calendarAddress: string
  /** The lasting id: on Microsoft the immutable one. */
  readonly id: string
  /** What Microsoft calls the event unless asked for immutable ids; the same as `id` on Google. */
  readonly defaultId: string
  readonly icalUid: string
  readonly createdAt: Date
  readonly transactionId: string | undefined
  /** How many reads it is still missing from. */
  readsToMiss: number
  updatedAt: Date
  /** Grows with every change; etags and change keys are made from it. */
  version: number
  /** Grows with every change of time, as in RFC 5545. */
  sequence: number
  status: 'confirmed' | 'tentative' | 'cancelled'
  title: string
  time: EventTime
  attendees: readonly HeldAttendee[]
  showAs: BusyStatus
  location: string | undefined
  conference: Conference
  /** Private extended properties by name (Google) or by property id (Microsoft). */
  properties: ReadonlyMap<string, string>
  sharedProperties: ReadonlyMap<string, string>
  /** The vendor's other fields, given back as they were given. */
  echoes: Readonly<Record<string, unknown>>
}

/** A Microsoft transactionId that was used: what it created, and the body that it came with. */
interface Transaction {
  readonly event: HeldEvent
  readonly body: string
}

export interface AccessToken {
  readonly provider: Provider
  /** Undefined for an application token, which may act on every mailbox. */
  readonly address: string | undefined
  readonly expiresAt: Date
}

export type HeldMailbox = { -readonly [K in keyof Mailbox]: Mailbox[K] }

export type HeldWebhookInbox = WebhookInbox & { secret: string | null }

export interface World {
  readonly people: Map<string, Person>
  /** Refresh token to the person it was granted by. */
  readonly grants: Map<string, string>
  readonly accessTokens: Map<string, AccessToken>
  readonly events: HeldEvent[]
  /** By calendar address and transactionId. */
  readonly transactions: Map<string, Transaction>
  readonly inboxes: Map<string, HeldWebhookInbox>
  readonly mailboxes: Map<string, HeldMailbox>
  readonly ledger: LedgerEntry[]
  readonly requests: RequestEntry[]
  readonly faults: ScriptedFault[]
  readonly readsMissFor: Record<Provider, number>
  readonly scannedPerPage: Record<Provider, number | null>
  /** Told of every exchange; survives a reset, for it belongs to whoever started the simulator. */
  readonly observe: (exchanged: Exchanged) => void
}

export const emptyWorld = (observe: World['observe'] = () => undefined): World => ({
  observe,
  people: new Map(),
  grants: new Map(),
  accessTokens: new Map(),
  events: [],
  transactions: new Map(),
  inboxes: new Map(),
  mailboxes: new Map(),
  ledger: [],
  requests: [],
  faults: [],
  readsMissFor: { google: 0, microsoft: 0 },
  scannedPerPage: { google: null, microsoft: null },
})

/** Empties the world in place; calls that a fault holds go on. */
export const resetWorld = (world: World): void => {
  clearFaults(world)
  const { people, grants, accessTokens, transactions, inboxes, mailboxes } = world
  for (const map of [people, grants, accessTokens, transactions, inboxes, mailboxes]) map.clear()
  for (const list of [world.events, world.ledger, world.requests]) list.length = 0
  Object.assign(world.readsMissFor, { google: 0, microsoft: 0 })
  Object.assign(world.scannedPerPage, { google: null, microsoft: null })
}

/**
 * Adds or replaces a person. Another refresh token than before ends the earlier grant and its access tokens.
 */
export const putPerson = (world: World, person: Person): void => {
  const before = world.people.get(person.address)
  if (before && before.refreshToken !== person.refreshToken) revokeGrants(world, person.address)
  if (person.refreshToken !== null) world.grants.set(person.refreshToken, person.address)
  world.people.set(person.address, person)
}

const revokeGrants = (world: World, address: string): void => {
  for (const [token, owner] of world.grants) if (owner === address) world.grants.delete(token)
  for (const [token, grant] of world.accessTokens) {
    if (grant.address === address) world.accessTokens.delete(token)
  }
}

/** Notes that an event has changed: its etag is another from now on. */
export const touch = (event: HeldEvent, at: Date): void => {
  event.version += 1
  event.updatedAt = at
}

/** A just-created event may be missing from reads for a while; each read brings it nearer. */
export const isMissed = (event: HeldEvent): boolean => {
  if (event.readsToMiss === 0) return false
  event.readsToMiss -= 1
  return true
}

export interface Interval {
  readonly start: Date
  readonly end: Date
}

/** The instants of an event; whole days begin at midnight of the zone from which it is looked at. */
export const intervalOf = (time: EventTime, viewedFrom: string): Interval => {
  if (time.type === 'timed') return { start: time.start, end: time.end }
  return { start: midnight(time.start, viewedFrom), end: midnight(time.end, viewedFrom) }
}

const midnight = (date: string, zone: string): Date =>
  instantOf(`${date}T00:00:00`, zone) ?? new Date(`${date}T00:00:00Z`)

export interface Occupied extends Interval {
  readonly status: BusyStatus
  readonly title: string | undefined
}

/**
 * What occupies a person between two instants: the blocks given through control, each time that they take place, the live
 * events of their own calendar, and those they are invited to and have not declined. An unanswered invitation is tentative;
 * Google's free/busy counts it as busy and Microsoft's shows it as tentative (Nylas docs, check free/busy).
 */
export const occupiedBy = (
  world: World,
  person: Person,
  window: Interval,
  viewedFrom: string,
): Occupied[] => {
  const blocks = person.busy.flatMap((block) =>
    occurrencesOf(block, person.timeZone).map(({ start, end }) => ({
      ...(start.length === 10
        ? { start: midnight(start, viewedFrom), end: midnight(end, viewedFrom) }
        : { start: new Date(start), end: new Date(end) }),
      status: block.status,
      title: undefined,
    })),
  )
  const events = world.events.flatMap((event) => {
    const status = statusFor(event, person.address)
    return status ? [{ ...intervalOf(event.time, viewedFrom), status, title: event.title }] : []
  })
  return [...blocks, ...events]
    .filter(({ start, end }) => start < window.end && end > window.start)
    .sort((a, b) => a.start.getTime() - b.start.getTime())
}

const statusFor = (event: HeldEvent, address: string): BusyStatus | undefined => {
  if (event.status === 'cancelled') return undefined
  if (event.calendarAddress === address) return event.showAs
  const attendee = event.attendees.find((each) => each.address === address)
  if (!attendee || attendee.response === 'declined') return undefined
  return attendee.response === 'accepted' || event.showAs === 'free' ? event.showAs : 'tentative'
}
