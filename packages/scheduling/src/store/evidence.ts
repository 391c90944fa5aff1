import type { Prisma, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { evidenceSources, type Evidence } from '../evidence.ts'
import { EvidenceId, type MeetingId, ParticipantId } from '../ids.ts'
import { json } from './json.ts'

const IntervalsJson = z.array(z.object({ start: z.coerce.date(), end: z.coerce.date() }))

type EvidenceRow = Prisma.EvidenceGetPayload<object>

const evidenceOf = (row: EvidenceRow): Evidence => {
  const common = {
    id: EvidenceId.parse(row.evidenceId),
    participantId: ParticipantId.parse(row.participantId),
    round: row.round,
    source: z.enum(evidenceSources).parse(row.source),
    retrievedAt: row.retrievedAt,
    expiresAt: row.expiresAt,
  }
  switch (z.enum(['known', 'stated', 'unknown']).parse(row.type)) {
    case 'known':
      return { ...common, type: 'known', busy: IntervalsJson.parse(row.busy) }
    case 'stated':
      return { ...common, type: 'stated', free: IntervalsJson.parse(row.free), zone: row.zone ?? 'UTC' }
    case 'unknown':
      return { ...common, type: 'unknown', code: row.code ?? 'unknown' }
  }
}

const learnedData = (evidence: Evidence) => {
  switch (evidence.type) {
    case 'known':
      return { busy: json(evidence.busy) }
    case 'stated':
      return { free: json(evidence.free), zone: evidence.zone }
    case 'unknown':
      return { code: evidence.code }
  }
}

/** A second reading of one calendar in one round is not written: the first one stands. */
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
      ...learnedData(evidence),
      retrievedAt: evidence.retrievedAt,
      expiresAt: evidence.expiresAt,
    },
  })
}

export const readEvidence = async (
  tx: Tx,
  meetingId: MeetingId,
  round?: number,
): Promise<readonly (Evidence & { readonly recordedAt: Date })[]> => {
  const rows = await tx.prisma.evidence.findMany({
    where: { meetingId, ...(round !== undefined && { round }) },
    orderBy: [{ round: 'asc' }, { retrievedAt: 'asc' }],
  })
  return rows.map((row) => ({ ...evidenceOf(row), recordedAt: row.recordedAt }))
}
