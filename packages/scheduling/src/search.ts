import { workingWindows, type Interval, type WorkingHours } from '@aftercommit/time'
import type { PersonAvailability, PersonTime } from './availability.ts'
import type { Evidence } from './evidence.ts'
import type { ParticipantId } from './ids.ts'
import { durationMs, windowOf } from './intent.ts'
import type { Meeting, Participant } from './meeting.ts'
import { EVIDENCE_EXPIRED, type Searched } from './proposal.ts'
import { findTimes, type FindTimesInput } from './overlap.ts'
import { defaultPreferences } from './preference.ts'

const MINUTE_MS = 60_000

/** The proposed time, and three alternatives to it. */
const SLOTS_MAX = 4

export interface Search {
  readonly meeting: Meeting
  readonly participants: readonly Participant[]
  /** What counts now, at most one piece for each person. */
  readonly evidence: readonly Evidence[]
  /** When each person is promised to other meetings. Nobody is asked to break a promise, not even an optional person. */
  readonly held: ReadonlyMap<ParticipantId, readonly Interval[]>
  readonly now: Date
}

/** Looks for a time from what is known. What has expired by `now` counts as unknown. Pure. */
export const searchTimes = (search: Search): Searched => {
  const input = findTimesInputOf(search)
  const taking = new Set(search.participants.map(({ id }) => id))
  return {
    result: findTimes(input),
    // What is kept of somebody who was replaced is no ground for anything.
    evidenceIds: search.evidence.filter((piece) => taking.has(piece.participantId)).map(({ id }) => id),
    unknownRequired: input.required.flatMap(({ participantId, time }) =>
      time.type === 'unknown' ? [{ participantId, code: time.reason }] : [],
    ),
  }
}

/** The search as instants, without anything that only people read. */
export const findTimesInputOf = ({ meeting, participants, evidence, held, now }: Search): FindTimesInput => {
  const { intent } = meeting
  const window = windowOf(intent)
  const preferences = intent.preferences ?? defaultPreferences
  const evidenceByPerson = new Map(evidence.map((piece) => [piece.participantId, piece]))
  const hoursWithin = hoursOver(window)
  const people = (role: Participant['role']): readonly PersonAvailability[] =>
    participants
      .filter((participant) => participant.role === role)
      .map(({ id, timeZone: zone, workingHours, ...participant }) => ({
        participantId: id,
        time: timeOf(evidenceByPerson.get(id), now),
        held: held.get(id) ?? [],
        bufferBeforeMs: (participant.bufferBeforeMinutes ?? 0) * MINUTE_MS,
        bufferAfterMs: (participant.bufferAfterMinutes ?? 0) * MINUTE_MS,
        // Hours are the client's authority to ask; what somebody states outside of them does not widen it.
        allowed: workingHours && zone && hoursWithin({ ...workingHours, zone }),
      }))
  return {
    durationMs: durationMs(intent),
    window,
    grainMs: preferences.startEveryMinutes * MINUTE_MS,
    zone: intent.timeZone,
    required: people('required'),
    optional: people('optional'),
    approachNotBefore: now,
    rank: {
      ...preferences,
      preferred: preferences.prefer?.flatMap((times) => hoursWithin({ ...times, zone: intent.timeZone })),
    },
    slotsMax: SLOTS_MAX,
  }
}

const timeOf = (piece: Evidence | undefined, now: Date): PersonTime => {
  if (!piece) return { type: 'unknown', reason: 'no_evidence' }
  if (piece.type === 'unknown') return { type: 'unknown', reason: piece.code }
  if (piece.expiresAt <= now) return { type: 'unknown', reason: EVIDENCE_EXPIRED }
  return piece.type === 'known' ? { type: 'known', busy: piece.busy } : { type: 'stated', free: piece.free }
}

/** Hours as instants. Many people keep the same ones, so each kind is laid over the window once. */
const hoursOver = ({ start, end }: Interval): ((hours: WorkingHours) => readonly Interval[]) => {
  const windowsByHours = new Map<string, readonly Interval[]>()
  return (hours) => {
    const key = JSON.stringify([hours.zone, hours.startsAt, hours.endsAt, hours.days])
    const known = windowsByHours.get(key)
    if (known) return known
    const result = workingWindows({ ...hours, from: start, to: end })
    if (result.type !== 'windows') throw new Error('a meeting was stored with hours that mean nothing')
    windowsByHours.set(key, result.windows)
    return result.windows
  }
}

/** What each of these people keeps free around a meeting, in minutes. */
type Buffered = Pick<Participant, 'bufferBeforeMinutes' | 'bufferAfterMinutes'>

/**
 * The time that has to be known of these people so that their buffers can be kept: of a window to search, or of a slot to
 * check once more. What lies just outside of it may still be too near.
 */
export const withBuffers = ({ start, end }: Interval, people: readonly Buffered[]): Interval => {
  const widest = (minutes: readonly (number | undefined)[]): number =>
    Math.max(0, ...minutes.map((each) => each ?? 0)) * MINUTE_MS
  return {
    start: new Date(start.getTime() - widest(people.map(({ bufferBeforeMinutes }) => bufferBeforeMinutes))),
    end: new Date(end.getTime() + widest(people.map(({ bufferAfterMinutes }) => bufferAfterMinutes))),
  }
}
