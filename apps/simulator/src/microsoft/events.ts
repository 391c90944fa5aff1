import { randomBytes } from 'node:crypto'
import { isInvitable } from '../addresses.ts'
import type { Person } from '../contract.ts'
import { failsPrecondition, jsonOf } from '../exchange.ts'
import type { Answer, Call } from '../exchange.ts'
import { recordEvent } from '../ledger.ts'
import { isMissed, touch } from '../state.ts'
import type { Conference, HeldAttendee, HeldEvent, World } from '../state.ts'
import { onEvents } from './access.ts'
import {
  changeKeyMismatch,
  invalidProperty,
  itemNotFound,
  refusal,
  unknownZone,
  unreadableBody,
} from './errors.ts'
import { preferencesOf } from './preferences.ts'
import type { Preferences } from './preferences.ts'
import {
  attendeesOf,
  echoesOf,
  etagOf,
  EventInput,
  expandedProperties,
  propertiesOf,
  readTime,
  render,
  selected,
} from './resource.ts'
import type { GraphEvent } from './resource.ts'

/**
 * Creates an event. Two behaviours a client has to know: a known transactionId with the same content answers
 * 201 with the event of the first time and with other content ErrorDuplicateTransactionId; and
 * ErrorInvalidRecipients is said of an event that was created all the same (msgraph-sdk-php#280).
 */
export const createEvent = (world: World, call: Call): Answer =>
  onEvents(world, call, (person) => {
    const input = EventInput.safeParse(jsonOf(call)).data
    if (!input) return unreadableBody(call)
    const preferences = preferencesOf(call)
    if (!preferences) return unknownZone(call)
    if (input.recurrence) return { status: 501, body: 'The simulator holds single events only.' }
    const time = readTime(input)
    if (!time) return invalidProperty(call)
    const badRecipient = attendeesOf(input).some(({ address }) => !isInvitable(world, address))

    const transactionKey = `${person.address} ${input.transactionId ?? ''}`
    const earlier = input.transactionId ? world.transactions.get(transactionKey) : undefined
    const body = canonical(input)
    // What a transactionId means after its event was deleted is documented nowhere; here it is free again.
    if (earlier && earlier.event.status !== 'cancelled') {
      if (earlier.body !== body) return duplicateTransaction(call, earlier.event, preferences)
      return badRecipient ? invalidRecipients(call) : shown(world, earlier.event, call, preferences, 201)
    }
    const event = newEvent(world, call, person, { ...input, time })
    world.events.push(event)
    if (input.transactionId) world.transactions.set(transactionKey, { event, body })
    recordEvent(world, 'event_created', event, 'api')
    return badRecipient ? invalidRecipients(call) : shown(world, event, call, preferences, 201)
  })

const newEvent = (
  world: World,
  call: Call,
  person: Person,
  input: EventInput & Pick<HeldEvent, 'time'>,
): HeldEvent => ({
  provider: 'microsoft',
  calendarAddress: person.address,
  id: `AAkALg${randomBytes(60).toString('base64url')}AA=`,
  defaultId: `AAMkAG${randomBytes(90).toString('base64url')}AA=`,
  icalUid: `040000008200E00074C5B7101A82E008${randomBytes(24).toString('hex').toUpperCase()}`,
  createdAt: call.at,
  updatedAt: call.at,
  transactionId: input.transactionId ?? undefined,
  readsToMiss: world.readsMissFor.microsoft,
  version: 0,
  sequence: 0,
  status: 'confirmed',
  title: input.subject ?? '',
  time: input.time,
  attendees: attendeesOf(input),
  showAs: input.showAs ?? 'busy',
  location: placeIn(input),
  conference: conferenceOf(person, input, { type: 'none' }),
  properties: propertiesOf(new Map(), input),
  sharedProperties: new Map(),
  echoes: echoesOf({}, input),
})

export const getEvent = (world: World, call: Call): Answer =>
  onEvent(world, call, ({ event, preferences }) => {
    if (isMissed(event)) return itemNotFound(call)
    return shown(world, event, call, preferences, 200)
  })

/**
 * PATCH. If-Match is honoured although the documentation does not mention it. The list of attendees is replaced, and
 * those who stay keep what they answered, for only the server may set it (msgraph-sdk-java#1898).
 */
export const patchEvent = (world: World, call: Call): Answer =>
  onEvent(world, call, ({ event, person, preferences }) => {
    const input = EventInput.safeParse(jsonOf(call)).data
    if (!input) return unreadableBody(call)
    if (isStale(event, call)) return changeKeyMismatch(call)
    if (input.recurrence) return { status: 501, body: 'The simulator holds single events only.' }
    if (input.transactionId && input.transactionId !== event.transactionId) return invalidProperty(call)
    const before = render(event, preferences, world.people)
    const time = readTime({
      start: input.start ?? startOf(before),
      end: input.end ?? endOf(before),
      isAllDay: input.isAllDay ?? event.time.type === 'all_day',
    })
    if (!time) return invalidProperty(call)
    if (input.start || input.end) {
      event.sequence += 1
      event.time = time
    }
    if (input.subject !== undefined) event.title = input.subject ?? ''
    if (input.location !== undefined) event.location = placeIn(input)
    if (input.attendees !== undefined) event.attendees = answeredBefore(attendeesOf(input), event)
    if (input.showAs) event.showAs = input.showAs
    event.conference = conferenceOf(person, input, event.conference)
    event.properties = propertiesOf(event.properties, input)
    event.echoes = echoesOf(event.echoes, input)
    touch(event, call.at)
    recordEvent(world, 'event_patched', event, 'api')
    const badRecipient = event.attendees.some(({ address }) => !isInvitable(world, address))
    return badRecipient && input.attendees
      ? invalidRecipients(call)
      : shown(world, event, call, preferences, 200)
  })

