/** Gathering within a transaction: who is known already, who has to be read, and who has to be asked. */
import { supersede } from '@aftercommit/outbox/enqueue'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { knownPeople, messagesTo } from './known.ts'
import { evidenceArrived, gather, type Change, type Meeting } from './meeting.ts'
import { markAsked, readContacts, readEvidence, readParticipants } from './store.ts'

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

/** What follows when evidence was written in this transaction: the search, if nobody is waited for any more. */
export const afterEvidence = async (tx: Tx, meeting: Meeting): Promise<Change> => {
  const participants = await readParticipants(tx, meeting.id)
  const evidence = await readEvidence(tx, meeting.id)
  return evidenceArrived(meeting, participants, knownPeople(meeting, participants, evidence, tx.now))
}
