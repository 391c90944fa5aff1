/** What scheduling's own tables know of a meeting, as entries of its trace. */
import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import type { MeetingId } from './ids.ts'
import {
  readApproval,
  readCompletion,
  readContacts,
  readDecisions,
  readEvent,
  readEvidence,
  readHeldProposals,
  readProposals,
  readReleasedHolds,
  readReplies,
  type MeetingException,
  type StoredRepair,
} from './store.ts'
import type { TraceEntry } from './trace-entries.ts'

export const openingEntry = (openedAt: Date, instruction: string | undefined): TraceEntry => ({
  type: 'meeting_opened',
  at: openedAt.toISOString(),
  revision: 1,
  instructed: instruction !== undefined,
})

export const learnedEntries = async (tx: Tx, meetingId: MeetingId): Promise<readonly TraceEntry[]> => [
  ...(await readContacts(tx, meetingId)).map((contact): TraceEntry => {
    const { participantId, kind, round, outcome, code, contactedAt } = contact
    return {
      type: 'message_sent',
      at: contactedAt.toISOString(),
      ...(participantId !== undefined && { participantId }),
      kind,
      round,
      outcome,
      ...(code !== undefined && { code }),
    }
  }),
  ...(await readReplies(tx, meetingId)).map(({ participantId, unclear, receivedAt }): TraceEntry => ({
    type: 'reply_received',
    at: receivedAt.toISOString(),
    participantId,
    unclear: [...unclear],
  })),
  ...(await readEvidence(tx, meetingId)).map((piece): TraceEntry => ({
    type: 'evidence',
    at: piece.recordedAt.toISOString(),
    evidenceId: piece.id,
    participantId: piece.participantId,
    round: piece.round,
    source: piece.source,
    learned: piece.type,
    ...(piece.type === 'unknown' && { code: piece.code }),
    retrievedAt: piece.retrievedAt.toISOString(),
    expiresAt: piece.expiresAt.toISOString(),
  })),
]

export const decidedEntries = async (tx: Tx, meetingId: MeetingId): Promise<readonly TraceEntry[]> => {
  const entries: TraceEntry[] = []
  for (const { proposalId, people, placedAt } of await readHeldProposals(tx, meetingId)) {
    entries.push({ type: 'hold_placed', at: placedAt.toISOString(), proposalId, people })
  }
  for (const { proposalId, people, releasedAt, state, ...hold } of await readReleasedHolds(tx, meetingId)) {
    const placedAt = hold.placedAt.toISOString()
    entries.push(
      { type: 'hold_placed', at: placedAt, proposalId, people },
      { type: 'hold_released', at: releasedAt.toISOString(), proposalId, people, placedAt, state },
    )
  }
  for (const { type, by, because, participantIds, revision, round, decidedAt } of await readDecisions(
    tx,
    meetingId,
  )) {
    entries.push({
      type: 'decision',
      at: decidedAt.toISOString(),
      decision: type,
      by,
      ...(because !== undefined && { because }),
      participantIds: [...participantIds],
      revision,
      round,
    })
  }
  for (const proposal of await readProposals(tx, meetingId)) {
    const { id: proposalId, round, evidenceIds, grounds } = proposal
    entries.push({
      type: 'proposal',
      at: proposal.createdAt.toISOString(),
      proposalId,
      round,
      start: proposal.start.toISOString(),
      end: proposal.end.toISOString(),
      evidenceIds: [...evidenceIds],
      grounds,
    })
    const approval = await readApproval(tx, proposalId)
    if (approval) {
      const { authority, approvedAt } = approval
      entries.push({ type: 'approval', at: approvedAt.toISOString(), proposalId, authority })
    }
    const event = await readEvent(tx, proposalId)
    if (event) {
      const { provider, eventId, recordedAt } = event
      entries.push({ type: 'event_written', at: recordedAt.toISOString(), proposalId, provider, eventId })
    }
    const completion = await readCompletion(tx, proposalId)
    if (completion) {
      const { eventId, verifiedAt } = completion
      const checks = completion.checks.filter(({ agrees }) => agrees).map(({ field }) => field)
      entries.push({ type: 'completion_verified', at: verifiedAt.toISOString(), proposalId, eventId, checks })
    }
  }
  return entries
}

export const exceptionEntries = (exception: MeetingException): readonly TraceEntry[] => {
  const { id: exceptionId, absence, owner, openedAt, lapsesAt, endedAt, state } = exception
  const { code } = absence
  const lapses = lapsesAt.toISOString()
  return [
    { type: 'exception_opened', at: openedAt.toISOString(), exceptionId, code, owner, lapsesAt: lapses },
    ...(endedAt
      ? [{ type: 'exception_ended' as const, at: endedAt.toISOString(), exceptionId, code, state }]
      : []),
  ]
}

const Blamed = z.object({ participantIds: z.array(z.uuid()) })
const Classed = z.object({ class: z.string() })

export const repairEntries = (repair: StoredRepair): readonly TraceEntry[] => {
  const { id: repairId, code, owner, facts, openedAt, resolvedAt, choice, authority } = repair
  const participantIds = Blamed.safeParse(facts).data?.participantIds ?? []
  const opened = {
    type: 'repair_opened' as const,
    at: openedAt.toISOString(),
    repairId,
    code,
    owner,
    participantIds,
    ...Classed.safeParse(facts).data,
  }
  if (!resolvedAt) return [opened]
  const resolved = {
    type: 'repair_resolved' as const,
    at: resolvedAt.toISOString(),
    repairId,
    code,
    ...(choice !== undefined && { choice }),
    ...(authority !== undefined && { authority }),
  }
  return [opened, resolved]
}