/** Cancels and tells the attendees; afterwards the event is gone from the organizer's calendar. */
export const cancelEvent = (world: World, call: Call): Answer =>
  onEvents(world, call, (person) => {
    if (isInvitedTo(world, person, call.params.eventId)) {
      return refusal(
        call,
        400,
        'ErrorInvalidRequest',
        "Your request can't be completed. You need to be an organizer to cancel a meeting.",
      )
    }
    return onEvent(world, call, ({ event }) => {
      remove(world, event, call)
      return { status: 202 }
    })
  })

/** DELETE by the organizer also sends cancellations. A second time there is nothing to find. */
export const deleteEvent = (world: World, call: Call): Answer =>
  onEvent(world, call, ({ event }) => {
    if (isStale(event, call)) return changeKeyMismatch(call)
    remove(world, event, call)
    return { status: 204 }
  })

const remove = (world: World, event: HeldEvent, call: Call): void => {
  event.status = 'cancelled'
  touch(event, call.at)
  recordEvent(world, 'event_cancelled', event, 'api')
}

/** Outlook knows no difference between an empty name and no place. */
const placeIn = ({ location }: EventInput): string | undefined => location?.displayName || undefined

const answeredBefore = (invited: readonly HeldAttendee[], { attendees }: HeldEvent): HeldAttendee[] =>
  invited.map((attendee) => {
    const before = attendees.find(({ address }) => address === attendee.address)
    return before ? { ...attendee, response: before.response, respondedAt: before.respondedAt } : attendee
  })

interface Found {
  readonly event: HeldEvent
  readonly person: Person
  readonly preferences: Preferences
}

const onEvent = (world: World, call: Call, act: (found: Found) => Answer): Answer =>
  onEvents(world, call, (person) => {
    const preferences = preferencesOf(call)
    if (!preferences) return unknownZone(call)
    const event = world.events.find(
      (each) =>
        each.calendarAddress === person.address &&
        each.status !== 'cancelled' &&
        goesBy(each, call.params.eventId),
    )
    return event ? act({ event, person, preferences }) : itemNotFound(call)
  })

const goesBy = (event: HeldEvent, id: string | undefined): boolean =>
  event.id === id || event.defaultId === id

const isInvitedTo = (world: World, person: Person, id: string | undefined): boolean =>
  world.events.some(
    (event) =>
      goesBy(event, id) &&
      event.calendarAddress !== person.address &&
      event.attendees.some(({ address }) => address === person.address),
  )

const isStale = (event: HeldEvent, call: Call): boolean => failsPrecondition(call, etagOf(event))

/** Asking for an online meeting where the mailbox allows none is ignored without a word. */
const conferenceOf = (person: Person, input: EventInput, before: Conference): Conference => {
  if (!input.isOnlineMeeting || !person.onlineMeetings || before.type !== 'none') return before
  const meeting = randomBytes(24).toString('base64url')
  return {
    type: 'ready',
    requestId: meeting,
    url: `https://teams.microsoft.com/l/meetup-join/19%3ameeting_${meeting}%40thread.v2/0`,
  }
}

const invalidRecipients = (call: Call): Answer =>
  refusal(call, 400, 'ErrorInvalidRecipients', "At least one recipient isn't valid.")

const duplicateTransaction = (call: Call, event: HeldEvent, preferences: Preferences): Answer =>
  refusal(
    call,
    400,
    'ErrorDuplicateTransactionId',
    "Your request can't be completed. The TransactionId specified in the request has already been used to create a different event.",
    { '@event.existingEventId': preferences.immutableIds ? event.id : event.defaultId },
  )

/** The same content, whatever the order of its members. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )

const startOf = ({ start }: GraphEvent): EventInput['start'] => timeInput(start)
const endOf = ({ end }: GraphEvent): EventInput['end'] => timeInput(end)
const timeInput = (time: GraphEvent['start']): EventInput['start'] =>
  time?.dateTime ? { dateTime: time.dateTime, timeZone: time.timeZone } : undefined

const shown = (
  world: World,
  event: HeldEvent,
  call: Call,
  preferences: Preferences,
  status: 200 | 201,
): Answer => {
  const { query } = call
  const properties = expandedProperties(event, query.get('$expand'))
  return {
    status,
    body: {
      '@odata.context': `https://graph.microsoft.com/v1.0/$metadata#users('${event.calendarAddress}')/events/$entity`,
      ...selected(render(event, preferences, world.people), query.get('$select')),
      ...(properties ? { singleValueExtendedProperties: properties } : {}),
    },
    headers: { etag: etagOf(event) },
  }
}
