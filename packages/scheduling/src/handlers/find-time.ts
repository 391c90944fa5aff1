import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type ActionRequest } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import { approveWithin } from '../commands.ts'
import { lookAgainByRule } from '../gathering.ts'
import { windowOf } from '../intent.ts'
import { currentEvidence } from '../known.ts'
import type { Change, Meeting } from '../meeting.ts'
import { nextRound } from '../round.ts'
import { timesFound, type Searched } from '../proposal.ts'
import { openRepairNow } from '../repairing.ts'
import { searchTimes, withBuffers, type Search } from '../search.ts'
import {
  insertProposal,
  insertRepair,
  lockMeeting,
  readActiveEndpointIds,
  readEvidence,
  readHoldsOfOthers,
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
      const evidence = [...currentEvidence(meeting, await readEvidence(tx, meeting.id), tx.now).values()]
      const held = await readHoldsOfOthers(
        tx,
        meeting.id,
        participants,
        withBuffers(windowOf(meeting.intent), participants),
      )
      return go<Search>({ meeting, participants, evidence, held, now: tx.now })
    },

    perform: (search) => Promise.resolve(done(searchTimes(search))),

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done' && outcome.type !== 'dead') return []
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (meeting?.state.type !== 'choosing' || meeting.round !== payload.round) return []
      if (outcome.type === 'dead') return giveUp(tx, meeting, outcome)
      const change = await changeOf(tx, meeting, outcome.facts)
      await saveMeeting(tx, change.meeting)
      return change.actions
    },
  })

const changeOf = async (tx: Tx, meeting: Meeting, searched: Searched): Promise<Change> => {
  const chosen = timesFound(meeting, searched, await readActiveEndpointIds(tx), randomUUID)
  switch (chosen.type) {
    case 'no_overlap':
      return chosen
    case 'outdated':
      return lookAgainByRule(tx, nextRound(meeting), { because: 'search_outdated' })
    case 'repair':
      await insertRepair(tx, meeting.id, chosen.repair)
      return chosen
    case 'proposed': {
      await insertProposal(tx, meeting.id, chosen.proposal)
      const approval = await approveWithin(tx, chosen.meeting, chosen.proposal, { type: 'automatic' })
      return 'meeting' in approval ? approval : chosen
    }
  }
}

/** A search that cannot be made must not leave its meeting waiting for it. */
const giveUp = async (
  tx: Tx,
  meeting: Meeting,
  { code, owner }: { readonly code: string; readonly owner: string },
): Promise<readonly ActionRequest[]> => {
  const change = await openRepairNow(tx, meeting, { code, owner, facts: { round: meeting.round } })
  await saveMeeting(tx, change.meeting)
  return change.actions
}
