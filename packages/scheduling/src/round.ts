/**
 * A round of a meeting: whose calendar is read, who is asked by mail and when, and when enough is known for a time to be
 * looked for. Pure; gathering.ts does it within a transaction.
 */
import type { ActionRequest } from '@aftercommit/outbox'
import { schedulingActions } from './actions.ts'
import type { ParticipantId } from './ids.ts'
import { facets, MAIL_ACCOUNT, moved, type Change, type Meeting, type Participant } from './meeting.ts'
import { nextContactAt } from './outreach/cadence.ts'

/** Who has to be heard in a round, and of whom everything is known already. */
export interface Gathering {
  readonly participants: readonly Participant[]
  /** Whose evidence of this round is in; see known.ts. */
  readonly knownOf: ReadonlySet<ParticipantId>
  /** When each person was written to in the asking that goes on; see known.ts. */
  readonly sentTo: (person: Participant) => readonly Date[]
  readonly now: Date
}

/** Whether somebody has been asked about this window: then the asking goes on from round to round, and is not begun anew. */
export const isBeingAsked = (
  { statedSinceRound }: Pick<Meeting, 'statedSinceRound'>,
  { askedRound }: Pick<Participant, 'askedRound'>,
): boolean => askedRound !== undefined && askedRound >= statedSinceRound

/** Reads everybody's calendar for the meeting's current round, and asks those who have none and have not told yet. */
export const gather = (
  meeting: Meeting,
  gathering: Gathering,
): Change & { readonly asked: readonly ParticipantId[] } => {
  const { participants, knownOf, sentTo, now } = gathering
  const unknown = participants.filter(({ id }) => !knownOf.has(id))
  const asked = unknown.filter(({ connectionId }) => connectionId === undefined)
  const reads = unknown.flatMap(({ id, connectionId }) =>
    connectionId === undefined
      ? []
      : [
          schedulingActions.readAvailability.request(
            { meetingId: meeting.id, participantId: id, round: meeting.round },
            facets(meeting, connectionId),
          ),
        ],
  )
  const asks = asked.flatMap((person) => askAgain(meeting, person, sentTo(person), now))
  const arrived = evidenceArrived(moved(meeting, { type: 'gathering' }), participants, knownOf)
  return {
    meeting: arrived.meeting,
    actions: [...reads, ...asks, ...arrived.actions],
    asked: asked.filter((person) => !isBeingAsked(meeting, person)).map(({ id }) => id),
  }
}

/** Optional people are asked once: nobody's meeting waits for reminders to them. */
const messagesMaxOf = (meeting: Meeting, person: Participant): number =>
  person.role === 'optional' ? 1 : (meeting.intent.outreach?.messagesMax ?? 0)

/**
 * The next message to a person, at a humane hour; after the last one, the row that ends the asking when the last message
 * had its time. Without authority to ask there is none.
 */
export const askAgain = (
  meeting: Meeting,
  person: Participant,
  sent: readonly Date[],
  now: Date,
): readonly ActionRequest[] => {
  const at = contactDueAt(meeting, person, sent, now)
  if (!at) return []
  return [
    schedulingActions.askParticipant.request(
      {
        meetingId: meeting.id,
        participantId: person.id,
        participantRevision: person.revision,
        round: meeting.round,
        number: sent.length + 1,
      },
      { ...facets(meeting, MAIL_ACCOUNT), participantRevision: person.revision, notBefore: at },
    ),
  ]
}

/** When the next message may go out, or the last one has had its time. Undefined without authority, and past the deadline. */
export const contactDueAt = (
  meeting: Meeting,
  person: Participant,
  sent: readonly Date[],
  now: Date,
): Date | undefined => {
  const { outreach, timeZone, bookBy } = meeting.intent
  if (!outreach) return undefined
  const policy = {
    ...outreach,
    // One more than are sent: the last row finds that enough was sent, and says that nobody answered.
    messagesMax: messagesMaxOf(meeting, person) + 1,
    stopAt: new Date(bookBy),
  }
  const next = nextContactAt(policy, sent, person.timeZone ?? timeZone, now)
  return next.type === 'at' ? next.at : undefined
}

/** Whether this message is one too many: the person has had all that the authority allows, and did not answer. */
export const askedEnough = (meeting: Meeting, person: Participant, number: number): boolean =>
  number > messagesMaxOf(meeting, person)

/** A piece of evidence has arrived. When it was the last one of the round, a time is looked for. */
export const evidenceArrived = (
  meeting: Meeting,
  participants: readonly Participant[],
  knownOf: ReadonlySet<ParticipantId>,
): Change => {
  const complete = participants.every(({ id }) => knownOf.has(id))
  if (meeting.state.type !== 'gathering' || !complete) return { meeting, actions: [] }
  const find = schedulingActions.findTime.request(
    { meetingId: meeting.id, round: meeting.round },
    facets(meeting),
  )
  return { meeting: moved(meeting, { type: 'choosing' }), actions: [find] }
}

/** The meeting in its next round: everybody's time is to be gathered anew. */
export const nextRound = (meeting: Meeting): Meeting => ({ ...meeting, round: meeting.round + 1 })
