/**
 * The control API as schemas: what a test or a demo may ask of the simulated world, and what it answers.
 * The server validates requests with them and the client validates answers.
 */
import { z } from 'zod'

const Address = z
  .string()
  .min(3)
  .transform((address) => address.toLowerCase())
const Instant = z.iso.datetime({ offset: true })

export const Provider = z.enum(['google', 'microsoft'])
export type Provider = z.infer<typeof Provider>

/** Every operation a fault can be scripted for and the request log can show, by who answers it. */
const operationsByProvider = {
  google: [
    'token',
    'freebusy.query',
    'events.insert',
    'events.get',
    'events.list',
    'events.patch',
    'events.delete',
  ],
  microsoft: [
    'token',
    'openid.discovery',
    'calendar.getSchedule',
    'events.create',
    'events.get',
    'events.list',
    'events.patch',
    'events.cancel',
    'events.delete',
  ],
  webhook: ['webhook.deliver'],
  /** The greeting, the recipient, and the mail once its final dot has come. */
  mail: ['smtp.connect', 'smtp.rcpt', 'smtp.send'],
} as const
export const Peer = z.enum(['google', 'microsoft', 'webhook', 'mail'])
export type Peer = z.infer<typeof Peer>

/** Vendor spelling, as in Graph's freeBusyStatus. Google shows `free` and `workingElsewhere` as not busy. */
export const BusyStatus = z.enum(['busy', 'tentative', 'oof', 'free', 'workingElsewhere'])
export type BusyStatus = z.infer<typeof BusyStatus>

/** What makes a series of a block, by the wall clock of the zone that its person lives in. */
const Repeats = z.object({
  every: z.enum(['day', 'week']),
  /** The last date on which it may begin. */
  until: z.iso.date(),
  /** Dates on which it does not begin: that occurrence was deleted, or moved and is a block of its own. */
  except: z.array(z.iso.date()).default([]),
})

/** Two instants, or two dates for whole days (the end date is exclusive). */
export const BusyBlock = z.object({
  start: z.union([Instant, z.iso.date()]),
  end: z.union([Instant, z.iso.date()]),
  status: BusyStatus.default('busy'),
  repeats: Repeats.optional(),
})
export type BusyBlock = z.infer<typeof BusyBlock>

/**
 * What free/busy answers for a calendar. `left_out` answers for the others and omits this one; `no_mailbox` is a
 * known person without a calendar, on Microsoft also for every call on the mailbox itself, on Google not found;
 * `too_many_entries` is Microsoft's 5006 and shows as an internal error on Google.
 */
export const Readable = z.enum([
  'yes',
  'no_access',
  'unknown_person',
  'no_mailbox',
  'internal_error',
  'too_many_entries',
  'left_out',
])
export type Readable = z.infer<typeof Readable>

export const Person = z.object({
  address: Address,
  provider: Provider,
  /** IANA */
  timeZone: z.string(),
  busy: z.array(BusyBlock).default([]),
  /** Replacing it, or giving null, revokes the earlier grant together with its access tokens. */
  refreshToken: z.string().min(1).nullable().default(null),
  readable: Readable.default('yes'),
  /** False: Meet conferences fail, Teams meetings are silently not made. `pending`: Meet conferences stay pending. */
  onlineMeetings: z.union([z.boolean(), z.literal('pending')]).default(true),
  /** What the grant covers: a person may have left a box unticked when asked for consent. */
  granted: z.enum(['calendar', 'free_busy']).default('calendar'),
  /**
   * True: on Microsoft, events show this attendee under a legacy Exchange name instead of the address
   * (microsoft-graph-docs#13898).
   */
  legacyDn: z.boolean().default(false),
  /** False: both providers refuse this address as an attendee although it is well formed. */
  invitable: z.boolean().default(true),
})
export type Person = z.infer<typeof Person>
export const People = z.array(Person)

const When = z.enum(['before_effect', 'after_effect'])

