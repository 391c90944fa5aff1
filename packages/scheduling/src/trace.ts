/** One meeting's whole story in one order: what was asked, learned, decided, done and proved. */
import { readActions, readAttempts } from '@aftercommit/outbox/operate'
import type { Db, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { MeetingId } from './ids.ts'
import { knownPeople, messagesTo } from './known.ts'
import { MeetingState, type IncompleteMeeting, type Meeting } from './meeting.ts'
import {
  isComplete,
  readAnyMeeting,
  readContacts,
  readEvidence,
  readEverybody,
  readExceptionsOf,
  readMeetingTimes,
  readParticipants,
  readRepairs,
  readTracedEndpoints,
  type MeetingException,
  type StoredRepair,
} from './store.ts'
import { TraceEntry } from './trace-entries.ts'
import {
  decidedEntries,
  exceptionEntries,
  learnedEntries,
  openingEntry,
  repairEntries,
} from './trace-facts.ts'
import { inCausalOrder } from './trace-order.ts'
import { withChoices } from './repairing.ts'
import { pendingOf } from './trace-pending.ts'
import { ownerWaitsIn } from './trace-owner-waits.ts'
import { actionEntries } from './trace-record.ts'
import { Stage, stagesIn } from './trace-stages.ts'
import { deadActs, originOf, Pending, Round, roundsIn, Step, stepsOf, Wait, waitsIn } from './trace-waits.ts'

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
      replaces: z.object({ participantId: z.uuid(), because: z.string().optional() }).optional().meta({
        description: 'Whose place this person took, and by which choice; `correct_address`: the same person.',
      }),
    }),
  ),
  endpoints: z
    .array(
      z.object({
        id: z.uuid(),
        disabled: z.boolean().meta({ description: 'Nothing is sent to it any more.' }),
      }),
    )
    .meta({ description: 'The webhook endpoints that the client has or had, the oldest first.' }),
  entries: z.array(TraceEntry).meta({ description: 'In the order in which one followed the other.' }),
  waits: z.array(Wait),
  rounds: z.array(Round),
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
    const repairs = await withChoices(tx, await readRepairs(tx, meetingId))
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
    const live = actions.filter(({ ended_at }) => ended_at === null)
    const participants = await readParticipants(tx, meetingId)
    const pending = live.map((row) => pendingOf(row, meeting, participants))
    const endpoints = await readTracedEndpoints(tx)
    const disabled = endpoints.filter((endpoint) => endpoint.disabled).map(({ id }) => id)
    const openRepairs = repairs.filter(({ resolvedAt }) => resolvedAt === undefined)
    const acts = [
      ...openRepairs.map(({ id, owner, code, facts, choices }) => ({
        type: 'person' as const,
        owner,
        code,
        subject: { type: 'repair' as const, id },
        because: [...originOf({ facts })],
        choices: [...choices],
      })),
      ...exceptions.filter(({ state }) => state === 'open').map(answerOf),
      ...deadActs(entries, repairs, new Set(disabled)),
      ...(await awaitedOf(tx, meeting)),
    ]
    const approver = isComplete(meeting) ? meeting.intent.approval.type : undefined
    const waits = [...waitsIn(entries), ...ownerWaitsIn(entries, approver)]
    return {
      meetingId,
      state: meeting.state,
      revision: meeting.revision,
      ...(meeting.standingProposalId !== undefined && { standingProposalId: meeting.standingProposalId }),
      openedAt: openedAt.toISOString(),
      changedAt: changedAt.toISOString(),
      round: meeting.round,
      ...(instruction !== undefined && { instruction }),
      people: await peopleOf(tx, meetingId, repairs),
      endpoints: [...endpoints],
      entries: [...entries],
      waits: [...waits],
      rounds: [...roundsIn(entries, waits)],
      stages: [...stagesIn(entries)],
      pending,
      next: [...stepsOf(acts, pending)],
    }
  })

const peopleOf = async (
  tx: Tx,
  meetingId: MeetingId,
  repairs: readonly StoredRepair[],
): Promise<MeetingTrace['people']> => {
  const everybody = await readEverybody(tx, meetingId)
  return everybody.map(({ id, role, provider, removed, position, joinedAt }, index) => {
    const before = everybody[index - 1]
    // The choice that put somebody in another's place was made in the same transaction.
    const because = repairs.find(({ resolvedAt }) => isSameMoment(resolvedAt, joinedAt))?.choice
    return {
      id,
      label: `p${index + 1}`,
      role,
      source: provider ?? 'asked by mail',
      removed,
      ...(before?.position === position && {
        replaces: { participantId: before.id, ...(because !== undefined && { because }) },
      }),
    }
  })
}

/** Both are one transaction's time, of which one went through this process and lost its microseconds. */
const isSameMoment = (a: Date | undefined, b: Date): boolean =>
  a !== undefined && Math.abs(a.getTime() - b.getTime()) <= 1

const answerOf = ({ id, owner, absence, lapsesAt }: MeetingException) => ({
  type: 'person' as const,
  owner,
  code: absence.code,
  until: lapsesAt.toISOString(),
  subject: { type: 'exception' as const, id },
})

/** Who has been asked something that only they can answer: the approver, and people who were written to. */
const awaitedOf = async (tx: Tx, meeting: Meeting | IncompleteMeeting) => {
  if (!isComplete(meeting)) return []
  const { approval, bookBy } = meeting.intent
  const until = new Date(bookBy).toISOString()
  if (meeting.state.type === 'awaiting_approval' && approval.type !== 'automatic') {
    const subject = { type: 'proposal' as const, id: meeting.state.proposalId }
    return [{ type: 'person' as const, owner: approval.type, code: 'approval', until, subject }]
  }
  if (meeting.state.type !== 'gathering') return []
  const participants = await readParticipants(tx, meeting.id)
  const known = knownPeople(meeting, participants, await readEvidence(tx, meeting.id), tx.now)
  // Whoever was not written to yet cannot be expected to answer.
  const sentTo = messagesTo(
    meeting,
    (await readContacts(tx, meeting.id)).filter(({ outcome }) => reached.has(outcome)),
  )
  return participants
    .filter((person) => !known.has(person.id) && sentTo(person).length > 0)
    .map(({ id }) => ({
      type: 'person' as const,
      owner: 'participant',
      code: 'reply',
      participantId: id,
      until,
    }))
}

/** What may have arrived. */
const reached: ReadonlySet<string> = new Set(['accepted', 'maybe_sent'])
