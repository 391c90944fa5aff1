import { randomUUID } from 'node:crypto'
import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import {
  deciders,
  decisionTypes,
  lookAgainReasons,
  type Decider,
  type Decision,
  type DecisionType,
  type LookAgainReason,
} from '../decision.ts'
import { ParticipantId, type ConnectionId, type MeetingId } from '../ids.ts'

/** Notes a decision in the transaction that makes it, with the revision and the round that it leads to. */
export const insertDecision = async (
  tx: Tx,
  { id: meetingId, revision, round }: DecidedMeeting,
  decision: Decision,
): Promise<void> => {
  const { type, by, participantIds = [] } = decision
  await tx.prisma.meetingDecision.create({
    data: {
      decisionId: randomUUID(),
      tenantId: tx.tenantId,
      meetingId,
      type,
      decidedBy: by,
      because: decision.type === 'looked_again' ? decision.because : null,
      participantIds: [...participantIds],
      revision,
      round,
    },
  })
}

interface DecidedMeeting {
  readonly id: MeetingId
  readonly revision: number
  readonly round: number
}

/**
 * Notes for every meeting that is still on its way to a booking, or in repair, that a calendar it reads may be read
 * again. Nothing of a meeting is changed, so no meeting is locked.
 */
export const noteReconnected = async (tx: Tx, id: ConnectionId): Promise<void> => {
  await tx.sql.query(
    `insert into meeting_decision (decision_id, tenant_id, meeting_id, type, decided_by, participant_ids, revision, round)
       select gen_random_uuid(), m.tenant_id, m.meeting_id, 'calendar_reconnected', 'calendar_owner',
           coalesce(array_agg(p.participant_id order by p.position) filter (where p.participant_id is not null), '{}'),
           m.revision, m.round
         from meeting m
         left join participant p on p.meeting_id = m.meeting_id and p.removed_at is null and p.connection_id = $1::uuid
         where m.state not in ('confirmed', 'cancelled', 'lapsed')
           and (p.participant_id is not null or m.intent -> 'organizer' ->> 'calendarConnectionId' = $1::text)
         group by m.meeting_id`,
    [id],
  )
}

/** How often in a row the meeting has looked for a time once more by its own rules. A person's word begins the count anew. */
export const countLooksAgain = async (tx: Tx, meetingId: MeetingId): Promise<number> => {
  const { rows } = await tx.sql.query<{ count: number }>(
    `select count(*)::int as count from meeting_decision
       where meeting_id = $1 and type = 'looked_again' and decided_by = 'rule' and because <> 'cleared'
         and decided_at > greatest('-infinity'::timestamptz,
           (select max(resolved_at) from repair where meeting_id = $1),
           (select max(decided_at) from meeting_decision where meeting_id = $1 and decided_by <> 'rule'))`,
    [meetingId],
  )
  return rows[0]?.count ?? 0
}

export interface StoredDecision {
  readonly type: DecisionType
  readonly by: Decider
  readonly because: LookAgainReason | undefined
  readonly participantIds: readonly ParticipantId[]
  readonly revision: number
  readonly round: number
  readonly decidedAt: Date
}

export const readDecisions = async (tx: Tx, meetingId: MeetingId): Promise<readonly StoredDecision[]> => {
  const rows = await tx.prisma.meetingDecision.findMany({
    where: { meetingId },
    orderBy: [{ decidedAt: 'asc' }, { round: 'asc' }, { decisionId: 'asc' }],
  })
  return rows.map((row) => ({
    type: z.enum(decisionTypes).parse(row.type),
    by: z.enum(deciders).parse(row.decidedBy),
    because: row.because === null ? undefined : z.enum(lookAgainReasons).parse(row.because),
    participantIds: row.participantIds.map((id) => ParticipantId.parse(id)),
    revision: row.revision,
    round: row.round,
    decidedAt: row.decidedAt,
  }))
}
