/** A meeting as its client reads it. */
import type { Db } from '@aftercommit/platform/db'
import { answeredBy, type AbsenceCode } from './absence.ts'
import type { MeetingId } from './ids.ts'
import type { IntentDraft } from './intent.ts'
import type { Meeting, Proposal } from './meeting.ts'
import { withChoices } from './repairing.ts'
import type { ProposalGrounds } from './slot.ts'
import {
  readCompletion,
  readContacts,
  isComplete,
  readEvent,
  readAnyMeeting,
  readExceptionsOf,
  readLastEvent,
  readParticipants,
  readProposals,
  readRepairs,
  type StoredEvent,
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
    /** How many messages this person has been sent about the meeting. */
    readonly messages: number
  }[]
  /** The proposal that stands, if any. */
  readonly proposal:
    | {
        readonly id: string
        readonly start: string
        readonly end: string
        readonly optionalAttending: readonly string[]
        readonly ranking: ProposalGrounds['ranking']
        readonly alternatives: ProposalGrounds['alternatives']
        readonly optionalMissing: ProposalGrounds['optionalMissing']
      }
    | undefined
  /**
   * What is known to stand at the provider, or stood there until the meeting ended. Its time is its own: while a change is
   * sought it is not the proposal's.
   */
  readonly event:
    | {
        readonly status: 'standing' | 'cancelled'
        /** When it was taken away; absent of one that stands, and where that was not noted. */
        readonly cancelledAt: string | undefined
        readonly provider: string
        readonly calendarAddress: string
        readonly eventId: string
        readonly start: string
        readonly end: string
      }
    | undefined
  /** What proves that the meeting is confirmed. */
  readonly completion:
    | {
        readonly verifiedAt: string
        readonly checks: readonly string[]
        /** Where the video conference is, if the meeting has one. */
        readonly conferenceUrl: string | undefined
      }
    | undefined
  /** What is still to be told before work can begin. */
  readonly exceptions: readonly {
    readonly id: string
    readonly code: AbsenceCode
    readonly path: readonly (string | number)[]
    /** The fields with which it can be answered. */
    readonly answeredBy: readonly string[]
    readonly owner: string
    readonly lapsesAt: string
  }[]
  readonly repairs: readonly {
    readonly id: string
    readonly code: string
    readonly owner: string
    /** What is wrong, by field and reason; people by id. */
    readonly facts: Readonly<Record<string, unknown>>
    /** What a person may choose to do about it. */
    readonly choices: readonly string[]
  }[]
}

const shownEvent = (
  { proposalId, provider, calendarAddress, eventId }: StoredEvent,
  proposals: readonly Proposal[],
  standing: Pick<NonNullable<MeetingView['event']>, 'status' | 'cancelledAt'>,
): MeetingView['event'] => {
  const written = proposals.find(({ id }) => id === proposalId)
  return (
    written && {
      ...standing,
      provider,
      calendarAddress,
      eventId,
      start: written.start.toISOString(),
      end: written.end.toISOString(),
    }
  )
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
    // While a change is sought, what stands is what was confirmed.
    const proposedId = 'proposalId' in meeting.state ? meeting.state.proposalId : undefined
    const shownId = proposedId ?? meeting.standingProposalId
    const proposals = await readProposals(tx, meetingId)
    const proposal = proposals.find(({ id }) => id === shownId)
    const standingId = meeting.standingProposalId ?? proposal?.id
    const standing =
      (proposal && (await readEvent(tx, proposal.id))) ?? (standingId && (await readEvent(tx, standingId)))
    const isOver = meeting.state.type === 'cancelled' || meeting.state.type === 'lapsed'
    const past = isOver ? await readLastEvent(tx, meetingId) : undefined
    const completion = proposal && (await readCompletion(tx, proposal.id))
    const contacts = await readContacts(tx, meetingId)
    const exceptions = await readExceptionsOf(tx, meetingId)
    const repairs = await withChoices(tx, await readRepairs(tx, meetingId))
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
        messages: contacts.filter(({ participantId }) => participantId === id).length,
      })),
      proposal: proposal && {
        id: proposal.id,
        start: proposal.start.toISOString(),
        end: proposal.end.toISOString(),
        ...proposal.grounds,
      },
      event: standing
        ? shownEvent(standing, proposals, { status: 'standing', cancelledAt: undefined })
        : past &&
          shownEvent(past, proposals, { status: 'cancelled', cancelledAt: past.cancelledAt?.toISOString() }),
      completion: completion && {
        verifiedAt: completion.verifiedAt.toISOString(),
        conferenceUrl: completion.conferenceUrl,
        checks: completion.checks.filter(({ agrees }) => agrees).map(({ field }) => field),
      },
      exceptions: exceptions
        .filter(({ state }) => state === 'open')
        .map(({ id, absence, owner, lapsesAt }) => ({
          id,
          code: absence.code,
          path: absence.path,
          answeredBy: answeredBy(absence.code),
          owner,
          lapsesAt: lapsesAt.toISOString(),
        })),
      repairs: repairs
        .filter(({ resolvedAt }) => resolvedAt === undefined)
        .map(({ id, code, owner, facts, choices }) => ({ id, code, owner, facts, choices })),
    }
  })
