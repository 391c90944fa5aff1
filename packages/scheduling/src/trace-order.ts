/** One order that can be trusted: nothing stands before what it followed. Pure. */
import type { EntryOf, TraceEntry } from './trace-entries.ts'

/**
 * What one transaction wrote shares its time. Within it an attempt ends first, then its action; what was learned or
 * decided comes next, and what shall follow last.
 */
const rankByType = {
  meeting_opened: 0,
  attempt: 0,
  unknown_resolved: 1,
  action_ended: 2,
  message_sent: 3,
  reply_received: 3,
  evidence: 3,
  event_written: 3,
  completion_verified: 3,
  exception_ended: 4,
  repair_resolved: 4,
  decision: 4,
  hold_released: 4,
  proposal: 5,
  approval: 6,
  hold_placed: 7,
  exception_opened: 8,
  repair_opened: 8,
  action_enqueued: 9,
} as const satisfies Record<TraceEntry['type'], number>

/**
 * Orders entries by their times, corrected by cause: a transaction is dated by its beginning, so one that waited for
 * another's lock may have followed it and still be dated before it. The times themselves are not touched. Entries of one
 * action must come in the order in which they happened.
 */
export const inCausalOrder = (entries: readonly TraceEntry[]): readonly TraceEntry[] => {
  const lastByAction = new Map<string, Place>()
  const readings = entries.filter(isReading)
  const placed = entries.map((entry, index) => {
    const read = isSearch(entry) ? readings.filter(({ round }) => round === entry.about.round) : []
    // Times of this form sort as text.
    const own = { at: latest([entry.at, ...read.map(({ at }) => at)]), rank: rankByType[entry.type] }
    if (!('actionId' in entry)) return { entry, index, ...own }
    const place = notBefore(own, lastByAction.get(entry.actionId))
    lastByAction.set(entry.actionId, place)
    return { entry, index, ...place }
  })
  return placed
    .sort((a, b) => compareText(a.at, b.at) || a.rank - b.rank || a.index - b.index)
    .map(({ entry }) => entry)
}

interface Place {
  readonly at: string
  readonly rank: number
}

const notBefore = (place: Place, earlier: Place | undefined): Place => {
  if (!earlier || earlier.at < place.at) return place
  return earlier.at > place.at ? earlier : { at: place.at, rank: Math.max(place.rank, earlier.rank) }
}

const latest = (times: readonly string[]): string => times.reduce((a, b) => (b > a ? b : a))

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A calendar that was read in a round. The last of a round asks for the search. */
const isReading = (entry: TraceEntry): entry is EntryOf<'evidence'> =>
  entry.type === 'evidence' && (entry.source === 'google' || entry.source === 'microsoft')

const isSearch = (entry: TraceEntry): entry is EntryOf<'action_enqueued'> =>
  entry.type === 'action_enqueued' && entry.action === 'scheduling.find_time'
