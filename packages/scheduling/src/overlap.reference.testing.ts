/**
 * The slow and obvious way to find times, for checking the fast one: a question for every person and every minute, and a
 * clock that is asked what it shows. All times must be whole minutes.
 */
import type { Interval } from '@aftercommit/time'
import { absenceReasons, type AbsenceReason, type PersonAvailability } from './availability.ts'
import type { Blocker, NearestSlot, RequiredMissing, SoleBlocker } from './blockers.ts'
import type { FindTimesInput, FindTimesResult, Slot } from './overlap.ts'
import type { Ranking } from './ranking.ts'

const minuteMs = 60_000

/** The answer `findTimes` must give. */
export const findTimesSlowly = (input: FindTimesInput): FindTimesResult => {
  const unknown = input.required.filter(({ time }) => time.type === 'unknown')
  if (unknown.length > 0) {
    return { type: 'unknown_required', participantIds: unknown.map(({ participantId }) => participantId) }
  }
  const starts = startsSlowly(input)
  const possible = possibleSlowly(input)
  if (possible.length > 0) {
    return { type: 'found', slots: farApart(possible, input, input.slotsMax) }
  }
  const blockers = blockersSlowly(input)
  return {
    type: 'no_overlap',
    startsTried: starts.length,
    blockers: blockers.slice(0, 50),
    blockersTruncated: blockers.length > 50,
    soleBlockers: soleBlockersSlowly(input, starts),
    nearest: nearestSlowly(input, starts),
  }
}

/** Every slot that no required person misses, the best one first. */
export const possibleSlowly = (input: FindTimesInput): readonly Slot[] =>
  startsSlowly(input)
    .filter((start) => missingFrom(input.required, slotOf(start, input)).length === 0)
    .map((start) => withOptional(input, slotOf(start, input)))
    .sort((a, b) => compareSlowly(input, a, b))

const startsSlowly = (input: FindTimesInput): readonly Date[] =>
  minutesOf(usable(input)).filter((start) => {
    const end = new Date(start.getTime() + input.durationMs)
    return minuteOfDay(start, input.zone) % (input.grainMs / minuteMs) === 0 && end <= input.window.end
  })

/** Why a person cannot attend throughout a stretch: the most certain reason of any of its minutes. */
const absence = (person: PersonAvailability, stretch: Interval): AbsenceReason | undefined => {
  const reasons = minutesOf(stretch).map((minute) => absenceAt(person, minute))
  return absenceReasons.find((reason) => reasons.includes(reason))
}

export const absenceAt = (person: PersonAvailability, minute: Date): AbsenceReason | undefined => {
  const reasonByMinute = asked.get(person) ?? new Map<number, AbsenceReason | undefined>()
  asked.set(person, reasonByMinute)
  if (!reasonByMinute.has(minute.getTime())) reasonByMinute.set(minute.getTime(), askAt(person, minute))
  return reasonByMinute.get(minute.getTime())
}

/** Slow is enough; the same question is not asked for every start anew. */
const asked = new WeakMap<PersonAvailability, Map<number, AbsenceReason | undefined>>()

const askAt = (person: PersonAvailability, minute: Date): AbsenceReason | undefined => {
  const { allowed, time, held } = person
  if (allowed !== undefined && !anyHolds(allowed, minute)) return 'outside_hours'
  if (anyHolds(held, minute)) return 'held'
  const busy = time.type === 'known' ? time.busy : []
  if (anyHolds(busy, minute)) return 'busy'
  const near = [...held, ...busy]
    .filter(({ start, end }) => start < end)
    .map(({ start, end }) => ({
      start: new Date(start.getTime() - person.bufferAfterMs),
      end: new Date(end.getTime() + person.bufferBeforeMs),
    }))
  if (anyHolds(near, minute)) return 'buffer'
  if (time.type === 'stated' && !anyHolds(time.free, minute)) return 'not_stated'
  return time.type === 'unknown' ? 'unknown' : undefined
}

const missingFrom = (people: readonly PersonAvailability[], slot: Interval): readonly RequiredMissing[] =>
  people.flatMap((person) => {
    const because = absence(person, slot)
    return because === undefined ? [] : [{ participantId: person.participantId, because }]
  })

const withOptional = (input: FindTimesInput, slot: Interval): Slot => {
  const missing = missingFrom(input.optional, slot)
  const missingIds = missing.map(({ participantId }) => participantId)
  const optionalAttending = input.optional
    .map(({ participantId }) => participantId)
    .filter((id) => !missingIds.includes(id))
  return {
    ...slot,
    optionalAttending,
    optionalMissing: missing.map(({ participantId, because }) => ({ id: participantId, because })),
    ranking: rankingSlowly(input, slot, optionalAttending.length),
  }
}

