/** Working hours as Outlook tells them, with the zone they are in. */
import type { CustomTimeZone, DayOfWeek, WorkingHours } from '@microsoft/microsoft-graph-types'
import type { Person } from '../contract.ts'
import { localOf, offsetMs } from '../zone.ts'
import { windowsNameOf } from './preferences.ts'

/** Outlook names the zone as Windows does; one it has no name for is custom: its name says nothing, its rules do. */
export const workingHours = (person: Person, at: Date): WorkingHours => {
  const name = windowsNameOf(person.timeZone)
  return {
    daysOfWeek: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
    startTime: '08:00:00.0000000',
    endTime: '17:00:00.0000000',
    timeZone: name === undefined ? customZone(person.timeZone, at.getUTCFullYear()) : { name },
  }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * The zone's rules in that year, in minutes to be added to local time to get UTC: a bias of 480 is UTC-8 (Microsoft
 * Graph docs, calendar: getSchedule, example).
 */
const customZone = (zone: string, year: number): CustomTimeZone & { '@odata.type': string } => {
  const offsets = [Date.UTC(year, 0, 1), Date.UTC(year, 6, 1)].map((at) => offsetMs(at, zone))
  const standardMs = Math.min(...offsets)
  const daylightMs = Math.max(...offsets)
  const changes = standardMs === daylightMs ? [] : changesIn(zone, year)
  const standard = changes.find(({ afterMs }) => afterMs === standardMs)
  const daylight = changes.find(({ afterMs }) => afterMs === daylightMs)
  return {
    '@odata.type': '#microsoft.graph.customTimeZone',
    bias: -standardMs / minuteMs,
    name: 'Customized Time Zone',
    standardOffset: standard ? standard.rule : null,
    daylightOffset: daylight
      ? { daylightBias: -(daylightMs - standardMs) / minuteMs, ...daylight.rule }
      : null,
  }
}

interface Change {
  readonly afterMs: number
  readonly rule: {
    readonly time: string
    readonly dayOccurrence: number
    readonly dayOfWeek: DayOfWeek
    readonly month: number
    readonly year: number
  }
}

const changesIn = (zone: string, year: number): readonly Change[] => {
  const changes: Change[] = []
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += dayMs) {
    if (offsetMs(at, zone) === offsetMs(at + dayMs, zone)) continue
    let change = at
    while (offsetMs(change, zone) === offsetMs(at, zone)) change += 15 * minuteMs
    changes.push({ afterMs: offsetMs(change, zone), rule: ruleOf(change, zone) })
  }
  return changes
}

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

/** The wall time at which the clock is changed: what it shows a moment before, and one second. */
const ruleOf = (changeMs: number, zone: string): Change['rule'] => {
  const wall = new Date(Date.parse(`${localOf(new Date(changeMs - 1000), zone)}Z`) + 1000)
  const day = wall.getUTCDate()
  const daysInMonth = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate()
  return {
    time: `${wall.toISOString().slice(11, 19)}.0000000`,
    // The fifth is the last, however many there are.
    dayOccurrence: day + 7 > daysInMonth ? 5 : Math.ceil(day / 7),
    dayOfWeek: days[wall.getUTCDay()] ?? 'sunday',
    month: wall.getUTCMonth() + 1,
    year: 0,
  }
}
