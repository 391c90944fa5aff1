/** One meeting's whole story in one order: what was asked, learned, decided, done and proved. */
import {
  readActions,
  readAttempts,
  type ActionRecordRow,
  type AttemptRecordRow,
} from '@aftercommit/outbox/operate'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { MeetingId } from './ids.ts'
import type { Meeting } from './meeting.ts'
import {
  isComplete,
  readApproval,
  readCompletion,
  readEvent,
  readEvidence,
  readAnyMeeting,
  readExceptionsOf,
  readProposals,
  readRepairs,
} from './store.ts'

/** No entry is personal: people are ids, and calls are redacted. */
export type TraceEntry = { readonly at: string } & (
  | { readonly type: 'action_enqueued'; readonly actionId: string; readonly action: string }
  | {
      readonly type: 'attempt'
      readonly actionId: string
      readonly action: string
      readonly attempt: number
      readonly replicaId: string | null
      readonly outcome: string
      readonly code: string | null
      readonly durationMs: number | undefined
      readonly calls: NonNullable<AttemptRecordRow['calls']>
    }
  | {
      readonly type: 'action_ended'
      readonly actionId: string
      readonly action: string
      readonly outcome: string
      readonly code: string | null
      readonly attempts: number
    }
  | {
      readonly type: 'evidence'
      readonly participantId: string
      readonly source: string
      readonly known: boolean
      readonly code: string | undefined
      readonly expiresAt: string
    }
  | {
      readonly type: 'proposal'
      readonly proposalId: string
      readonly start: string
      readonly end: string
      readonly evidenceIds: readonly string[]
    }
  | { readonly type: 'approval'; readonly proposalId: string; readonly authority: string }
  | { readonly type: 'event_written'; readonly provider: string; readonly eventId: string }
  | { readonly type: 'completion_verified'; readonly eventId: string; readonly checks: readonly string[] }
  | { readonly type: 'exception_opened'; readonly exceptionId: string; readonly code: string }
  | { readonly type: 'exception_ended'; readonly exceptionId: string; readonly state: string }
  | {
      readonly type: 'repair_opened'
      readonly repairId: string
      readonly code: string
      readonly owner: string
    }
)

export interface Trace {
  readonly meetingId: MeetingId
  readonly state: Meeting['state']
  readonly revision: number
  /** The person's own words, kept as provenance; undefined when none were given. */
  readonly instruction: string | undefined
  readonly entries: readonly TraceEntry[]
  /** Actions not yet ended: what the meeting waits for, and until when. */
  readonly pending: readonly {
    readonly actionId: string
    readonly action: string
    readonly state: string
    readonly dueAt: string | undefined
    /** The dispatcher that works on it now. */
    readonly heldBy: string | undefined
  }[]
}

export const readTrace = (db: Db, tenantId: string, meetingId: MeetingId): Promise<Trace | undefined> =>
  db.transact(tenantId, async (tx) => {
    const meeting = await readAnyMeeting(tx, meetingId)
    if (!meeting) return undefined
    const actions = await readActions(tx.sql, { type: 'meeting', id: meetingId })
    const attempts = await readAttempts(
      tx.sql,
      actions.map(({ id }) => id),
    )
    const entries = [...actionEntries(actions, attempts), ...(await domainEntries(tx, meetingId))]
    return {
      meetingId,
      state: meeting.state,
      revision: meeting.revision,
      instruction: isComplete(meeting) ? meeting.intent.instruction : meeting.draft.instruction,
      entries: entries.sort((a, b) => a.at.localeCompare(b.at)),
      pending: actions
        .filter(({ ended_at }) => ended_at === null)
        .map(({ id, action, state, due_at, lease_owner }) => ({
          actionId: id,
          action,
          state,
          dueAt: due_at?.toISOString(),
          heldBy: lease_owner ?? undefined,
        })),
    }
  })

const actionEntries = (
  actions: readonly ActionRecordRow[],
  attempts: readonly AttemptRecordRow[],
): readonly TraceEntry[] => {
  const actionById = new Map(actions.map((row) => [row.id, row.action]))
  const enqueued = actions.map(({ id, action, created_at }): TraceEntry => ({
    type: 'action_enqueued',
    at: created_at.toISOString(),
    actionId: id,
    action,
  }))
  const tried = attempts.map((row): TraceEntry => ({
    type: 'attempt',
    at: (row.started_at ?? row.claimed_at ?? row.ended_at).toISOString(),
    actionId: row.outbox_id,
    action: actionById.get(row.outbox_id) ?? '',
    attempt: row.attempt,
    replicaId: row.replica_id,
    outcome: row.outcome,
    code: row.code,
    durationMs: row.started_at ? row.ended_at.getTime() - row.started_at.getTime() : undefined,
    calls: row.calls ?? [],
  }))
  const ended = actions.flatMap((row): TraceEntry[] =>
    row.ended_at === null
      ? []
      : [
          {
            type: 'action_ended',
            at: row.ended_at.toISOString(),
            actionId: row.id,
            action: row.action,
            outcome: row.state,
            code: row.code,
            attempts: row.attempts,
          },
        ],
  )
  return [...enqueued, ...tried, ...ended]
}

const domainEntries = async (tx: Tx, meetingId: MeetingId): Promise<readonly TraceEntry[]> => {
  const entries: TraceEntry[] = []
  for (const piece of await readEvidence(tx, meetingId)) {
    entries.push({
      type: 'evidence',
      at: piece.retrievedAt.toISOString(),
      participantId: piece.participantId,
      source: piece.source,
      known: piece.type === 'known',
      code: piece.type === 'unknown' ? piece.code : undefined,
      expiresAt: piece.expiresAt.toISOString(),
    })
  }
  for (const proposal of await readProposals(tx, meetingId)) {
    const { id: proposalId, evidenceIds } = proposal
    entries.push({
      type: 'proposal',
      at: proposal.createdAt.toISOString(),
      proposalId,
      start: proposal.start.toISOString(),
      end: proposal.end.toISOString(),
      evidenceIds,
    })
    const approval = await readApproval(tx, proposalId)
    if (approval) {
      const { authority, approvedAt } = approval
      entries.push({ type: 'approval', at: approvedAt.toISOString(), proposalId, authority })
    }
    const event = await readEvent(tx, proposalId)
    if (event) {
      const { provider, eventId, writtenAt } = event
      entries.push({ type: 'event_written', at: writtenAt.toISOString(), provider, eventId })
    }
    const completion = await readCompletion(tx, proposalId)
    if (completion) {
      const { eventId, checks, verifiedAt } = completion
      const agreed = checks.filter(({ agrees }) => agrees).map(({ field }) => field)
      entries.push({ type: 'completion_verified', at: verifiedAt.toISOString(), eventId, checks: agreed })
    }
  }
  for (const { id: exceptionId, absence, openedAt, endedAt, state } of await readExceptionsOf(
    tx,
    meetingId,
  )) {
    entries.push({ type: 'exception_opened', at: openedAt.toISOString(), exceptionId, code: absence.code })
    if (endedAt) entries.push({ type: 'exception_ended', at: endedAt.toISOString(), exceptionId, state })
  }
  for (const { id: repairId, code, owner, openedAt } of await readRepairs(tx, meetingId)) {
    entries.push({ type: 'repair_opened', at: openedAt.toISOString(), repairId, code, owner })
  }
  return entries
}
