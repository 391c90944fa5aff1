/** What a person may ask of scheduling: lock, decide, save, enqueue. Nothing here calls anybody. */
import { randomUUID } from 'node:crypto'
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { Seal } from '@aftercommit/platform/sealing'
import { receivedTrace } from '@aftercommit/platform/trace'
import { absencesOf, type Absence } from './absence.ts'
import { schedulingActions } from './actions.ts'
import { draftOf } from './draft.ts'
import { ConnectionId, EndpointId, ExceptionId, MeetingId, ParticipantId, type ProposalId } from './ids.ts'
import { MeetingIntent, untimely, type IntentDraft } from './intent.ts'
import { approve, type Approval, type Approver } from './booking.ts'
import { gatherNow, lookAgainByRule } from './gathering.ts'
import { currentEvidence } from './known.ts'
import { unknownAmong, type UnknownReference } from './references.ts'
import {
  askForAbsent,
  deadlineOf,
  type Change,
  type IncompleteMeeting,
  type Meeting,
  type Participant,
  type Proposal,
} from './meeting.ts'
import { nextRound } from './round.ts'
import {
  insertApproval,
  insertConnection,
  insertEndpoint,
  insertExceptions,
  insertMeeting,
  insertParticipants,
  isComplete,
  lockAnyMeeting,
  noteReconnected,
  placeHolds,
  readActiveEndpointIds,
  readApproval,
  readConnectionId,
  readEvidence,
  readParticipants,
  readProposal,
  renewConnection,
  saveMeeting,
} from './store.ts'

export type OpenResult =
  | { readonly type: 'opened'; readonly meeting: Meeting | IncompleteMeeting }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

/**
 * Opens a meeting, in one transaction: a complete one asks for everybody's free/busy, an incomplete one opens an
 * exception for each thing that was not told. Either way its deadline is written as a row.
 */
export const openMeeting = (
  db: Db,
  tenantId: string,
  draft: IntentDraft,
  traceParent: string | undefined,
): Promise<OpenResult> =>
  db.transact(tenantId, async (tx): Promise<OpenResult> => {
    const problems = [...(await unknownReferences(tx, draft)), ...untimely(draft, tx.now)]
    if (problems.length > 0) return { type: 'malformed', problems }
    const id = MeetingId.parse(randomUUID())
    const head = {
      id,
      revision: 1,
      round: 1,
      standingProposalId: undefined,
      statedSinceRound: 1,
      traceParent: receivedTrace(traceParent)?.traceParent,
    }
    const absences = absencesOf(draft)
    if (absences.length > 0) {
      const meeting: IncompleteMeeting = { ...head, draft, state: { type: 'incomplete' } }
      await openIncomplete(tx, meeting, absences)
      return { type: 'opened', meeting }
    }
    const intent = MeetingIntent.parse(draft)
    const fresh: Meeting = { ...head, intent, state: { type: 'gathering' } }
    await insertMeeting(tx, fresh)
    const { meeting, actions } = await beginGathering(tx, fresh)
    await enqueue(tx, [...actions, deadlineOf(meeting, intent.bookBy)])
    return { type: 'opened', meeting }
  })

/** Whoever asked for the meeting is asked for what is missing; nobody else could know. */
const EXCEPTION_OWNER = 'requester'

const openIncomplete = async (
  tx: Tx,
  meeting: IncompleteMeeting,
  absences: readonly Absence[],
): Promise<void> => {
  await insertMeeting(tx, meeting)
  await openExceptions(tx, meeting, absences)
  await enqueue(tx, [deadlineOf(meeting, meeting.draft.bookBy)])
}

/** Opens an exception per absence, and tells the client of each. */
export const openExceptions = async (
  tx: Tx,
  meeting: IncompleteMeeting,
  absences: readonly Absence[],
): Promise<void> => {
  if (absences.length === 0) return
  const exceptions = absences.map((absence) => ({
    id: ExceptionId.parse(randomUUID()),
    meetingId: meeting.id,
    absence,
    owner: EXCEPTION_OWNER,
    lapsesAt: new Date(meeting.draft.bookBy),
  }))
  await insertExceptions(tx, exceptions)
  const ids = exceptions.map(({ id }) => id)
  await enqueue(tx, askForAbsent(meeting, ids, await readActiveEndpointIds(tx)))
}

/** Writes the people of a complete intent, and answers what gathering their time needs. */
export const beginGathering = async (tx: Tx, meeting: Meeting): Promise<Change> => {
  const people = meeting.intent.participants.map((person) => participantOf(person, meeting.revision))
  await insertParticipants(tx, meeting, people)
  return gatherNow(tx, meeting)
}

/** A person of the intent as a participant of their own, not yet written to. */
export const participantOf = (
  person: MeetingIntent['participants'][number],
  revision: number,
): Participant => ({
  id: ParticipantId.parse(randomUUID()),
  displayName: person.displayName,
  address: person.address,
  role: person.role,
  connectionId: person.calendarConnectionId,
  timeZone: person.timeZone,
  workingHours: person.workingHours,
  bufferBeforeMinutes: person.bufferBeforeMinutes,
  bufferAfterMinutes: person.bufferAfterMinutes,
  revision,
  askedRound: undefined,
})

/** What an intent names that this tenant does not have: calendars of its organizer, its people and their substitutes. */
export const unknownReferences = (tx: Tx, draft: IntentDraft): Promise<readonly UnknownReference[]> => {
  const people = draft.participants.flatMap(({ substitutes = [], ...who }, index) => [
    { path: ['participants', index], who },
    ...substitutes.map((each, at) => ({ path: ['participants', index, 'substitutes', at], who: each })),
  ])
  const named = [{ path: ['organizer'], who: draft.organizer }, ...people]
  const references = named.flatMap(({ path, who }) => {
    const connectionId = who?.calendarConnectionId
    return connectionId === undefined
      ? []
      : [{ path: [...path, 'calendarConnectionId'], connectionId, address: who?.address }]
  })
  return unknownAmong(tx, references)
}

