/**
 * Prints what a process whose host is set to some other zone (TZ) makes of the same instants. Run by a test as a
 * process of its own, because a running one does not take up another zone.
 */
import { fileURLToPath } from 'node:url'
import { formatInTimeZone } from 'date-fns-tz'
import { formatInstant } from './format.ts'
import { localToInstant } from './local.ts'
import { workingWindows } from './working.ts'
import { asLocal, minuteMs, zoneNamed } from './wall.testing.ts'

export const pattern = "yyyy-MM-dd'T'HH:mm:ssXXX"

const zones = [
  'Asia/Kolkata',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'UTC',
]
// Each host skips or repeats an hour on one of these dates; the last one begins an ISO year.
const dates = ['2026-03-08', '2026-03-29', '2026-10-04', '2026-10-25', '2026-11-01', '2025-12-29']

const steps = 72

export interface Probe {
  readonly zone: string
  readonly at: number
}

/** A day and a half around each date, in steps of half an hour. */
export const probes = (): readonly Probe[] =>
  zones.flatMap((zone) =>
    dates.flatMap((date) =>
      Array.from({ length: steps }, (_, step) => ({
        zone,
        at: Date.parse(`${date}T00:00Z`) - 18 * 60 * minuteMs + step * 30 * minuteMs,
      })),
    ),
  )

/**
 * What a host makes of the probes: our text, date-fns-tz' own, then the week and a local time read back; with the first probe of each
 * zone and date the working hours around it too.
 */
export const readings = (): readonly string[][] =>
  probes().map(({ zone: name, at }, index) => {
    const zone = zoneNamed(name)
    const text = formatInstant(new Date(at), zone, pattern)
    const days = [1, 2, 3, 4, 5, 6, 7]
    const stretch = { from: new Date(at), to: new Date(at + 48 * 60 * minuteMs) }
    const read = [
      // Weeks are found by date-fns' own arithmetic, which sets hours and dates as well as reading them.
      formatInstant(new Date(at), zone, "RRRR-'W'II-i, yyyy 'Q'Q"),
      localToInstant(asLocal(at), zone),
      index % steps === 0
        ? workingWindows({ zone, startsAt: '01:30', endsAt: '02:30', days, ...stretch })
        : null,
    ]
    return [text, formatInTimeZone(at, name, pattern), JSON.stringify(read)]
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(
    readings()
      .map((reading) => reading.join('\t'))
      .join('\n'),
  )
}
