/** What a person may ask of scheduling: lock, decide, save, enqueue. Nothing here calls anybody. */
import { randomUUID } from 'node:crypto'
import { enqueue } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { Seal } from '@aftercommit/platform/sealing'
import { draftOf } from './draft.ts'
import { ConnectionId, EndpointId, MeetingId, ParticipantId, type ProposalId } from './ids.ts'
import { sameAddress, type MeetingIntent } from './intent.ts'
import {
  approve,
  gather,
  type Approval,
  type Approver,
  type Meeting,
  type Participant,
  type Proposal,
} from './meeting.ts'
import {
  insertApproval,
  insertConnection,
  insertEndpoint,
  insertMeeting,
  lockMeeting,
  readConnections,
  readParticipants,
  readProposal,
  saveMeeting,
} from './store.ts'

/** Where in a request something names what the tenant does not have. */
export interface UnknownReference {
  readonly path: readonly (string | number)[]
  readonly reason: string
}

export type OpenResult =
  | { readonly type: 'opened'; readonly meeting: Meeting }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

/** Opens a meeting and asks for everybody's free/busy, in one transaction. */
export const openMeeting = (
  db: Db,
  tenantId: string,
  intent: MeetingIntent,
  traceParent: string | undefined,
): Promise<OpenResult> =>
  db.transact(tenantId, async (tx): Promise<OpenResult> => {
    const problems = await unknownReferences(tx, intent)
    if (problems.length > 0) return { type: 'malformed', problems }
    const fresh: Meeting = {
      id: MeetingId.parse(randomUUID()),
      revision: 1,
      round: 1,
      intent,
      state: { type: 'gathering' },
      traceParent,
    }
    const participants = intent.participants.map(participantOf)
    const { meeting, actions } = gather(fresh, participants)
    await insertMeeting(tx, meeting, participants)
    await enqueue(tx, actions)
    return { type: 'opened', meeting }
  })

const participantOf = (person: MeetingIntent['participants'][number]): Participant => ({
  id: ParticipantId.parse(randomUUID()),
  displayName: person.displayName,
  address: person.address,
  role: person.role,
  connectionId: person.calendarConnectionId,
  timeZone: person.timeZone,
  workingHours: person.workingHours,
})

/** A reference to a calendar that this tenant has not connected, or that is somebody else's, is malformed input. */
const unknownReferences = async (tx: Tx, intent: MeetingIntent): Promise<readonly UnknownReference[]> => {
  const { organizer, participants } = intent
  const known = await readConnections(tx, [
    organizer.calendarConnectionId,
    ...participants.map((person) => person.calendarConnectionId),
  ])
  const problems: UnknownReference[] = []
  const check = (
    path: readonly (string | number)[],
    who: { address: string; calendarConnectionId: ConnectionId },
  ): void => {
    const connection = known.get(who.calendarConnectionId)
    if (!connection) problems.push({ path, reason: 'no such calendar connection' })
    else if (!sameAddress(connection.address, who.address)) {
      problems.push({ path, reason: "this calendar connection is another person's" })
    }
  }
  check(['organizer', 'calendarConnectionId'], organizer)
  participants.forEach((person, index) => check(['participants', index, 'calendarConnectionId'], person))
  if (Date.parse(intent.bookBy) <= tx.now.getTime()) {
    problems.push({ path: ['bookBy'], reason: 'the deadline has passed' })
  }
  return problems
}

export type ApproveResult = { readonly type: 'not_found' } | Approval

/** S7: one approval, one immutable write, one transaction. */
export const approveProposal = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  proposalId: ProposalId,
  by: Approver,
): Promise<ApproveResult> =>
  db.transact(tenantId, async (tx): Promise<ApproveResult> => {
    const meeting = await lockMeeting(tx, meetingId)
    if (!meeting) return { type: 'not_found' }
    const proposal = await readProposal(tx, meetingId, proposalId)
    if (!proposal) return { type: 'not_found' }
    const approval = await approveWithin(tx, meeting, proposal, by)
    if (approval.type !== 'approved') return approval
    await saveMeeting(tx, approval.meeting)
    await enqueue(tx, approval.actions)
    return approval
  })

/** Decides an approval under the meeting's lock and records what it binds. Its caller saves and enqueues. */
export const approveWithin = async (
  tx: Tx,
  meeting: Meeting,
  proposal: Proposal,
  by: Approver,
): Promise<Approval> => {
  const approval = approve(meeting, proposal, by, tx.now)
  if (approval.type !== 'approved') return approval
  const { organizer } = meeting.intent
  const participants = await readParticipants(tx, meeting.id)
  await insertApproval(tx, meeting.id, {
    proposalId: proposal.id,
    meetingRevision: meeting.revision,
    approver: by.type === 'automatic' ? 'automatic' : by.address,
    authority: approval.authority,
    draft: draftOf(tx.tenantId, meeting, participants, proposal, organizer.address),
    approvedAt: tx.now,
  })
  return approval
}

export type ConnectResult =
  { readonly type: 'connected'; readonly id: ConnectionId } | { readonly type: 'already_connected' }

/** Connects a calendar. The credential is sealed at once and opened by the dispatcher only. */
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
    const id = ConnectionId.parse(randomUUID())
    const credential = JSON.stringify({ type: 'refresh_token', refreshToken: input.refreshToken })
    const result = await insertConnection(tx, {
      id,
      provider: input.provider,
      address: input.address,
      sealedCredential: seal(credential, `${tenantId}/${id}`),
      state: 'active',
    })
    return result === 'inserted' ? { type: 'connected', id } : { type: 'already_connected' }
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
