/**
 * The slow and obvious way to find times, for checking the fast one: a question for every person and every minute.
 * All times must be whole minutes.
 */
import type { Interval } from '@aftercommit/time'
import type {
  AbsenceReason,
  Blocker,
  FindTimesInput,
  FindTimesResult,
  NearestSlot,
  PersonAvailability,
  Slot,
} from './overlap.ts'

const minuteMs = 60_000

/** The answer `findTimes` must give. */
export const findTimesSlowly = (input: FindTimesInput): FindTimesResult => {
  const unknown = input.required.filter((person) => person.busy.type === 'unknown')
  if (unknown.length > 0) {
    return { type: 'unknown_required', participantIds: unknown.map((person) => person.participantId) }
  }
  const starts = minutesOf(usable(input)).filter((start) => {
    const end = new Date(start.getTime() + input.durationMs)
    return start.getTime() % input.grainMs === 0 && end <= input.window.end
  })
  const slots = starts
    .filter((start) => input.required.every((person) => absence(person, slotOf(start, input)) === undefined))
    .map((start) => withOptional(input, slotOf(start, input)))
    .sort((a, b) => b.optionalAttending.length - a.optionalAttending.length || compareStarts(a, b))
  if (slots.length > 0) return { type: 'found', slots: slots.slice(0, input.maxProposals) }
  const blockers = blockersSlowly(input)
  return {
    type: 'no_overlap',
    blockers: blockers.slice(0, 50),
    blockersTruncated: blockers.length > 50,
    nearest: nearestSlowly(input, starts),
  }
}

/** Why a person cannot attend throughout a stretch: the most certain reason of any of its minutes. */
const absence = (person: PersonAvailability, stretch: Interval): AbsenceReason | undefined => {
  const reasons = minutesOf(stretch).map((minute) => absenceAt(person, minute))
  return (['outside_hours', 'busy', 'unknown'] as const).find((reason) => reasons.includes(reason))
}

const absenceAt = ({ allowed, busy }: PersonAvailability, minute: Date): AbsenceReason | undefined => {
  if (allowed !== undefined && !allowed.some((stretch) => holds(stretch, minute))) return 'outside_hours'
  if (busy.type === 'unknown') return 'unknown'
  const isBusy = busy.busy
    .filter(({ start, end }) => start < end)
    .some(({ start, end }) =>
      holds(
        {
          start: new Date(start.getTime() - busy.bufferBeforeMs),
          end: new Date(end.getTime() + busy.bufferAfterMs),
        },
        minute,
      ),
    )
  return isBusy ? 'busy' : undefined
}

const withOptional = (input: FindTimesInput, slot: Interval): Slot => {
  const reasons = input.optional.map((person) => ({
    id: person.participantId,
    because: absence(person, slot),
  }))
  return {
    ...slot,
    optionalAttending: reasons.filter(({ because }) => because === undefined).map(({ id }) => id),
    optionalMissing: reasons.flatMap(({ id, because }) => (because === undefined ? [] : [{ id, because }])),
  }
}

/** Runs of minutes with the same people absent for the same reasons. */
const blockersSlowly = (input: FindTimesInput): readonly Blocker[] => {
  const runs: { start: Date; end: Date; by: Blocker['by'] }[] = []
  for (const minute of minutesOf(usable(input))) {
    const by = input.required.flatMap((person): Blocker['by'] => {
      const because = absenceAt(person, minute)
      if (because === undefined || because === 'unknown') return []
      return [{ participantId: person.participantId, because }]
    })
    const end = new Date(minute.getTime() + minuteMs)
    const run = runs.at(-1)
    if (run !== undefined && JSON.stringify(run.by) === JSON.stringify(by)) run.end = end
    else runs.push({ start: minute, end, by })
  }
  return runs.filter(({ by }) => by.length > 0).map(({ start, end, by }) => ({ stretch: { start, end }, by }))
}

const nearestSlowly = (input: FindTimesInput, starts: readonly Date[]): readonly NearestSlot[] => {
  const candidates = starts
    .map((start): NearestSlot => {
      const slot = slotOf(start, input)
      const missing = input.required.filter((person) => absence(person, slot) !== undefined)
      return { ...slot, missingRequired: missing.map((person) => person.participantId) }
    })
    .sort((a, b) => a.missingRequired.length - b.missingRequired.length || compareStarts(a, b))
  const nearest: NearestSlot[] = []
  for (const candidate of candidates) {
    const overlaps = nearest.some((other) => candidate.start < other.end && other.start < candidate.end)
    if (!overlaps && nearest.length < 3) nearest.push(candidate)
  }
  return nearest
}

const usable = ({ window, approachNotBefore }: FindTimesInput): Interval => ({
  start: approachNotBefore > window.start ? approachNotBefore : window.start,
  end: window.end,
})
const slotOf = (start: Date, { durationMs }: FindTimesInput): Interval => ({
  start,
  end: new Date(start.getTime() + durationMs),
})
const holds = ({ start, end }: Interval, minute: Date): boolean => start <= minute && minute < end
const compareStarts = (a: Interval, b: Interval): number => a.start.getTime() - b.start.getTime()

const minutesOf = ({ start, end }: Interval): readonly Date[] => {
  const minutes: Date[] = []
  for (let at = start.getTime(); at < end.getTime(); at += minuteMs) minutes.push(new Date(at))
  return minutes
}