const rankingSlowly = (input: FindTimesInput, slot: Interval, attending: number): Ranking => {
  const { first, order, preferred } = input.rank
  const start = slot.start.toISOString()
  const last: Ranking = [{ criterion: order, value: start }]
  const attendance: Ranking =
    input.optional.length > 0 ? [{ criterion: 'optional_attendance', value: attending }] : []
  const liked: Ranking =
    preferred === undefined
      ? []
      : [
          {
            criterion: 'preferred_time',
            value: minutesOf(slot).every((minute) => anyHolds(preferred, minute)),
          },
        ]
  if (first === 'start') return last
  return first === 'optional_attendance'
    ? [...attendance, ...liked, ...last]
    : [...liked, ...attendance, ...last]
}

/** Rankings of one search name the same criteria in the same order. */
const compareSlowly = (
  input: FindTimesInput,
  a: Pick<Slot, 'start' | 'ranking'>,
  b: Pick<Slot, 'start' | 'ranking'>,
): number => {
  for (const [index, entry] of a.ranking.entries()) {
    const other = b.ranking[index]
    const [here, there] = [Number(entry.value), Number(other?.value)]
    if (entry.criterion === 'earliest') return a.start.getTime() - b.start.getTime()
    if (entry.criterion === 'latest') return b.start.getTime() - a.start.getTime()
    if (here !== there) return there - here
  }
  throw new Error(`nothing tells two slots of ${input.rank.first} apart`)
}

/** Runs of minutes with the same people absent for the same reasons. */
const blockersSlowly = (input: FindTimesInput): readonly Blocker[] => {
  const runs: { start: Date; end: Date; by: Blocker['by'] }[] = []
  for (const minute of minutesOf(usable(input))) {
    const by = input.required.flatMap((person): Blocker['by'] => {
      const because = absenceAt(person, minute)
      return because === undefined ? [] : [{ participantId: person.participantId, because }]
    })
    const end = new Date(minute.getTime() + minuteMs)
    const run = runs.at(-1)
    if (run !== undefined && JSON.stringify(run.by) === JSON.stringify(by)) run.end = end
    else runs.push({ start: minute, end, by })
  }
  return runs
    .filter(({ by }) => by.length > 0)
    .map(({ start, end, by }) => ({ stretch: { start, end }, by: by.slice(0, 10), count: by.length }))
}

const soleBlockersSlowly = (input: FindTimesInput, starts: readonly Date[]): readonly SoleBlocker[] =>
  input.required
    .map(({ participantId }) => {
      const alone = starts.filter((start) => {
        const [only, ...others] = missingFrom(input.required, slotOf(start, input))
        return only?.participantId === participantId && others.length === 0
      })
      return { participantId, starts: alone.length }
    })
    .filter(({ starts: count }) => count > 0)
    .sort((a, b) => b.starts - a.starts)

const nearestSlowly = (input: FindTimesInput, starts: readonly Date[]): readonly NearestSlot[] => {
  const candidates = starts
    .map((start) => {
      const slot = slotOf(start, input)
      const { ranking } = withOptional(input, slot)
      return { ...slot, ranking, missingRequired: missingFrom(input.required, slot) }
    })
    .sort((a, b) => a.missingRequired.length - b.missingRequired.length || compareSlowly(input, a, b))
  return farApart(candidates, input, 3).map(({ start, end, missingRequired }) => ({
    start,
    end,
    missingRequired,
  }))
}

const farApart = <S extends Interval>(
  inOrder: readonly S[],
  { rank, zone }: FindTimesInput,
  max: number,
): readonly S[] => {
  const chosen: S[] = []
  for (const candidate of inOrder) {
    const isFar = chosen.every((other) => {
      const overlaps = candidate.start < other.end && other.start < candidate.end
      const sameDay = shown(candidate.start, zone).slice(0, 10) === shown(other.start, zone).slice(0, 10)
      return !overlaps && !(rank.spread === 'different_days' && sameDay)
    })
    if (isFar && chosen.length < max) chosen.push(candidate)
  }
  return chosen
}

const usable = ({ window, approachNotBefore }: FindTimesInput): Interval => ({
  start: approachNotBefore > window.start ? approachNotBefore : window.start,
  end: window.end,
})
const slotOf = (start: Date, { durationMs }: FindTimesInput): Interval => ({
  start,
  end: new Date(start.getTime() + durationMs),
})
const anyHolds = (stretches: readonly Interval[], minute: Date): boolean =>
  stretches.some(({ start, end }) => start <= minute && minute < end)

const minutesOf = ({ start, end }: Interval): readonly Date[] => {
  const minutes: Date[] = []
  for (let at = start.getTime(); at < end.getTime(); at += minuteMs) minutes.push(new Date(at))
  return minutes
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const shownBefore = new Map<string, string>()

/** What the clock of a zone shows, `YYYY-MM-DD HH:mm`, by asking Intl, which the code under test does not. */
export const shown = (at: Date, zone: string): string => {
  const key = `${zone} ${at.getTime()}`
  const known = shownBefore.get(key)
  if (known !== undefined) return known
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  clocks.set(zone, clock)
  const text = clock.format(at)
  shownBefore.set(key, text)
  return text
}

const minuteOfDay = (at: Date, zone: string): number => {
  const text = shown(at, zone)
  return Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16))
}
