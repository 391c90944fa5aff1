/** Gathering within a transaction: who is known already, who has to be read, and who has to be asked. */
import { supersede } from '@aftercommit/outbox/enqueue'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { knownPeople, messagesTo } from './known.ts'
import type { LookAgainReason } from './decision.ts'
import type { ParticipantId } from './ids.ts'
import type { Change, Meeting } from './meeting.ts'
import { evidenceArrived, gather } from './round.ts'
import { openRepairNow } from './repairing.ts'
import {
  countLooksAgain,
  insertDecision,
  markAsked,
  readContacts,
  readEvidence,
  readParticipants,
} from './store.ts'

/** Begins the meeting's current round. Its caller saves the meeting and enqueues. */
export const gatherNow = async (tx: Tx, meeting: Meeting): Promise<Change> => {
  const participants = await readParticipants(tx, meeting.id)
  const evidence = await readEvidence(tx, meeting.id)
  const knownOf = knownPeople(meeting, participants, evidence, tx.now)
  // Messages of an earlier round would find so by themselves; ended here, nobody waits for them.
  const { name } = schedulingActions.askParticipant
  if (meeting.round > 1) await supersede(tx, { type: 'meeting', id: meeting.id }, [name], 'round_over')
  const { asked, ...change } = gather(meeting, {
    participants,
    knownOf,
    sentTo: messagesTo(meeting, await readContacts(tx, meeting.id)),
    now: tx.now,
  })
  await markAsked(tx, asked, meeting.round)
  return change
}

/** After so many times in a row in which what was found was lost again, a person must look: more of the same helps nobody. */
export const LOOKS_AGAIN_MAX = 10

export interface LookingAgain {
  readonly because: Exclude<LookAgainReason, 'answered' | 'declined' | 'cleared'>
  /** Whose time was in the way. */
  readonly participantIds?: readonly ParticipantId[]
}

/**
 * Begins the meeting's round, the next one because what was found holds no more, by nobody's word. When that has happened
 * too often since anybody said anything, it is a repair instead. Its caller saves the meeting and enqueues.
 */
export const lookAgainByRule = async (
  tx: Tx,
  meeting: Meeting,
  { because, participantIds = [] }: LookingAgain,
): Promise<Change> => {
  const looks = await countLooksAgain(tx, meeting.id)
  if (looks >= LOOKS_AGAIN_MAX) {
    const facts = { because, looks, ...(participantIds.length > 0 && { participantIds }) }
    return openRepairNow(tx, meeting, { code: 'no_progress', owner: 'organizer', facts })
  }
  const change = await gatherNow(tx, meeting)
  await insertDecision(tx, change.meeting, { type: 'looked_again', by: 'rule', because, participantIds })
  return change
}

/** What follows when evidence was written in this transaction: the search, if nobody is waited for any more. */
export const afterEvidence = async (tx: Tx, meeting: Meeting): Promise<Change> => {
  const participants = await readParticipants(tx, meeting.id)
  const evidence = await readEvidence(tx, meeting.id)
  return evidenceArrived(meeting, participants, knownPeople(meeting, participants, evidence, tx.now))
}
