import type { Prisma, Tx } from '@aftercommit/platform/db'
import type { Evidence } from '../evidence.ts'
import { EvidenceId, type MeetingId, ParticipantId } from '../ids.ts'
import { json } from './json.ts'
import { z } from 'zod'

const BusyJson = z.array(z.object({ start: z.coerce.date(), end: z.coerce.date() }))

type EvidenceRow = Prisma.EvidenceGetPayload<object>

const evidenceOf = (row: EvidenceRow): Evidence => {
  const common = {
    id: EvidenceId.parse(row.evidenceId),
    participantId: ParticipantId.parse(row.participantId),
    round: row.round,
    source: z.enum(['google', 'microsoft']).parse(row.source),
    retrievedAt: row.retrievedAt,
    expiresAt: row.expiresAt,
  }
  return row.type === 'known'
    ? { ...common, type: 'known', busy: BusyJson.parse(row.busy) }
    : { ...common, type: 'unknown', code: row.code ?? 'unknown' }
}

/** A second piece for the same person and round is not written: the first one stands. */
export const insertEvidence = async (tx: Tx, meetingId: MeetingId, evidence: Evidence): Promise<void> => {
  await tx.prisma.evidence.createMany({
    skipDuplicates: true,
    data: {
      evidenceId: evidence.id,
      tenantId: tx.tenantId,
      meetingId,
      participantId: evidence.participantId,
      round: evidence.round,
      source: evidence.source,
      type: evidence.type,
      ...(evidence.type === 'known' ? { busy: json(evidence.busy) } : { code: evidence.code }),
      retrievedAt: evidence.retrievedAt,
      expiresAt: evidence.expiresAt,
    },
  })
}

export const readEvidence = async (
  tx: Tx,
  meetingId: MeetingId,
  round?: number,
): Promise<readonly Evidence[]> => {
  const rows = await tx.prisma.evidence.findMany({
    where: { meetingId, ...(round !== undefined && { round }) },
    orderBy: [{ round: 'asc' }, { retrievedAt: 'asc' }],
  })
  return rows.map(evidenceOf)
}
