import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type ActionRequest } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import { approveWithin } from '../commands.ts'
import { openRepair, timesFound, type Meeting } from '../meeting.ts'
import { searchTimes, type Search } from '../search.ts'
import {
  insertProposal,
  insertRepair,
  lockMeeting,
  readActiveEndpointIds,
  readEvidence,
  readMeeting,
  readParticipants,
  saveMeeting,
} from '../store.ts'

/** Looks for a time outside any transaction, and settles only if the meeting still waits for this round's answer. */
export const findTime = () =>
  handlerOf<Tx>()(schedulingActions.findTime, {
    prepare: async (tx, { payload }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'choosing' || meeting.round !== payload.round) {
        return { type: 'obsolete', reason: 'round_over' }
      }
      const participants = await readParticipants(tx, meeting.id)
      const evidence = await readEvidence(tx, meeting.id, meeting.round)
      return go<Search>({ meeting, participants, evidence, now: tx.now })
    },

    perform: (search) => Promise.resolve(done(searchTimes(search))),

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'choosing' || meeting.round !== payload.round) return []
      if (outcome.type === 'dead') return giveUp(tx, meeting, outcome)
      const endpointIds = await readActiveEndpointIds(tx)
      const participants = await readParticipants(tx, meeting.id)
      const chosen = timesFound(meeting, outcome.facts, participants, endpointIds, randomUUID)
      if (chosen.type === 'repair') await insertRepair(tx, meeting.id, chosen.repair)
      if (chosen.type !== 'proposed') {
        await saveMeeting(tx, chosen.meeting)
        return chosen.actions
      }
      await insertProposal(tx, meeting.id, chosen.proposal)
      const approval = await approveWithin(tx, chosen.meeting, chosen.proposal, { type: 'automatic' })
      const next = approval.type === 'approved' ? approval : chosen
      await saveMeeting(tx, next.meeting)
      return next.actions
    },
  })

/** A search that cannot be made must not leave its meeting waiting for it. */
const giveUp = async (
  tx: Tx,
  meeting: Meeting,
  { code, owner }: { readonly code: string; readonly owner: string },
): Promise<readonly ActionRequest[]> => {
  const facts = { round: meeting.round }
  const change = openRepair(meeting, await readActiveEndpointIds(tx), { code, owner, facts }, randomUUID)
  await insertRepair(tx, meeting.id, change.repair)
  await saveMeeting(tx, change.meeting)
  return change.actions
}
