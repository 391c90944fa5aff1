import type { FreeBusyError, ScheduleInformation } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import type { BusyStatus, Person, Readable } from '../contract.ts'
import { jsonOf } from '../exchange.ts'
import type { Answer, Call } from '../exchange.ts'
import { occupiedBy } from '../state.ts'
import type { Interval, Occupied, World } from '../state.ts'
import { onMailbox } from './access.ts'
import { refusal, unknownZone, unreadableBody } from './errors.ts'
import { graphTime, instantOfGraphTime, preferencesOf, zoneNamed } from './preferences.ts'
import type { Preferences } from './preferences.ts'
import { workingHours } from './working-hours.ts'

const GraphTime = z.looseObject({ dateTime: z.string(), timeZone: z.string() })
const Query = z.looseObject({
  schedules: z.array(z.string()).min(1),
  startTime: GraphTime,
  endTime: GraphTime,
  availabilityViewInterval: z.int().nullable().default(30),
})

const schedulesMax = 100
const windowMaxMs = 62 * 86_400_000
const minuteMs = 60_000

/** Both spellings of the parameters are in use: the metadata has PascalCase, the examples camelCase. */
const queryOf = (call: Call) => {
  const body = z.record(z.string(), z.unknown()).safeParse(jsonOf(call)).data ?? {}
  return Query.safeParse(
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
    ),
  ).data
}

/** The addresses a query asks for, for a fault that is scripted for one of them. */
export const queriedAddresses = (call: Call): string[] => queryOf(call)?.schedules ?? []

/** getSchedule. A mailbox that cannot be read is an error inside the 200 (microsoft-graph-docs#11225). */
export const getSchedule = (world: World, call: Call): Answer =>
  onMailbox(world, call, (caller) => {
    const query = queryOf(call)
    if (!query) return unreadableBody(call)
    const preferences = preferencesOf(call)
    if (!preferences) return unknownZone(call)
    // microsoft-graph-docs#4494
    if (query.availabilityViewInterval === null) {
      return refusal(
        call,
        500,
        'ErrorInternalServerError',
        'An internal server error occurred. The operation failed.',
      )
    }
    if (!zoneNamed(query.startTime.timeZone) || !zoneNamed(query.endTime.timeZone)) return unknownZone(call)
    const start = instantOfGraphTime(query.startTime)
    const end = instantOfGraphTime(query.endTime)
    if (!start || !end) return unreadableBody(call)
    const refused = refusedLimit(call, query.schedules.length, { start, end }, query.availabilityViewInterval)
    if (refused) return refused
    const view = {
      preferences,
      window: { start, end },
      intervalMs: query.availabilityViewInterval * minuteMs,
    }
    return {
      status: 200,
      body: {
        '@odata.context':
          'https://graph.microsoft.com/v1.0/$metadata#Collection(microsoft.graph.scheduleInformation)',
        value: query.schedules.flatMap((address) => scheduleOf(world, caller, address, view)),
      },
    }
  })

/** Limits as they are enforced (microsoft-graph-docs#7047, msgraph-sdk-dotnet#2349, PlaceOS/office365#29). */
const refusedLimit = (
  call: Call,
  schedules: number,
  { start, end }: Interval,
  minutes: number,
): Answer | undefined => {
  const windowMs = end.getTime() - start.getTime()
  if (schedules > schedulesMax) {
    return refusal(
      call,
      400,
      'ErrorMailboxDataArrayTooBig',
      `There are too many target users in the EmailAddress array. The allowed size = ${schedulesMax}; the actual size = ${schedules}.`,
    )
  }
  if (windowMs <= 0) {
    return refusal(
      call,
      400,
      'ErrorInvalidTimeInterval',
      'The time duration specified for FreeBusyViewOptions.TimeWindow is invalid.',
    )
  }
  if (windowMs > windowMaxMs) {
    return refusal(call, 400, 'ErrorTimeIntervalTooBig', 'The requested time duration specified is too long.')
  }
  if (minutes < 5 || minutes > 1440 || minutes * minuteMs > windowMs) {
    return refusal(
      call,
      400,
      'ErrorInvalidMergedFreeBusyInterval',
      'The specified merged free/busy interval is not valid. Specify an interval that is less than the free/busy time window and between 5 and 1440 minutes.',
    )
  }
  return undefined
}

interface View {
  readonly preferences: Preferences
  readonly window: Interval
  readonly intervalMs: number
}

/** Seen beside 5016 only; other errors come without the member. */
const noItems = { scheduleItems: null }

const scheduleOf = (world: World, caller: Person, scheduleId: string, view: View): ScheduleInformation[] => {
  const person = world.people.get(scheduleId.toLowerCase())
  const readable = person?.provider === 'microsoft' ? person.readable : 'unknown_person'
  if (readable === 'left_out') return []
  const error = errorFor(readable, scheduleId)
  if (error || !person) {
    return [{ scheduleId, ...(error ? { error } : {}), ...(readable === 'no_mailbox' ? noItems : {}) }]
  }
  const items = occupiedBy(world, person, view.window, view.preferences.zone)
  return [
    {
      scheduleId,
      availabilityView: digits(items, view),
      // What is free is listed too: the status tells, not the presence.
      scheduleItems: items.map(({ start, end, status, title }) => ({
        status,
        start: graphTime(start, view.preferences),
        end: graphTime(end, view.preferences),
        ...(person.address === caller.address && title !== undefined
          ? { isPrivate: false, subject: title, location: '' }
          : {}),
      })),
      workingHours: workingHours(person, view.window.start),
    },
  ]
}

/**
 * Codes are numbers in strings (microsoft-graph-docs#11225). Only some are known; for the others the name that Exchange
 * gives the error stands in (EWS reference, ResponseCode), so that no client comes to rely on a number made up here.
 */
const errorFor = (readable: Readable, scheduleId: string): FreeBusyError | undefined => {
  switch (readable) {
    case 'yes':
    case 'left_out':
      return undefined
    case 'unknown_person':
      return {
        message: `Unable to resolve e-mail address ${scheduleId} to an Active Directory object.`,
        responseCode: '5009',
      }
    case 'no_mailbox':
      return { message: `Unable to find a mailbox for ${scheduleId}.`, responseCode: '5016' }
    case 'too_many_entries':
      return { message: 'The result set contains too many calendar entries.', responseCode: '5006' }
    case 'no_access':
      return {
        message: 'The caller does not have access to free/busy data.',
        responseCode: 'ErrorNoFreeBusyAccess',
      }
    case 'internal_error':
      return {
        message: 'Unable to read the free/busy information of the mailbox.',
        responseCode: 'ErrorFreeBusyGenerationFailed',
      }
  }
}

const digitByStatus: Record<BusyStatus, number> = {
  free: 0,
  workingElsewhere: 0,
  tentative: 1,
  busy: 2,
  oof: 3,
}

/** One digit for each interval, the most occupied one winning. */
const digits = (items: readonly Occupied[], { window, intervalMs }: View): string => {
  let view = ''
  for (let fromMs = window.start.getTime(); fromMs < window.end.getTime(); fromMs += intervalMs) {
    const touching = items.filter(
      ({ start, end }) => start.getTime() < fromMs + intervalMs && end.getTime() > fromMs,
    )
    view += String(Math.max(0, ...touching.map(({ status }) => digitByStatus[status])))
  }
  return view
}
