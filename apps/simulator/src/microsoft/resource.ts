/** Graph's event resource: rendering what is held, and reading what a client sends. */
import { createHash } from 'node:crypto'
import type { Attendee, Event, NullableOption } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { BusyStatus } from '../contract.ts'
import type { Response } from '../contract.ts'
import type { EventTime, HeldAttendee, HeldEvent, World } from '../state.ts'
import { graphTime, idFor, instantOfGraphTime } from './preferences.ts'
import type { Preferences } from './preferences.ts'

const GraphTime = z.looseObject({ dateTime: z.string(), timeZone: z.string().nullish() })

export const EventInput = z.looseObject({
  subject: z.string().nullish(),
  start: GraphTime.nullish(),
  end: GraphTime.nullish(),
  isAllDay: z.boolean().nullish(),
  showAs: BusyStatus.nullish(),
  location: z.looseObject({ displayName: z.string().nullish() }).nullish(),
  transactionId: z.string().nullish(),
  isOnlineMeeting: z.boolean().nullish(),
  recurrence: z.looseObject({}).nullish(),
  attendees: z
    .array(
      z.looseObject({
        type: z.enum(['required', 'optional', 'resource']).nullish(),
        emailAddress: z.looseObject({ address: z.string().nullish(), name: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
  singleValueExtendedProperties: z.array(z.looseObject({ id: z.string(), value: z.string() })).nullish(),
})
export type EventInput = z.infer<typeof EventInput>

const echoed = [
  'body',
  'importance',
  'sensitivity',
  'categories',
  'reminderMinutesBeforeStart',
  'isReminderOn',
  'responseRequested',
  'allowNewTimeProposals',
  'hideAttendees',
]

export const echoesOf = (
  before: Readonly<Record<string, unknown>>,
  input: EventInput,
): Record<string, unknown> =>
  Object.fromEntries(
    echoed.flatMap((name) => {
      const value = name in input ? input[name] : before[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/**
 * Start and end, or undefined when they are missing, malformed, reversed or, for whole days, not midnights.
 */
export const readTime = (input: Pick<EventInput, 'start' | 'end' | 'isAllDay'>): EventTime | undefined => {
  const { start, end } = input
  if (!start || !end) return undefined
  if (input.isAllDay) {
    const [from, to] = [start.dateTime, end.dateTime]
    if (!/T00:00(:00(\.0+)?)?$/.test(from) || !/T00:00(:00(\.0+)?)?$/.test(to)) return undefined
    const days = { start: from.slice(0, 10), end: to.slice(0, 10) }
    return days.end > days.start ? { type: 'all_day', ...days } : undefined
  }
  const from = instantOfGraphTime({ dateTime: start.dateTime, timeZone: start.timeZone ?? 'UTC' })
  const to = instantOfGraphTime({ dateTime: end.dateTime, timeZone: end.timeZone ?? 'UTC' })
  if (!from || !to || to < from) return undefined
  return { type: 'timed', start: from, end: to, timeZone: start.timeZone ?? 'UTC' }
}

export const attendeesOf = (input: EventInput): HeldAttendee[] =>
  (input.attendees ?? []).map(({ type, emailAddress }) => ({
    address: (emailAddress?.address ?? '').toLowerCase(),
    displayName: emailAddress?.name ?? undefined,
    kind: type ?? 'required',
    response: 'needs_action',
    respondedAt: undefined,
  }))

/**
 * The identity of a single-value extended property: the GUID in any case, the name to the letter (Microsoft
 * Graph docs, singleValueLegacyExtendedProperty).
 */
export const propertyKey = (id: string): string => id.replace(/\{[0-9a-f-]+\}/i, (guid) => guid.toLowerCase())

export const propertiesOf = (before: ReadonlyMap<string, string>, input: EventInput): Map<string, string> => {
  const given = (input.singleValueExtendedProperties ?? []).map(({ id, value }): [string, string] => [
    propertyKey(id),
    value,
  ])
  return new Map([...before, ...given])
}

const changeKeyOf = (event: HeldEvent): string =>
  Buffer.from(`${event.createdAt.getTime()}.${event.version}`).toString('base64')
export const etagOf = (event: HeldEvent): string => `W/"${changeKeyOf(event)}"`

const graphResponse = {
  needs_action: 'none',
  accepted: 'accepted',
  tentative: 'tentativelyAccepted',
  declined: 'declined',
} as const
const never = '0001-01-01T00:00:00Z'

/** Annotations that the vendor's types leave out. */
export type GraphEvent = Event & { '@odata.etag': string; '@odata.context'?: string }

/**
 * The event as its organizer's calendar shows it. Extended properties are left out: they come with $expand
 * only.
 */
export const render = (event: HeldEvent, preferences: Preferences, people: World['people']): GraphEvent => ({
  '@odata.etag': etagOf(event),
  id: idFor(event, preferences),
  createdDateTime: event.createdAt.toISOString(),
  lastModifiedDateTime: event.updatedAt.toISOString(),
  changeKey: changeKeyOf(event),
  categories: [],
  transactionId: event.transactionId ?? null,
  ...originalZone(event),
  iCalUId: event.icalUid,
  reminderMinutesBeforeStart: 15,
  isReminderOn: true,
  hasAttachments: false,
  subject: event.title,
  bodyPreview: '',
  importance: 'normal',
  sensitivity: 'normal',
  isAllDay: event.time.type === 'all_day',
  isCancelled: event.status === 'cancelled',
  isOrganizer: true,
  responseRequested: true,
  seriesMasterId: null,
  showAs: event.showAs,
  type: 'singleInstance',
  webLink: `https://outlook.office365.com/owa/?itemid=${encodeURIComponent(event.defaultId)}`,
  onlineMeetingUrl: null,
  ...onlineMeeting(event),
  allowNewTimeProposals: true,
  isDraft: false,
  hideAttendees: false,
  responseStatus: { response: 'organizer', time: never },
  body: { contentType: 'html', content: '' },
  ...times(event.time, preferences),
  location: { displayName: event.location ?? '', locationType: 'default' },
  locations: event.location === undefined ? [] : [{ displayName: event.location, locationType: 'default' }],
  recurrence: null,
  attendees: event.attendees.map((attendee) => renderAttendee(attendee, people)),
  organizer: { emailAddress: { name: event.calendarAddress, address: event.calendarAddress } },
  ...event.echoes,
})

const originalZone = ({ time }: HeldEvent): Pick<Event, 'originalStartTimeZone' | 'originalEndTimeZone'> => {
  const zone = time.type === 'timed' ? time.timeZone : 'UTC'
  return { originalStartTimeZone: zone, originalEndTimeZone: zone }
}

const times = (time: EventTime, preferences: Preferences): Pick<Event, 'start' | 'end'> =>
  time.type === 'timed'
    ? { start: graphTime(time.start, preferences), end: graphTime(time.end, preferences) }
    : // Whole days float: midnight of whatever zone is asked for.
      {
        start: { dateTime: `${time.start}T00:00:00.0000000`, timeZone: preferences.timeZone },
        end: { dateTime: `${time.end}T00:00:00.0000000`, timeZone: preferences.timeZone },
      }

const onlineMeeting = ({
  conference,
}: HeldEvent): Pick<Event, 'isOnlineMeeting' | 'onlineMeetingProvider' | 'onlineMeeting'> =>
  conference.type === 'ready'
    ? {
        isOnlineMeeting: true,
        onlineMeetingProvider: 'teamsForBusiness',
        onlineMeeting: { joinUrl: conference.url },
      }
    : { isOnlineMeeting: false, onlineMeetingProvider: 'unknown', onlineMeeting: null }

const renderAttendee = (
  { address, displayName, kind, response, respondedAt }: HeldAttendee,
  people: World['people'],
): Attendee => ({
  type: kind,
  status: { response: responseOf(response), time: respondedAt?.toISOString() ?? never },
  emailAddress: {
    name: displayName ?? address,
    address: people.get(address)?.legacyDn ? legacyDnOf(address) : address,
  },
})

/** The name by which Exchange itself knows a mailbox, and which it now and then tells instead of the address. */
const legacyDnOf = (address: string): string => {
  const recipient = createHash('sha256').update(address).digest('hex').slice(0, 32)
  const [alias] = address.split('@')
  return `/o=ExchangeLabs/ou=Exchange Administrative Group (FYDIBOHF23SPDLT)/cn=Recipients/cn=${recipient}-${alias}`
}

const responseOf = (response: Response): (typeof graphResponse)[Response] => graphResponse[response]

/** Keeps what $select names; ids and annotations stay. */
export const selected = (event: GraphEvent, select: string | null): Partial<GraphEvent> => {
  if (!select) return event
  const names = new Set(select.split(',').map((name) => name.trim()))
  return Object.fromEntries(
    Object.entries(event).filter(([name]) => name === 'id' || name.startsWith('@') || names.has(name)),
  )
}

export type ExpandedProperties = NullableOption<Event['singleValueExtendedProperties']>

/**
 * The properties that `$expand=singleValueExtendedProperties($filter=id eq '…')` asks for; undefined without
 * it.
 */
export const expandedProperties = (
  event: HeldEvent,
  expand: string | null,
): ExpandedProperties | undefined => {
  const ids = [...(expand ?? '').matchAll(/\bid\s+eq\s+'([^']*)'/g)].map(([, id]) => propertyKey(id ?? ''))
  const found = [...event.properties].filter(([id]) => ids.includes(id)).map(([id, value]) => ({ id, value }))
  return found.length > 0 ? found : undefined
}
