/** Opening a repair within a transaction. */
import { randomUUID } from 'node:crypto'
import type { Tx } from '@aftercommit/platform/db'
import { openRepair, type Change, type Fault, type Meeting } from './meeting.ts'
import { insertRepair, readActiveEndpointIds } from './store.ts'

/** Writes the repair, and answers the meeting in it and who is told. Its caller saves the meeting and enqueues. */
export const openRepairNow = async (tx: Tx, meeting: Meeting, fault: Fault): Promise<Change> => {
  const { repair, ...change } = openRepair(meeting, await readActiveEndpointIds(tx), fault, randomUUID)
  await insertRepair(tx, meeting.id, repair)
  return change
}
