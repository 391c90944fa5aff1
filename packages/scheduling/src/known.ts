/** Which of all the evidence counts now. Pure. */
import { askKinds } from './actions.ts'
import type { Evidence } from './evidence.ts'
import type { ParticipantId } from './ids.ts'
import type { Meeting, Participant } from './meeting.ts'
import { isBeingAsked } from './round.ts'

const isCalendar = ({ source }: Evidence): boolean => source === 'google' || source === 'microsoft'
const isOwnWord = ({ source }: Evidence): boolean => source === 'reply_page' || source === 'mail'

const latest = (pieces: readonly Evidence[]): Evidence | undefined =>
  pieces.reduce<Evidence | undefined>(
    (best, piece) => (best && best.retrievedAt > piece.retrievedAt ? best : piece),
    undefined,
  )

/**
 * The piece that counts for each person: what their calendar showed in this round; else their own last word, which holds
 * from round to round; else why nothing is known in this round.
 */
export const currentEvidence = (
  meeting: Pick<Meeting, 'round' | 'statedSinceRound'>,
  evidence: readonly Evidence[],
  now: Date,
): ReadonlyMap<ParticipantId, Evidence> => {
  const ids = new Set(evidence.map(({ participantId }) => participantId))
  const current = [...ids].flatMap((id): [ParticipantId, Evidence][] => {
    const pieces = evidence.filter(({ participantId }) => participantId === id)
    const thisRound = pieces.filter(({ round }) => round === meeting.round)
    const piece =
      thisRound.find((each) => isCalendar(each) && each.type === 'known') ??
      latest(
        pieces.filter(
          (each) => isOwnWord(each) && each.round >= meeting.statedSinceRound && each.expiresAt > now,
        ),
      ) ??
      latest(thisRound)
    return piece ? [[id, piece]] : []
  })
  return new Map(current)
}

/** Of whom everything is known that can be: a person who is being asked instead of their calendar has not answered yet. */
export const knownPeople = (
  meeting: Pick<Meeting, 'round' | 'statedSinceRound'>,
  participants: readonly Participant[],
  evidence: readonly Evidence[],
  now: Date,
): ReadonlySet<ParticipantId> => {
  const current = currentEvidence(meeting, evidence, now)
  const isKnown = (person: Participant): boolean => {
    const piece = current.get(person.id)
    if (!piece) return false
    const isRead = evidence.some(
      (each) => each.participantId === person.id && isCalendar(each) && each.round === meeting.round,
    )
    // A calendar is read in every round, also that of somebody who once answered in words.
    if (person.connectionId !== undefined && !isRead) return false
    const isAskedInstead = person.role === 'required' && isCalendar(piece) && piece.type === 'unknown'
    return !(isAskedInstead && isBeingAsked(meeting, person))
  }
  return new Set(participants.filter(isKnown).map(({ id }) => id))
}

/** A message to a person, as far as the asking counts it. */
export interface Message {
  readonly participantId: ParticipantId | undefined
  readonly kind: string
  readonly round: number
  readonly contactedAt: Date
}

/** When a person was written to in the asking that goes on. Questions about an answer are not counted. */
export const messagesTo =
  (meeting: Pick<Meeting, 'statedSinceRound'>, messages: readonly Message[]) =>
  (person: Participant): readonly Date[] =>
    isBeingAsked(meeting, person)
      ? messages
          .filter(
            ({ participantId, kind }) => participantId === person.id && askKinds.some((ask) => ask === kind),
          )
          .filter(({ round }) => round >= (person.askedRound ?? 0))
          .map(({ contactedAt }) => contactedAt)
      : []
