/** One meeting's whole story in one order: what was asked, learned, decided, done and proved. */
import { readActions, readAttempts, type ActionRecordRow } from '@aftercommit/outbox/operate'
import type { Db, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { MeetingId } from './ids.ts'
import { knownPeople } from './known.ts'
import { MeetingState, type IncompleteMeeting, type Meeting } from './meeting.ts'
import {
  isComplete,
  readApproval,
  readAnyMeeting,
  readCompletion,
  readContacts,
  readEvent,
  readEvidence,
  readEverybody,
  readExceptionsOf,
  readHeldProposals,
  readMeetingTimes,
  readParticipants,
  readProposals,
  readRepairs,
  readReplies,
  type MeetingException,
  type StoredRepair,
} from './store.ts'
import { TraceEntry } from './trace-entries.ts'
import { inCausalOrder } from './trace-order.ts'
import { actionEntries, factsOfAction } from './trace-record.ts'
import { deadActs, Pending, Stage, Step, stagesIn, stepsOf, Wait, waitsIn } from './trace-waits.ts'

/** Nothing in it is personal but the instruction: people are ids and positions, and calls are redacted. */
export const MeetingTrace = z.object({
  meetingId: MeetingId,
  state: MeetingState,
  revision: z.int(),
  standingProposalId: z
    .uuid()
    .optional()
    .meta({ description: 'The proposal whose event stands while another time is sought.' }),
  openedAt: z.iso.datetime(),
  changedAt: z.iso.datetime().meta({ description: 'When the meeting itself was changed last.' }),
  round: z
    .int()
    .meta({ description: 'How often everybody’s time was gathered anew, the first time included.' }),
  instruction: z.string().optional().meta({
    description: "The person's own words, kept as provenance; absent when none were given.",
  }),
  people: z.array(
    z.object({
      id: z.uuid(),
      label: z.string().meta({ description: 'How the text form names this person.', examples: ['p1'] }),
      role: z.enum(['required', 'optional']),
      source: z.string().meta({ description: 'Where their time is read, or that they are asked by mail.' }),
      removed: z.boolean(),
    }),
  ),
  entries: z.array(TraceEntry).meta({ description: 'In the order in which one followed the other.' }),
  waits: z.array(Wait),
  stages: z.array(Stage),
  pending: z.array(Pending),
  next: z.array(Step).meta({
    description:
      'Whoever must act, then what happens by itself, the soonest first. Empty: nothing is left to do.',
  }),
})
export type MeetingTrace = z.output<typeof MeetingTrace>

export const readTrace = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
): Promise<MeetingTrace | undefined> =>
  db.transact(tenantId, async (tx) => {
    const meeting = await readAnyMeeting(tx, meetingId)
    if (!meeting) return undefined
    const { openedAt, changedAt } = await readMeetingTimes(tx, meetingId)
    const { instruction } = isComplete(meeting) ? meeting.intent : meeting.draft
    const repairs = await readRepairs(tx, meetingId)
    const exceptions = await readExceptionsOf(tx, meetingId)
    const facts = [...(await learnedEntries(tx, meetingId)), ...(await decidedEntries(tx, meetingId))]
    // Each statement sees what was committed before it. Read last, the outbox has the attempt behind every fact.
    const actions = await readActions(tx.sql, { type: 'meeting', id: meetingId })
    const attempts = await readAttempts(
      tx.sql,
      actions.map(({ id }) => id),
    )
    const entries = inCausalOrder([
      openingEntry(openedAt, instruction),
      ...actionEntries(actions, attempts),
      ...facts,
      ...exceptions.flatMap(exceptionEntries),
      ...repairs.flatMap(repairEntries),
    ])
    const pending = actions.filter(({ ended_at }) => ended_at === null).map(pendingOf)
    const openRepairs = repairs.filter(({ resolvedAt }) => resolvedAt === undefined)
    const acts = [
      ...openRepairs.map(({ owner, code }) => ({ type: 'person' as const, owner, code })),
      ...exceptions.filter(({ state }) => state === 'open').map(answerOf),
      ...deadActs(entries, repairs),
      ...(await awaitedOf(tx, meeting)),
    ]
    return {
      meetingId,
      state: meeting.state,
      revision: meeting.revision,
      ...(meeting.standingProposalId !== undefined && { standingProposalId: meeting.standingProposalId }),
      openedAt: openedAt.toISOString(),
      changedAt: changedAt.toISOString(),
      round: meeting.round,
      ...(instruction !== undefined && { instruction }),
      people: await peopleOf(tx, meetingId),
      entries: [...entries],
      waits: [...waitsIn(entries)],
      stages: [...stagesIn(entries)],
      pending,
      next: [...stepsOf(acts, pending)],
    }
  })

const peopleOf = async (tx: Tx, meetingId: MeetingId): Promise<MeetingTrace['people']> => {
  const everybody = await readEverybody(tx, meetingId)
  return everybody.map(({ id, role, provider, removed }, index) => ({
    id,
    label: `p${index + 1}`,
    role,
    source: provider ?? 'asked by mail',
    removed,
  }))
}

const pendingOf = (row: ActionRecordRow): Pending => ({
  ...factsOfAction(row),
  state: row.state,
  ...(row.due_at && { dueAt: row.due_at.toISOString() }),
  ...(row.lease_owner !== null && { heldBy: row.lease_owner }),
})

const answerOf = ({ owner, absence, lapsesAt }: MeetingException) => ({
  type: 'person' as const,
  owner,
  code: absence.code,
  until: lapsesAt.toISOString(),
})

/** Who has been asked something that only they can answer: the approver, and people who were written to. */
const awaitedOf = async (tx: Tx, meeting: Meeting | IncompleteMeeting) => {
  if (!isComplete(meeting)) return []
  const { approval, bookBy } = meeting.intent
  const until = new Date(bookBy).toISOString()
  if (meeting.state.type === 'awaiting_approval' && approval.type !== 'automatic') {
    return [{ type: 'person' as const, owner: approval.type, code: 'approval', until }]
  }
  if (meeting.state.type !== 'gathering') return []
  const participants = await readParticipants(tx, meeting.id)
  const known = knownPeople(meeting, participants, await readEvidence(tx, meeting.id), tx.now)
  return participants
    .filter(({ id, askedRound }) => askedRound === meeting.round && !known.has(id))
    .map(({ id }) => ({
      type: 'person' as const,
      owner: 'participant',
      code: 'reply',
      participantId: id,
      until,
    }))
}

const openingEntry = (openedAt: Date, instruction: string | undefined): TraceEntry => ({
  type: 'meeting_opened',
  at: openedAt.toISOString(),
  revision: 1,
  instructed: instruction !== undefined,
})

const learnedEntries = async (tx: Tx, meetingId: MeetingId): Promise<readonly TraceEntry[]> => [
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

const decidedEntries = async (tx: Tx, meetingId: MeetingId): Promise<readonly TraceEntry[]> => {
  const entries: TraceEntry[] = []
  for (const { proposalId, people, placedAt } of await readHeldProposals(tx, meetingId)) {
    entries.push({ type: 'hold_placed', at: placedAt.toISOString(), proposalId, people })
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

const exceptionEntries = (exception: MeetingException): readonly TraceEntry[] => {
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

const repairEntries = (repair: StoredRepair): readonly TraceEntry[] => {
  const { id: repairId, code, owner, facts, openedAt, resolvedAt, choice, authority } = repair
  const participantIds = Blamed.safeParse(facts).data?.participantIds ?? []
  const opened = {
    type: 'repair_opened' as const,
    at: openedAt.toISOString(),
    repairId,
    code,
    owner,
    participantIds,
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
