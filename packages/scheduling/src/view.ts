/** A meeting as its client reads it. */
import type { Db } from '@aftercommit/platform/db'
import type { MeetingId } from './ids.ts'
import type { IntentDraft } from './intent.ts'
import type { Meeting } from './meeting.ts'
import {
  readCompletion,
  isComplete,
  readEvent,
  readAnyMeeting,
  readExceptionsOf,
  readParticipants,
  readProposals,
  readRepairs,
} from './store.ts'

export interface MeetingView {
  readonly id: MeetingId
  readonly revision: number
  readonly state: Meeting['state']
  /** As asked for and completed since; what is absent has an exception. */
  readonly intent: IntentDraft
  readonly participants: readonly {
    readonly id: string
    readonly displayName: string
    readonly address: string
    readonly role: 'required' | 'optional'
  }[]
  /** The proposal that stands, if any. */
  readonly proposal:
    | {
        readonly id: string
        readonly start: string
        readonly end: string
        readonly optionalAttending: readonly string[]
        readonly optionalMissing: readonly { readonly id: string; readonly because: string }[]
      }
    | undefined
  readonly event:
    { readonly provider: string; readonly calendarAddress: string; readonly eventId: string } | undefined
  /** What proves that the meeting is confirmed. */
  readonly completion: { readonly verifiedAt: string; readonly checks: readonly string[] } | undefined
  /** What is still to be told before work can begin. */
  readonly exceptions: readonly {
    readonly id: string
    readonly code: string
    readonly path: readonly (string | number)[]
    readonly owner: string
    readonly lapsesAt: string
  }[]
  readonly repairs: readonly {
    readonly id: string
    readonly code: string
    readonly owner: string
    /** What is wrong, by field and reason; people by id. */
    readonly facts: Readonly<Record<string, unknown>>
  }[]
}

export const viewMeeting = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
): Promise<MeetingView | undefined> =>
  db.transact(tenantId, async (tx) => {
    const meeting = await readAnyMeeting(tx, meetingId)
    if (!meeting) return undefined
    const participants = await readParticipants(tx, meetingId)
    const proposal = (await readProposals(tx, meetingId)).find(
      ({ id }) => 'proposalId' in meeting.state && id === meeting.state.proposalId,
    )
    const event = proposal && (await readEvent(tx, proposal.id))
    const completion = proposal && (await readCompletion(tx, proposal.id))
    const exceptions = await readExceptionsOf(tx, meetingId)
    const repairs = await readRepairs(tx, meetingId)
    return {
      id: meetingId,
      revision: meeting.revision,
      state: meeting.state,
      intent: isComplete(meeting) ? meeting.intent : meeting.draft,
      participants: participants.map(({ id, displayName, address, role }) => ({
        id,
        displayName,
        address,
        role,
      })),
      proposal: proposal && {
        id: proposal.id,
        start: proposal.start.toISOString(),
        end: proposal.end.toISOString(),
        ...proposal.optional,
      },
      event: event && {
        provider: event.provider,
        calendarAddress: event.calendarAddress,
        eventId: event.eventId,
      },
      completion: completion && {
        verifiedAt: completion.verifiedAt.toISOString(),
        checks: completion.checks.filter(({ agrees }) => agrees).map(({ field }) => field),
      },
      exceptions: exceptions
        .filter(({ state }) => state === 'open')
        .map(({ id, absence, owner, lapsesAt }) => ({
          id,
          code: absence.code,
          path: absence.path,
          owner,
          lapsesAt: lapsesAt.toISOString(),
        })),
      repairs: repairs
        .filter(({ resolvedAt }) => resolvedAt === undefined)
        .map(({ id, code, owner, facts }) => ({ id, code, owner, facts })),
    }
  })
