/** What a Prefer header asks for, and times as Graph writes them. */
import type { DateTimeTimeZone } from '@microsoft/microsoft-graph-types'
import type { Call } from '../exchange.ts'
import type { HeldEvent } from '../state.ts'
import { instantOf, localOf } from '../zone.ts'

/**
 * Windows names for the zones that people in tests live in; Graph knows them all (Unicode CLDR,
 * windowsZones).
 */
const ianaByWindowsName = new Map([
  ['UTC', 'UTC'],
  ['GMT Standard Time', 'Europe/London'],
  ['W. Europe Standard Time', 'Europe/Berlin'],
  ['Romance Standard Time', 'Europe/Paris'],
  ['Central European Standard Time', 'Europe/Warsaw'],
  ['Eastern Standard Time', 'America/New_York'],
  ['Central Standard Time', 'America/Chicago'],
  ['Mountain Standard Time', 'America/Denver'],
  ['Pacific Standard Time', 'America/Los_Angeles'],
  ['India Standard Time', 'Asia/Kolkata'],
  ['Singapore Standard Time', 'Asia/Singapore'],
  ['Tokyo Standard Time', 'Asia/Tokyo'],
  ['AUS Eastern Standard Time', 'Australia/Sydney'],
])

/**
 * Of the IANA names Graph promises these and no other, neither their newer names nor their neighbours (Microsoft Graph
 * docs, dateTimeTimeZone).
 */
const ianaNames = new Set(
  `
  Etc/GMT+12 Etc/GMT+11 Pacific/Honolulu America/Anchorage America/Santa_Isabel America/Los_Angeles
  America/Phoenix America/Chihuahua America/Denver America/Guatemala America/Chicago America/Mexico_City
  America/Regina America/Bogota America/New_York America/Indiana/Indianapolis America/Caracas
  America/Asuncion America/Halifax America/Cuiaba America/La_Paz America/Santiago America/St_Johns
  America/Sao_Paulo America/Argentina/Buenos_Aires America/Cayenne America/Godthab America/Montevideo
  America/Bahia Etc/GMT+2 Atlantic/Azores Atlantic/Cape_Verde Africa/Casablanca Etc/GMT Europe/London
  Atlantic/Reykjavik Europe/Berlin Europe/Budapest Europe/Paris Europe/Warsaw Africa/Lagos Africa/Windhoek
  Europe/Bucharest Asia/Beirut Africa/Cairo Asia/Damascus Africa/Johannesburg Europe/Kiev Europe/Istanbul
  Asia/Jerusalem Asia/Amman Asia/Baghdad Europe/Kaliningrad Asia/Riyadh Africa/Nairobi Asia/Tehran
  Asia/Dubai Asia/Baku Europe/Moscow Indian/Mauritius Asia/Tbilisi Asia/Yerevan Asia/Kabul Asia/Karachi
  Asia/Tashkent Asia/Kolkata Asia/Colombo Asia/Kathmandu Asia/Almaty Asia/Dhaka Asia/Yekaterinburg
  Asia/Rangoon Asia/Bangkok Asia/Novosibirsk Asia/Shanghai Asia/Krasnoyarsk Asia/Singapore Australia/Perth
  Asia/Taipei Asia/Ulaanbaatar Asia/Irkutsk Asia/Tokyo Asia/Seoul Australia/Adelaide Australia/Darwin
  Australia/Brisbane Australia/Sydney Pacific/Port_Moresby Australia/Hobart Asia/Yakutsk
  Pacific/Guadalcanal Asia/Vladivostok Pacific/Auckland Etc/GMT-12 Pacific/Fiji Asia/Magadan
  Pacific/Tongatapu Pacific/Apia Pacific/Kiritimati
`
    .trim()
    .split(/\s+/),
)

/**
 * The IANA zone that a name means to Graph, which takes Windows names too. Undefined if it knows none, as of `Customized
 * Time Zone`, `tzone://Microsoft/Custom` and most of the IANA names.
 */
export const zoneNamed = (name: string): string | undefined =>
  ianaByWindowsName.get(name) ?? (ianaNames.has(name) ? name : undefined)

export const windowsNameOf = (zone: string): string | undefined =>
  [...ianaByWindowsName].find(([, iana]) => iana === zone)?.[0]

export interface Preferences {
  /** As the caller named it, for it is echoed. */
  readonly timeZone: string
  readonly zone: string
  readonly immutableIds: boolean
}

/** Reads Prefer. Undefined for a zone that Graph does not know, which it refuses. */
export const preferencesOf = (call: Call): Preferences | undefined => {
  const prefer = call.header('prefer') ?? ''
  const timeZone = /outlook\.timezone\s*=\s*"([^"]*)"/i.exec(prefer)?.[1] ?? 'UTC'
  const zone = zoneNamed(timeZone)
  if (zone === undefined) return undefined
  return { timeZone, zone, immutableIds: /IdType\s*=\s*"ImmutableId"/i.test(prefer) }
}

export const idFor = (event: HeldEvent, { immutableIds }: Preferences): string =>
  immutableIds ? event.id : event.defaultId

/** Seven digits of fraction, no offset, and the zone beside it (Microsoft Graph docs, dateTimeTimeZone). */
export const graphTime = (instant: Date, { zone, timeZone }: Preferences): DateTimeTimeZone => ({
  dateTime: `${localOf(instant, zone)}.0000000`,
  timeZone,
})

/** The instant of a dateTimeTimeZone. A zone that Graph cannot resolve counts as UTC here. */
export const instantOfGraphTime = ({ dateTime, timeZone }: DateTimeTimeZone): Date | undefined => {
  if (typeof dateTime !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(dateTime)) return undefined
  // An offset inside dateTime wins over the zone beside it.
  if (/(Z|[+-]\d\d:\d\d)$/.test(dateTime)) {
    const instant = new Date(dateTime)
    return Number.isNaN(instant.getTime()) ? undefined : instant
  }
  return instantOf(dateTime, zoneNamed(timeZone ?? 'UTC') ?? 'UTC')
}