/** The time cannot be approved any more, and another one is looked for. */
export type LookedForAgain = Change & {
  readonly type:
    /** Somebody whose time it takes has been promised to another meeting. */
    | 'slot_held'
    /** What somebody said of their time has grown too old to be relied on. */
    | 'evidence_expired'
    /** The time has begun. */
    | 'slot_passed'
}
export type ApproveResult =
  | { readonly type: 'not_found' }
  | { readonly type: 'unknown_proposal' }
  | Exclude<Approval, { readonly type: 'slot_passed' }>
  | LookedForAgain

/** One approval, one immutable write, one transaction. */
export const approveProposal = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  proposalId: ProposalId,
  by: Approver,
): Promise<ApproveResult> =>
  db.transact(tenantId, async (tx): Promise<ApproveResult> => {
    const meeting = await lockAnyMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    if (!isComplete(meeting)) return { type: 'not_awaiting', state: meeting.state.type }
    const proposal = await readProposal(tx, meetingId, proposalId)
    if (!proposal) return { type: 'unknown_proposal' }
    const approval = await approveWithin(tx, meeting, proposal, by)
    if (!('meeting' in approval)) return approval
    await saveMeeting(tx, approval.meeting)
    await enqueue(tx, approval.actions)
    return approval
  })

/**
 * Decides an approval under the meeting's lock, takes the time of everybody it needs, and records what it binds. Its
 * caller saves and enqueues.
 */
export const approveWithin = async (
  tx: Tx,
  meeting: Meeting,
  proposal: Proposal,
  by: Approver,
): Promise<Exclude<Approval, { readonly type: 'slot_passed' }> | LookedForAgain> => {
  const lookAgain = async (type: LookedForAgain['type']): Promise<LookedForAgain> => {
    return { type, ...(await lookAgainByRule(tx, nextRound(meeting), { because: type })) }
  }
  const approval = approve(meeting, proposal, by, tx.now)
  if (approval.type === 'slot_passed') return lookAgain('slot_passed')
  if (approval.type !== 'approved') return approval
  const participants = await readParticipants(tx, meeting.id)
  const required = participants.filter(({ role }) => role === 'required')
  const current = currentEvidence(meeting, await readEvidence(tx, meeting.id), tx.now)
  // Calendars are read once more before the write. A person's word is all there is.
  const hasExpired = required.some(
    ({ id, connectionId }) => connectionId === undefined && current.get(id)?.type !== 'stated',
  )
  if (hasExpired) return lookAgain('evidence_expired')
  if (
    !(await placeHolds(
      tx,
      meeting.id,
      proposal,
      required.map(({ address }) => address),
    ))
  ) {
    return lookAgain('slot_held')
  }
  // An approved meeting no longer lapses; what may still be too late is checked where it is written.
  const names = [schedulingActions.reachDeadline.name, schedulingActions.askParticipant.name]
  await supersede(tx, { type: 'meeting', id: meeting.id }, names, 'approved')
  const { standingProposalId } = meeting
  const standing = standingProposalId && (await readApproval(tx, standingProposalId))
  await insertApproval(tx, meeting.id, {
    proposalId: proposal.id,
    meetingRevision: meeting.revision,
    approver: by.type === 'automatic' ? 'automatic' : by.address,
    authority: approval.authority,
    draft: draftOf(tx.tenantId, meeting, participants, proposal, standing?.draft),
    approvedAt: tx.now,
  })
  return approval
}

/** Reconnected: the calendar had a connection, which keeps its id and has the new credential now. */
export interface ConnectResult {
  readonly type: 'connected' | 'reconnected'
  readonly id: ConnectionId
}

/**
 * Connects a calendar, or renews the credential of the connection that it has, as is needed after a grant was taken
 * back. The credential is sealed at once and opened by the dispatcher only.
 */
export const connectCalendar = (
  db: Db,
  seal: Seal,
  tenantId: string,
  input: {
    readonly provider: 'google' | 'microsoft'
    readonly address: string
    readonly refreshToken: string
  },
): Promise<ConnectResult> =>
  db.transact(tenantId, async (tx): Promise<ConnectResult> => {
    const { provider, address } = input
    const id = ConnectionId.parse(randomUUID())
    const credential = JSON.stringify({ type: 'refresh_token', refreshToken: input.refreshToken })
    // A credential opens for its own connection only.
    const sealedFor = (owner: ConnectionId) => seal(credential, `${tenantId}/${owner}`)
    const fresh = { id, provider, address, sealedCredential: sealedFor(id), state: 'active' } as const
    if ((await insertConnection(tx, fresh)) === 'inserted') return { type: 'connected', id }
    const known = await readConnectionId(tx, provider, address)
    if (!known) throw new Error('a calendar is connected, and its connection is not there')
    await renewConnection(tx, known, sealedFor(known))
    await noteReconnected(tx, known)
    return { type: 'reconnected', id: known }
  })

/** Names where the client wants to hear. The secret is shown to the caller once. */
export const addWebhookEndpoint = (
  db: Db,
  seal: Seal,
  tenantId: string,
  input: { readonly url: string; readonly secret: string },
): Promise<EndpointId> =>
  db.transact(tenantId, async (tx) => {
    const id = EndpointId.parse(randomUUID())
    const sealedSecret = seal(input.secret, `${tenantId}/${id}`)
    await insertEndpoint(tx, { id, url: input.url, state: 'active', sealedSecret })
    return id
  })
