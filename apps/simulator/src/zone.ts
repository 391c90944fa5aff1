/**
 * Wall time and instants, by Intl alone. The simulator keeps its own arithmetic so that a mistake in the
 * product's cannot hide behind the same mistake here.
 */

const formatByZone = new Map<string, Intl.DateTimeFormat>()

const wallClock = (zone: string): Intl.DateTimeFormat => {
  const known = formatByZone.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  formatByZone.set(zone, format)
  return format
}

/** Whether the name is a zone with rules: three-letter abbreviations are refused, for they name several. */
export const isZone = (name: string): boolean => {
  if (name !== 'UTC' && !/^[A-Za-z_]+\/.+/.test(name)) return false
  try {
    wallClock(name)
    return true
  } catch {
    return false
  }
}

/** Wall time of the instant in the zone, `YYYY-MM-DDTHH:mm:ss`. */
export const localOf = (instant: Date, zone: string): string => {
  const parts = new Map(
    wallClock(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}`
}

/** How far the zone's clock is ahead of UTC at that instant. */
export const offsetMs = (instantMs: number, zone: string): number => {
  const wholeSecond = Math.floor(instantMs / 1000) * 1000
  return Date.parse(`${localOf(new Date(wholeSecond), zone)}Z`) - wholeSecond
}

const dayMs = 86_400_000

/**
 * The instant of a wall time such as `2026-03-24T10:00:00.0000000`. A time that the clock skips moves forward
 * by the gap, one that it repeats is the earlier (RFC 5545, 3.3.5). Undefined if it is no date and time at
 * all.
 */
export const instantOf = (local: string, zone: string): Date | undefined => {
  const wallMs = Date.parse(`${local.replace(/(\.\d{3})\d+$/, '$1')}Z`)
  if (Number.isNaN(wallMs)) return undefined
  const before = offsetMs(wallMs - dayMs, zone)
  const after = offsetMs(wallMs + dayMs, zone)
  const fits = (offset: number) => offsetMs(wallMs - offset, zone) === offset
  const candidates = [before, after].filter(fits).map((offset) => wallMs - offset)
  return new Date(candidates.length > 0 ? Math.min(...candidates) : wallMs - before)
}

/** RFC 3339 with the zone's offset at that instant; `Z` for UTC. */
export const withOffset = (instant: Date, zone: string): string => {
  if (zone === 'UTC') return instant.toISOString().replace(/\.\d{3}Z$/, 'Z')
  const minutes = Math.round(offsetMs(instant.getTime(), zone) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const sign = minutes < 0 ? '-' : '+'
  return `${localOf(instant, zone)}${sign}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
}
