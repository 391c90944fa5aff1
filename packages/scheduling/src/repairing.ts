/** Repairs within a transaction: one is opened, or shown with what may be chosen about it. */
import { randomUUID } from 'node:crypto'
import type { Tx } from '@aftercommit/platform/db'
import { openRepair, type Change, type Fault, type Meeting } from './meeting.ts'
import { choicesOf, type RepairChoiceType } from './repair.ts'
import {
  insertRepair,
  readActiveEndpointIds,
  readMeetings,
  readWrittenProposals,
  type StoredRepair,
} from './store.ts'

/** Writes the repair, and answers the meeting in it and who is told. Its caller saves the meeting and enqueues. */
export const openRepairNow = async (tx: Tx, meeting: Meeting, fault: Fault): Promise<Change> => {
  const { repair, ...change } = openRepair(meeting, await readActiveEndpointIds(tx), fault, randomUUID)
  await insertRepair(tx, meeting.id, repair)
  return change
}

export interface ShownRepair extends StoredRepair {
  /** Empty once it is resolved, or its meeting has ended. */
  readonly choices: readonly RepairChoiceType[]
}

/** Two statements for however many repairs, and none where all are resolved. */
export const withChoices = async (
  tx: Tx,
  repairs: readonly StoredRepair[],
): Promise<readonly ShownRepair[]> => {
  const open = repairs.filter(({ resolvedAt }) => resolvedAt === undefined)
  const meetingIds = open.map(({ meetingId }) => meetingId)
  const meetings = await readMeetings(tx, meetingIds)
  const written = await readWrittenProposals(tx, meetingIds)
  return repairs.map((repair) => {
    const meeting = repair.resolvedAt === undefined ? meetings.get(repair.meetingId) : undefined
    return { ...repair, choices: meeting ? choicesOf(repair, meeting, written) : [] }
  })
}
