/** Changing a booked meeting, and giving its change up: actions of their own, by their own authority. */
import { randomUUID } from 'node:crypto'
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { ActionRequest } from '@aftercommit/outbox'
import type { Db, Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { authorityOver, notAuthorisedOver, watchesOf, type NotAuthorised } from './booking.ts'
import { actionsBeforeBooking, reschedule, unmovable, withdraw, type Unmovable } from './ending.ts'
import { gatherNow } from './gathering.ts'
import type { MeetingId } from './ids.ts'
import { IntentDraft, untimely, type MeetingIntent } from './intent.ts'
import { tellClient, withoutChange, type Meeting } from './meeting.ts'
import {
  endRepairs,
  insertDecision,
  isComplete,
  lockAnyMeeting,
  readActiveEndpointIds,
  readProposal,
  renewParticipants,
  restoreParticipants,
  saveMeeting,
} from './store.ts'
import type { ProposalId } from './ids.ts'
import type { UnknownReference } from './references.ts'

export interface RescheduleRequest {
  readonly by: string
  readonly window: MeetingIntent['window']
  readonly bookBy: string
  readonly durationMinutes?: number | undefined
}

export type RescheduleResult =
  | { readonly type: 'rescheduling'; readonly meeting: Meeting }
  | { readonly type: 'not_found' }
  | NotAuthorised
  | Unmovable
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

/**
 * Seeks another time for a booked meeting. Until one is approved the event stands as it is, and is looked at as before. Of
 * two changes the later one counts: what was under way for the other one is ended.
 */
export const rescheduleMeeting = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  { by, ...change }: RescheduleRequest,
): Promise<RescheduleResult> =>
  db.transact(tenantId, async (tx): Promise<RescheduleResult> => {
    const meeting = await lockAnyMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    if (!isComplete(meeting)) return unmovable(meeting.state)
    const authority = authorityOver(meeting.intent, by)
    if (!authority) return notAuthorisedOver(meeting.intent)
    const rescheduled = reschedule(meeting, change)
    if (rescheduled.type !== 'rescheduling') return rescheduled
    const problems = [
      ...malformedIn(rescheduled.meeting.intent),
      ...untimely(rescheduled.meeting.intent, tx.now),
    ]
    if (problems.length > 0) return { type: 'malformed', problems }
    await supersede(tx, { type: 'meeting', id: meeting.id }, actionsBeforeBooking, 'rescheduled')
    await endRepairs(tx, meeting.id)
    await renewParticipants(tx, rescheduled.meeting)
    const gathering = await gatherNow(tx, rescheduled.meeting)
    await saveMeeting(tx, gathering.meeting)
    await insertDecision(tx, gathering.meeting, { type: 'rescheduled', by: authority })
    await enqueue(tx, [...gathering.actions, rescheduled.deadline])
    return { type: 'rescheduling', meeting: gathering.meeting }
  })

export type WithdrawResult =
  | { readonly type: 'withdrawn'; readonly meeting: Meeting }
  | { readonly type: 'not_found' }
  | NotAuthorised
  | { readonly type: 'no_change' }
  | Unmovable

/** Gives up the change that is sought for a booked meeting, by the authority that may seek one. The booking stays. */
export const withdrawChange = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  by: string,
): Promise<WithdrawResult> =>
  db.transact(tenantId, async (tx): Promise<WithdrawResult> => {
    const meeting = await lockAnyMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    if (!isComplete(meeting)) return unmovable(meeting.state)
    const authority = authorityOver(meeting.intent, by)
    if (!authority) return notAuthorisedOver(meeting.intent)
    const withdrawn = withdraw(meeting)
    if (withdrawn.type !== 'withdrawn') return withdrawn
    const { meeting: next } = withdrawn
    await endChange(tx, next, 'change_withdrawn')
    await saveMeeting(tx, next)
    await insertDecision(tx, next, { type: 'change_withdrawn', by: authority })
    const told = tellClient(next, await readActiveEndpointIds(tx), 'meeting.reschedule_lapsed', randomUUID())
    await enqueue(tx, [...told, ...(await watchAnew(tx, next, 'change_withdrawn'))])
    return withdrawn
  })

/** The booking as it stands, when its change is given up because of what became of its event. Its caller saves. */
export const dropChange = async (tx: Tx, meeting: Meeting, proposalId: ProposalId): Promise<Meeting> => {
  const next = { ...withoutChange(meeting, proposalId), revision: meeting.revision + 1 }
  await endChange(tx, next, 'event_altered')
  return next
}

/** Ends all that is under way for a change, and puts back the people of the booking that stands. */
const endChange = async (tx: Tx, standing: Meeting, reason: string): Promise<void> => {
  await supersede(tx, { type: 'meeting', id: standing.id }, actionsBeforeBooking, reason)
  await endRepairs(tx, standing.id)
  await restoreParticipants(tx, standing)
}

/**
 * The looks at a booking that was not changed after all, the first of them soon: what a change would have settled, such as
 * somebody's no, was passed over while it was sought.
 */
export const watchAnew = async (
  tx: Tx,
  meeting: Meeting,
  reason: string,
): Promise<readonly ActionRequest[]> => {
  if (meeting.state.type !== 'confirmed') return []
  const { name } = schedulingActions.watchEvent
  await supersede(tx, { type: 'meeting', id: meeting.id }, [name], reason)
  const proposal = await readProposal(tx, meeting.id, meeting.state.proposalId)
  return proposal ? watchesOf(meeting, proposal, randomUUID(), tx.now) : []
}

/** The new window is held against the rules of every intent. */
const malformedIn = (intent: MeetingIntent): readonly UnknownReference[] => {
  const parsed = IntentDraft.safeParse(intent)
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => ({
        path: path.filter((part) => typeof part !== 'symbol'),
        reason: message,
      }))
}
