/** Which of all the evidence counts now. Pure. */
import type { Evidence } from './evidence.ts'
import type { ParticipantId } from './ids.ts'
import type { Meeting, Participant } from './meeting.ts'

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
  const isKnown = ({ id, askedRound }: Participant): boolean => {
    const piece = current.get(id)
    return (
      piece !== undefined && !(isCalendar(piece) && piece.type === 'unknown' && askedRound === meeting.round)
    )
  }
  return new Set(participants.filter(isKnown).map(({ id }) => id))
}
