import { randomBytes } from 'node:crypto'
import type { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import { isInvitable } from '../addresses.ts'
import type { Person } from '../contract.ts'
import { failsPrecondition, jsonOf } from '../exchange.ts'
import type { Answer, Call } from '../exchange.ts'
import { recordEvent } from '../ledger.ts'
import { isMissed, touch } from '../state.ts'
import type { Conference, HeldEvent, World } from '../state.ts'
import { isZone } from '../zone.ts'
import { onCalendar } from './access.ts'
import * as refuse from './errors.ts'
import { attendeesOf, echoesOf, etagOf, EventInput, readTime, render } from './resource.ts'

/**
 * events.insert. An id once used stays taken, also by an event since deleted (google-api-ruby-client#1811).
 */
export const insertEvent = (world: World, call: Call): Answer =>
  onCalendar(world, call, (person) => {
    const input = EventInput.safeParse(jsonOf(call)).data
    if (!input) return refuse.parseError()
    const refusal = refusalOf(world, call, input)
    if (refusal) return refusal
    if (input.id && !/^[a-v0-9]{5,1024}$/.test(input.id)) return refuse.invalid('Invalid resource id value.')
    const time = readTime(input, person.timeZone)
    if (time.type === 'refused') return time.answer
    if (input.id && findEvent(world, person, input.id)) return refuse.duplicate()

    const id = input.id ?? randomBytes(13).toString('hex')
    const event: HeldEvent = {
      provider: 'google',
      calendarAddress: person.address,
      id,
      defaultId: id,
      icalUid: input.iCalUID ?? `${id}@google.com`,
      createdAt: call.at,
      updatedAt: call.at,
      transactionId: undefined,
      readsToMiss: world.readsMissFor.google,
      version: 0,
      sequence: 0,
      status: input.status === 'tentative' ? 'tentative' : 'confirmed',
      title: input.summary ?? '',
      time: time.time,
      attendees: attendeesOf(input),
      showAs: input.transparency === 'transparent' ? 'free' : 'busy',
      location: input.location ?? undefined,
      conference: conferenceOf(call, input, { type: 'none' }),
      properties: mergedProperties(new Map(), input.extendedProperties?.private),
      sharedProperties: mergedProperties(new Map(), input.extendedProperties?.shared),
      echoes: echoesOf({}, input),
    }
    world.events.push(event)
    recordEvent(world, 'event_created', event, 'api')
    return shown(event, person, call)
  })

/** events.get. Always returns a cancelled event (Google Calendar API reference, events.get). */
export const getEvent = (world: World, call: Call): Answer =>
  onCalendar(world, call, (person) => {
    const event = findEvent(world, person, call.params.eventId)
    if (!event || isMissed(event)) return refuse.notFound()
    settleConference(event, person)
    // The client's copy is still good: 304, which Google's own client takes for a success.
    if (call.header('if-none-match') === etagOf(event)) return { status: 304 }
    return shown(event, person, call)
  })

/**
 * events.patch, under If-Match when given. Arrays are replaced, so that an attendee's answer that is not sent along is
 * forgotten (nspady/google-calendar-mcp#148); objects are merged, a date or a time being taken away by null (n8n#35800).
 */
export const patchEvent = (world: World, call: Call): Answer =>
  onCalendar(world, call, (person) => {
    const input = EventInput.safeParse(jsonOf(call)).data
    if (!input) return refuse.parseError()
    const event = findEvent(world, person, call.params.eventId)
    if (!event) return refuse.notFound()
    if (isStale(event, call)) return refuse.conditionNotMet()
    if (event.status === 'cancelled') return refuse.forbidden()
    const refusal = refusalOf(world, call, input)
    if (refusal) return refusal
    const before = render(event, person, person.timeZone)
    const time = readTime(
      { start: { ...before.start, ...input.start }, end: { ...before.end, ...input.end } },
      person.timeZone,
    )
    if (time.type === 'refused') return time.answer
    if (input.status === 'cancelled') {
      cancel(world, event, call)
      return shown(event, person, call)
    }
    if (input.start || input.end) event.sequence += 1
    event.time = time.time
    if (input.status) event.status = input.status
    if (input.summary !== undefined) event.title = input.summary ?? ''
    if (input.location !== undefined) event.location = input.location ?? undefined
    if (input.attendees !== undefined) event.attendees = attendeesOf(input)
    if (input.transparency) event.showAs = input.transparency === 'transparent' ? 'free' : 'busy'
    event.conference = conferenceOf(call, input, event.conference)
    event.properties = mergedProperties(event.properties, input.extendedProperties?.private)
    event.sharedProperties = mergedProperties(event.sharedProperties, input.extendedProperties?.shared)
    event.echoes = echoesOf(event.echoes, input)
    touch(event, call.at)
    recordEvent(world, 'event_patched', event, 'api')
    return shown(event, person, call)
  })

/** events.delete. A second time answers 410, for the id is remembered. */
export const deleteEvent = (world: World, call: Call): Answer =>
  onCalendar(world, call, (person) => {
    const event = findEvent(world, person, call.params.eventId)
    if (!event) return refuse.notFound()
    if (event.status === 'cancelled') return refuse.deleted()
    if (isStale(event, call)) return refuse.conditionNotMet()
    if (!sendUpdatesIsKnown(call)) return refuse.invalid('Invalid value for: sendUpdates')
    cancel(world, event, call)
    return { status: 204 }
  })

const cancel = (world: World, event: HeldEvent, call: Call): void => {
  event.status = 'cancelled'
  touch(event, call.at)
  recordEvent(world, 'event_cancelled', event, 'api')
}

const findEvent = (world: World, person: Person, id: string | undefined): HeldEvent | undefined =>
  world.events.find((event) => event.calendarAddress === person.address && event.id === id)

const isStale = (event: HeldEvent, call: Call): boolean => failsPrecondition(call, etagOf(event))

const sendUpdatesIsKnown = (call: Call): boolean =>
  ['all', 'externalOnly', 'none'].includes(call.query.get('sendUpdates') ?? 'none')

/** What is refused of any write. Which attendee is invalid is not said (easyappointments#1466). */
const refusalOf = (world: World, call: Call, input: EventInput): Answer | undefined => {
  // Recurrence is beyond this simulator; better a loud answer than a single event in its place.
  if (input.recurrence?.length) return { status: 501, body: 'The simulator holds single events only.' }
  if (!sendUpdatesIsKnown(call)) return refuse.invalid('Invalid value for: sendUpdates')
  for (const { email } of input.attendees ?? []) {
    if (email === undefined || email === null) return refuse.required('Missing attendee email.')
    if (!isInvitable(world, email)) return refuse.invalid('Invalid attendee email.')
  }
  const create = input.conferenceData?.createRequest
  if (create && takesConferences(call) && !create.requestId)
    return refuse.invalid('Invalid conference create request.')
  return undefined
}

const takesConferences = (call: Call): boolean => call.query.get('conferenceDataVersion') === '1'

/**
 * Conference data is ignored without conferenceDataVersion=1, and so is a create request under the id of the
 * one before (Google Calendar API reference, events.conferenceData).
 */
const conferenceOf = (call: Call, input: EventInput, before: Conference): Conference => {
  const requestId = input.conferenceData?.createRequest?.requestId
  if (!takesConferences(call) || !requestId) return before
  if (before.type !== 'none' && before.requestId === requestId) return before
  const [a, b, c] = [3, 4, 3].map((length) => letters(length))
  return { type: 'pending', requestId, url: `https://meet.google.com/${a}-${b}-${c}` }
}

const letters = (length: number): string =>
  [...randomBytes(length)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')

/** A conference is made some time after its event: here, by the first read. */
export const settleConference = (event: HeldEvent, person: Person): void => {
  if (event.conference.type !== 'pending' || person.onlineMeetings === 'pending') return
  event.conference = { ...event.conference, type: person.onlineMeetings ? 'ready' : 'failed' }
  event.version += 1
}

const mergedProperties = (
  before: ReadonlyMap<string, string>,
  given: Readonly<Record<string, string | null>> | null | undefined,
): Map<string, string> => {
  const merged = new Map(before)
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null) merged.delete(name)
    else merged.set(name, value)
  }
  return merged
}

/** Beyond the number asked for, only the caller's own entry is shown (discovery document, Event.attendeesOmitted). */
export const withAttendeesAtMost = (
  max: string | null,
  event: calendar_v3.Schema$Event,
): calendar_v3.Schema$Event =>
  max === null || (event.attendees ?? []).length <= Number(max)
    ? event
    : { ...event, attendees: (event.attendees ?? []).filter(({ self }) => self), attendeesOmitted: true }

const shown = (event: HeldEvent, person: Person, call: Call): Answer => {
  const asked = call.query.get('timeZone')
  const timeZone = asked !== null && isZone(asked) ? asked : person.timeZone
  const body = withAttendeesAtMost(call.query.get('maxAttendees'), render(event, person, timeZone))
  return { status: 200, body, headers: { etag: etagOf(event) } }
}
