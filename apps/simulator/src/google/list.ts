import type { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import { z } from 'zod'
import type { Person } from '../contract.ts'
import type { Answer, Call } from '../exchange.ts'
import { intervalOf, isMissed } from '../state.ts'
import type { HeldEvent, World } from '../state.ts'
import { isZone } from '../zone.ts'
import { onCalendar } from './access.ts'
import { badRequest, invalid } from './errors.ts'
import { settleConference, withAttendeesAtMost } from './events.ts'
import { render } from './resource.ts'

const Instant = z.iso.datetime({ offset: true })
const pageSizeDefault = 250
const pageSizeMax = 2500

/**
 * events.list. A page is a stretch of stored events and the filters come after, so that a page may be empty
 * and still carry a nextPageToken (Google Calendar API reference, events.list).
 */
export const listEvents = (world: World, call: Call): Answer =>
  onCalendar(world, call, (person) => {
    const { query } = call
    for (const name of ['timeMin', 'timeMax']) {
      const bound = query.get(name)
      if (bound !== null && !Instant.safeParse(bound).success) return badRequest()
    }
    const offset = offsetOf(query.get('pageToken'))
    if (offset === undefined) return invalid('Invalid page token value.')
    const size = Number(query.get('maxResults') ?? pageSizeDefault)
    if (!Number.isInteger(size) || size < 1) return invalid('Invalid value for: maxResults')

    const pageSize = Math.min(size, pageSizeMax, world.scannedPerPage.google ?? pageSizeMax)
    const stored = world.events.filter((event) => event.calendarAddress === person.address)
    const page = stored
      .slice(offset, offset + pageSize)
      .filter((event) => matches(event, person, query) && !isMissed(event))
    for (const event of page) settleConference(event, person)
    const asked = query.get('timeZone')
    const timeZone = asked !== null && isZone(asked) ? asked : person.timeZone
    const body: calendar_v3.Schema$Events = {
      kind: 'calendar#events',
      etag: `"${world.ledger.length}"`,
      summary: person.address,
      updated: call.at.toISOString(),
      timeZone,
      accessRole: 'owner',
      defaultReminders: [],
      items: page.map((event) =>
        withAttendeesAtMost(query.get('maxAttendees'), render(event, person, timeZone)),
      ),
      ...(offset + pageSize < stored.length ? { nextPageToken: pageTokenOf(offset + pageSize) } : {}),
    }
    return { status: 200, body }
  })

const pageTokenOf = (offset: number): string => Buffer.from(`from:${offset}`).toString('base64url')

const offsetOf = (token: string | null): number | undefined => {
  if (token === null) return 0
  const offset = /^from:(\d+)$/.exec(Buffer.from(token, 'base64url').toString())?.[1]
  return offset === undefined ? undefined : Number(offset)
}

/** All filters must hold, every extended property given among them. */
const matches = (event: HeldEvent, person: Person, query: URLSearchParams): boolean => {
  if (event.status === 'cancelled' && query.get('showDeleted') !== 'true') return false
  const { start, end } = intervalOf(event.time, person.timeZone)
  const timeMin = query.get('timeMin')
  const timeMax = query.get('timeMax')
  if (timeMin !== null && end <= new Date(timeMin)) return false
  if (timeMax !== null && start >= new Date(timeMax)) return false
  const icalUid = query.get('iCalUID')
  if (icalUid !== null && event.icalUid !== icalUid) return false
  return (
    query.getAll('privateExtendedProperty').every((filter) => carries(event.properties, filter)) &&
    query.getAll('sharedExtendedProperty').every((filter) => carries(event.sharedProperties, filter))
  )
}

const carries = (properties: ReadonlyMap<string, string>, filter: string): boolean => {
  const at = filter.indexOf('=')
  return at > 0 && properties.get(filter.slice(0, at)) === filter.slice(at + 1)
}
