/** Why not Tuesday at ten: asked of a meeting as it stands. */
import type { Db } from '@aftercommit/platform/db'
import { explainSlot, type SlotExplanation } from './explain.ts'
import type { MeetingId } from './ids.ts'
import { windowOf } from './intent.ts'
import { withBuffers } from './search.ts'
import { currentEvidence } from './known.ts'
import { readAnyMeeting, isComplete, readEvidence, readHoldsOfOthers, readParticipants } from './store.ts'

export type ExplainResult =
  | { readonly type: 'explained'; readonly explanation: SlotExplanation }
  | { readonly type: 'not_found' }
  /** What it is about is still to be told. */
  | { readonly type: 'incomplete' }

/** Explains one start by what is known now. Changes nothing. */
export const explainTime = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  start: Date,
): Promise<ExplainResult> =>
  db.transact(tenantId, async (tx): Promise<ExplainResult> => {
    const meeting = await readAnyMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    if (!isComplete(meeting)) return { type: 'incomplete' }
    const participants = await readParticipants(tx, meetingId)
    const evidence = [...currentEvidence(meeting, await readEvidence(tx, meetingId), tx.now).values()]
    const held = await readHoldsOfOthers(
      tx,
      meetingId,
      participants,
      withBuffers(windowOf(meeting.intent), participants),
    )
    const explanation = explainSlot({ meeting, participants, evidence, held, now: tx.now }, start)
    return { type: 'explained', explanation }
  })
