/** Free/busy arithmetic that both providers need: windows and address lists in parts, and parts back into one answer. */
import type { CallFailure } from '../call.ts'
import type { CalendarBusy, FreeBusyAnswer, FreeBusyQuery, Interval } from './calendar.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

/** The most one provider takes in one request. */
export interface ReadLimits {
  readonly windowMaxMs: number
  readonly addressesMax: number
}

/** One part of a query, as small as the provider wants it. */
export interface ReadPart {
  readonly addresses: readonly string[]
  readonly window: Interval
}

export type PartAnswer =
  { readonly type: 'read'; readonly busyByAddress: ReadonlyMap<string, CalendarBusy> } | CallFailure

/**
 * Reads a query part by part, one after the other, and merges the parts. The first part that fails fails the read: half
 * of a window is not evidence. A calendar that is unknown in any part is unknown.
 */
export const readInParts = async (
  query: FreeBusyQuery,
  limits: ReadLimits,
  readPart: (part: ReadPart) => Promise<PartAnswer>,
): Promise<FreeBusyAnswer> => {
  const merged = new Map<string, CalendarBusy>()
  for (const part of partsOf(query, limits)) {
    const answer = await readPart(part)
    if (answer.type !== 'read') return answer
    for (const [address, busy] of answer.busyByAddress) {
      merged.set(address, joinParts(merged.get(address), busy))
    }
  }
  const busyByAddress = new Map([...merged].map(([address, busy]) => [address, within(busy, query.window)]))
  return { type: 'read', busyByAddress }
}

const partsOf = ({ addresses, window }: FreeBusyQuery, limits: ReadLimits): readonly ReadPart[] => {
  // Written so that an invalid date, which compares false with everything, is caught as well.
  if (!(window.start < window.end)) throw new RangeError('a free/busy window ends after it starts')
  const groups = chunk([...new Set(addresses)], limits.addressesMax)
  return splitWindow(window, limits.windowMaxMs).flatMap((piece) =>
    groups.map((group) => ({ addresses: group, window: piece })),
  )
}

/** Consecutive pieces that cover the window, none longer than `lengthMaxMs`. */
export const splitWindow = (window: Interval, lengthMaxMs: number): readonly Interval[] => {
  const lengthMs = window.end.getTime() - window.start.getTime()
  return Array.from({ length: Math.ceil(lengthMs / lengthMaxMs) }, (_, index) => {
    const startMs = window.start.getTime() + index * lengthMaxMs
    return { start: new Date(startMs), end: new Date(Math.min(startMs + lengthMaxMs, window.end.getTime())) }
  })
}

const chunk = <T>(items: readonly T[], sizeMax: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / sizeMax) }, (_, index) =>
    items.slice(index * sizeMax, (index + 1) * sizeMax),
  )

const joinParts = (before: CalendarBusy | undefined, part: CalendarBusy): CalendarBusy => {
  if (before === undefined || before.type === 'unknown') return before ?? part
  return part.type === 'unknown' ? part : { type: 'known', busy: [...before.busy, ...part.busy] }
}

const within = (busy: CalendarBusy, window: Interval): CalendarBusy =>
  busy.type === 'unknown' ? busy : { type: 'known', busy: clipAndMerge(busy.busy, window) }

/** Sorted, disjoint and inside the window; touching intervals become one, empty ones vanish. */
export const clipAndMerge = (intervals: readonly Interval[], window: Interval): readonly Interval[] => {
  const sorted = intervals
    .map(({ start, end }) => ({
      startMs: Math.max(start.getTime(), window.start.getTime()),
      endMs: Math.min(end.getTime(), window.end.getTime()),
    }))
    .filter(({ startMs, endMs }) => startMs < endMs)
    .sort((a, b) => a.startMs - b.startMs)
  const merged: { startMs: number; endMs: number }[] = []
  for (const interval of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && interval.startMs <= last.endMs)
      last.endMs = Math.max(last.endMs, interval.endMs)
    else merged.push({ ...interval })
  }
  return merged.map(({ startMs, endMs }) => ({ start: new Date(startMs), end: new Date(endMs) }))
}

/** The answer's entry for an asked address. Providers have been seen to change the case of what they echo. */
export const findByAddress = <T>(entries: ReadonlyMap<string, T>, address: string): T | undefined => {
  const exact = entries.get(address)
  if (exact !== undefined) return exact
  const wanted = address.toLowerCase()
  return [...entries].find(([key]) => key.toLowerCase() === wanted)?.[1]
}
