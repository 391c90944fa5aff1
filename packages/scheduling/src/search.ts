import { workingWindows, parseTimeZone, type Interval } from '@aftercommit/time'
import type { Evidence } from './evidence.ts'
import type { ParticipantId } from './ids.ts'
import { durationMs, windowOf } from './intent.ts'
import { EVIDENCE_EXPIRED, type Meeting, type Participant, type Searched } from './meeting.ts'
import { findTimes, type PersonAvailability } from './overlap.ts'

const GRAIN_MS = 15 * 60_000

export interface Search {
  readonly meeting: Meeting
  readonly participants: readonly Participant[]
  /** This round's evidence. */
  readonly evidence: readonly Evidence[]
  readonly now: Date
}

/** Looks for a time from this round's evidence. What has expired by `now` counts as unknown. Pure. */
export const searchTimes = ({ meeting, participants, evidence, now }: Search): Searched => {
  const window = windowOf(meeting.intent)
  const evidenceByPerson = new Map(evidence.map((piece) => [piece.participantId, piece]))
  const people = (role: Participant['role']): readonly PersonAvailability[] =>
    participants
      .filter((participant) => participant.role === role)
      .map((participant) => availabilityOf(participant, evidenceByPerson, window, now))
  const required = people('required')
  const result = findTimes({
    durationMs: durationMs(meeting.intent),
    window,
    grainMs: GRAIN_MS,
    required,
    optional: people('optional'),
    approachNotBefore: now,
    maxProposals: 3,
  })
  return {
    result,
    evidenceIds: evidence.map(({ id }) => id),
    unknownRequired: required.flatMap(({ participantId, busy }) =>
      busy.type === 'unknown' ? [{ participantId, code: busy.reason }] : [],
    ),
  }
}

const availabilityOf = (
  participant: Participant,
  evidenceByPerson: ReadonlyMap<ParticipantId, Evidence>,
  window: Interval,
  now: Date,
): PersonAvailability => {
  const piece = evidenceByPerson.get(participant.id)
  const allowed = allowedOf(participant, window)
  const unknown = (reason: string): PersonAvailability => ({
    participantId: participant.id,
    busy: { type: 'unknown', reason },
    allowed,
  })
  if (!piece) return unknown('no_evidence')
  if (piece.type === 'unknown') return unknown(piece.code)
  if (piece.expiresAt <= now) return unknown(EVIDENCE_EXPIRED)
  return {
    participantId: participant.id,
    busy: { type: 'known', busy: piece.busy, bufferBeforeMs: 0, bufferAfterMs: 0 },
    allowed,
  }
}

const allowedOf = (participant: Participant, window: Interval): readonly Interval[] | undefined => {
  const { workingHours, timeZone } = participant
  if (!workingHours || timeZone === undefined) return undefined
  const zone = parseTimeZone(timeZone)
  if (zone.type !== 'zone') throw new Error('a participant was stored with a zone that does not exist')
  const windows = workingWindows({ ...workingHours, zone: zone.zone, from: window.start, to: window.end })
  if (windows.type !== 'windows') throw new Error('a participant was stored with hours that mean nothing')
  return windows.windows
}