export const FaultAct = z.discriminatedUnion('type', [
  /** The answer comes late; the effect at once, or with `before_effect` as late as the answer. */
  z.object({
    type: z.literal('delay'),
    delayMs: z.int().nonnegative(),
    when: When.default('after_effect'),
  }),
  /** The socket is destroyed without an answer. */
  z.object({ type: z.literal('drop'), when: When }),
  /**
   * A scripted answer, and no effect unless it is `after_effect`: then the answer lies. A string body is sent as it is, anything else as JSON. For mail the status is an
   * SMTP reply code, 250 or a refusal, and the body its text with the enhanced status code.
   */
  z.object({
    type: z.literal('answer'),
    status: z.int().min(200).max(599),
    when: When.optional(),
    body: z.unknown(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
  /** The effect happens; half of a 2xx body arrives under the full Content-Length, then the socket dies. */
  z.object({ type: z.literal('truncate') }),
  /** The effect happens; a 2xx answer is replaced by an HTML page with status 200. */
  z.object({ type: z.literal('html') }),
  /** The call waits until the fault is released; its effect has happened by then, unless `before_effect`. */
  z.object({ type: z.literal('hold'), when: When.default('after_effect') }),
])
export type FaultAct = z.infer<typeof FaultAct>

const isMailAct = (act: FaultAct): boolean =>
  act.type === 'answer'
    ? act.when !== 'after_effect' && (act.status === 250 || act.status >= 400)
    : act.type !== 'truncate' && act.type !== 'html'

export const FaultSpec = z
  .object({
    /** The caller's name for it; taken until faults are cleared. */
    id: z.string().min(1),
    provider: Peer,
    operation: z.string(),
    /** A calendar the call is about (for free/busy also any one asked for), a webhook's name, or a recipient. */
    address: Address.optional(),
    /** Matching calls let through first. */
    skip: z.int().nonnegative().default(0),
    times: z.int().positive().default(1),
    act: FaultAct,
  })
  .refine(({ provider, operation }) => operationsByProvider[provider].some((known) => known === operation), {
    path: ['operation'],
    error: 'The provider has no such operation.',
  })
  .refine(({ provider, act }) => provider !== 'mail' || isMailAct(act), {
    path: ['act'],
    error: 'Mail is delayed, dropped, held, or answered with 250, 4xx or 5xx.',
  })
export type FaultSpec = z.infer<typeof FaultSpec>

export const Fault = z.object({
  id: z.string(),
  provider: Peer,
  operation: z.string(),
  address: z.string().optional(),
  skip: z.int(),
  times: z.int(),
  act: FaultAct,
  released: z.boolean(),
  fired: z.array(z.object({ at: Instant, operation: z.string(), requestId: z.string() })),
})
export type Fault = z.infer<typeof Fault>
export const Faults = z.array(Fault)

/** One effect in the outside world, in the order in which it happened. */
export const LedgerEntry = z.object({
  sequence: z.int(),
  at: Instant,
  provider: Peer,
  effect: z.enum(['event_created', 'event_patched', 'event_cancelled', 'webhook_received', 'mail_received']),
  /** `api` is what a client asked for; `person` is what a calendar's user did by hand. */
  by: z.enum(['api', 'person']),
  calendarAddress: z.string().optional(),
  eventId: z.string().optional(),
  operationId: z.string().optional(),
  attendees: z.array(z.string()).optional(),
  /** Of the event after the effect, as in its view: instants, or dates for an all-day event. */
  start: z.string().optional(),
  end: z.string().optional(),
  webhookName: z.string().optional(),
  webhookId: z.string().optional(),
  messageId: z.string().optional(),
  /** The mailbox that a mail arrived in. */
  to: z.string().optional(),
  /** How many mails with this Message-ID it had received before. */
  duplicates: z.int().optional(),
})
export type LedgerEntry = z.infer<typeof LedgerEntry>
export const Ledger = z.array(LedgerEntry)

export const RequestEntry = z.object({
  at: Instant,
  requestId: z.string(),
  provider: Peer,
  operation: z.string(),
  /** The calendar, the webhook's name or the recipient; null when the call does not tell. */
  address: z.string().nullable(),
  /** Null while no answer was sent, for ever if none was. */
  status: z.int().nullable(),
  traceparent: z.string().optional(),
  fault: z.string().optional(),
})
export type RequestEntry = z.infer<typeof RequestEntry>
export const Requests = z.array(RequestEntry)

export const Response = z.enum(['needs_action', 'accepted', 'tentative', 'declined'])
export type Response = z.infer<typeof Response>

/** One event as held at a provider, told the same way for both. */
export const EventView = z.object({
  provider: Provider,
  id: z.string(),
  status: z.enum(['confirmed', 'tentative', 'cancelled']),
  title: z.string(),
  /** Instants, or dates for an all-day event. */
  start: z.string(),
  end: z.string(),
  timeZone: z.string(),
  location: z.string().nullable(),
  attendees: z.array(z.object({ address: z.string(), optional: z.boolean(), response: Response })),
  /** Asked for, and how far it has come. */
  conference: z.enum(['none', 'pending', 'ready', 'failed']),
  operationId: z.string().nullable(),
  createdAt: Instant,
})
export type EventView = z.infer<typeof EventView>
export const EventViews = z.array(EventView)

/** What one of the provider's own users does to an event by hand. */
export const EventAct = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('move'),
    start: Instant,
    end: Instant,
    /** As the calendar names it, which in Outlook need not be a zone: `tzone://Microsoft/Custom`. */
    timeZone: z.string().min(1).optional(),
  }),
  /** From the first date until before the second. */
  z.object({ type: z.literal('make_all_day'), start: z.iso.date(), end: z.iso.date() }),
  z.object({ type: z.literal('delete') }),
  /**
   * Takes it out of the bin again, which Google keeps for its organizer (Google Calendar API reference, Events, status).
   */
  z.object({ type: z.literal('restore') }),
  z.object({ type: z.literal('respond'), address: Address, response: Response }),
  /** Microsoft knows no public events: there, public is shown as normal. */
  z.object({ type: z.literal('set_visibility'), visibility: z.enum(['default', 'public', 'private']) }),
  z.object({ type: z.literal('add_attendee'), address: Address, optional: z.boolean().default(false) }),
  z.object({ type: z.literal('remove_attendee'), address: Address }),
  z.object({ type: z.literal('rename'), title: z.string() }),
  /** Null takes the place away. */
  z.object({ type: z.literal('set_location'), location: z.string().min(1).nullable() }),
])
export type EventAct = z.infer<typeof EventAct>

export const Consistency = z.object({
  provider: Provider,
  /** Reads that a just-created event is missing from: a get answers 404, a list leaves it out. */
  readsMissFor: z.int().nonnegative(),
})

export const Paging = z.object({
  provider: Provider,
  /**
   * Stored events looked at for one page of a list, so that a page may match nothing; null for the vendor's
   * own size.
   */
  scannedPerPage: z.int().positive().nullable(),
})

export const WebhookSettings = z.object({
  /** Standard Webhooks form, `whsec_<base64>`. Null: signatures are not checked. */
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]+=*$/)
    .nullable(),
})

export const WebhookInbox = z.object({
  name: z.string(),
  verifying: z.boolean(),
  /** Requests refused for a bad signature or a timestamp out of tolerance. */
  refused: z.int(),
  received: z.array(
    z.object({
      at: Instant,
      requestId: z.string(),
      webhookId: z.string().nullable(),
      verified: z.boolean(),
      headers: z.record(z.string(), z.string()),
      /** As received, byte for byte. */
      body: z.string(),
      /** Later deliveries under the same webhook-id, answered 204 and otherwise ignored. */
      duplicates: z.int(),
    }),
  ),
})
export type WebhookInbox = z.infer<typeof WebhookInbox>
