import type { calendar_v3 } from 'googleapis/build/src/apis/calendar/v3.js'
import { z } from 'zod'
import type { Person } from '../contract.ts'
import { jsonOf } from '../exchange.ts'
import type { Answer, Call } from '../exchange.ts'
import { occupiedBy } from '../state.ts'
import type { Interval, World } from '../state.ts'
import { isZone, withOffset } from '../zone.ts'
import { callerOf } from './access.ts'
import { badCredentials, badRequest, parseError, rangeEmpty, rangeTooLong, required } from './errors.ts'

const Query = z.looseObject({
  timeMin: z.string().nullish(),
  timeMax: z.string().nullish(),
  timeZone: z.string().nullish(),
  calendarExpansionMax: z.int().nullish(),
  items: z.array(z.looseObject({ id: z.string() })).nullish(),
})

// Not documented; seen to be refused beyond about three months, so a client keeps well below.
const rangeMaxMs = 92 * 86_400_000
const calendarsMax = 50
const Instant = z.iso.datetime({ offset: true })

/** The addresses a query asks for, for a fault that is scripted for one of them. */
export const queriedAddresses = (call: Call): string[] =>
  (Query.safeParse(jsonOf(call)).data?.items ?? []).map(({ id }) => id)

/**
 * freebusy.query. One calendar that cannot be read is an error inside the 200, beside an empty `busy` that
 * means nothing (Google Calendar API reference, freebusy.query).
 */
export const queryFreeBusy = (world: World, call: Call): Answer => {
  const caller = callerOf(world, call)
  if (!caller) return badCredentials()
  const query = Query.safeParse(jsonOf(call)).data
  if (!query) return parseError()
  if (!query.timeMin) return required('Missing timeMin parameter.')
  if (!query.timeMax) return required('Missing timeMax parameter.')
  const timeZone = query.timeZone ?? 'UTC'
  if (!isZone(timeZone)) return badRequest()
  if (!Instant.safeParse(query.timeMin).success || !Instant.safeParse(query.timeMax).success)
    return badRequest()
  const window = { start: new Date(query.timeMin), end: new Date(query.timeMax) }
  if (window.end <= window.start) return rangeEmpty()
  if (window.end.getTime() - window.start.getTime() > rangeMaxMs) return rangeTooLong()
  const expansionMax = Math.min(query.calendarExpansionMax ?? calendarsMax, calendarsMax)
  const items = query.items ?? []
  const body: calendar_v3.Schema$FreeBusyResponse = {
    kind: 'calendar#freeBusy',
    timeMin: window.start.toISOString(),
    timeMax: window.end.toISOString(),
    calendars: Object.fromEntries(
      items.flatMap(({ id }, index) => {
        const address = id === 'primary' ? caller.address : id.toLowerCase()
        const person = world.people.get(address)
        if (person?.provider === 'google' && person.readable === 'left_out') return []
        const reason = index < expansionMax ? unreadable(person) : 'tooManyCalendarsRequested'
        if (reason !== undefined || !person) {
          return [[id, { errors: [{ domain: 'global', reason: reason ?? 'notFound' }], busy: [] }]]
        }
        return [[id, { busy: busyTimes(world, person, window, timeZone) }]]
      }),
    ),
  }
  return { status: 200, body }
}

/** Google tells no access and no such calendar apart for nobody: both are notFound. */
const unreadable = (person: Person | undefined): string | undefined => {
  if (person?.provider !== 'google') return 'notFound'
  switch (person.readable) {
    case 'yes':
    case 'left_out':
      return undefined
    case 'no_access':
    case 'no_mailbox':
    case 'unknown_person':
      return 'notFound'
    case 'internal_error':
    case 'too_many_entries':
      return 'internalError'
  }
}

/** Merged, clipped to the window, without what the calendar shows as available. */
const busyTimes = (
  world: World,
  person: Person,
  window: Interval,
  timeZone: string,
): calendar_v3.Schema$TimePeriod[] => {
  const merged: { start: Date; end: Date }[] = []
  for (const { start, end, status } of occupiedBy(world, person, window, person.timeZone)) {
    if (status === 'free' || status === 'workingElsewhere') continue
    const last = merged.at(-1)
    if (last && start <= last.end) last.end = end > last.end ? end : last.end
    else merged.push({ start, end })
  }
  return merged.map(({ start, end }) => ({
    start: withOffset(start < window.start ? window.start : start, timeZone),
    end: withOffset(end > window.end ? window.end : end, timeZone),
  }))
}
