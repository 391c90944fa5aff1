import type { Tx } from '@aftercommit/platform/db'
import type { Check } from '../completion.ts'
import { type MeetingId, type ProposalId, RepairId } from '../ids.ts'
import type { Repair } from '../meeting.ts'
import { json } from './json.ts'
import { z } from 'zod'

export interface StoredEvent {
  readonly proposalId: ProposalId
  readonly provider: string
  readonly calendarAddress: string
  readonly eventId: string
  readonly icalUid: string
  readonly writtenAt: Date
}

/** One event per approval: a second one is not written, the first one stands. */
export const insertEvent = async (tx: Tx, meetingId: MeetingId, event: StoredEvent): Promise<void> => {
  await tx.prisma.calendarEvent.createMany({
    skipDuplicates: true,
    data: { ...event, tenantId: tx.tenantId, meetingId },
  })
}

export const readEvent = async (tx: Tx, proposalId: ProposalId): Promise<StoredEvent | undefined> => {
  const row = await tx.prisma.calendarEvent.findUnique({ where: { proposalId } })
  return row ? { ...row, proposalId } : undefined
}

export const insertCompletion = async (
  tx: Tx,
  meetingId: MeetingId,
  proof: {
    readonly proposalId: ProposalId
    readonly eventId: string
    readonly etag: string
    readonly checks: readonly Check[]
  },
): Promise<void> => {
  await tx.prisma.completion.create({
    data: { ...proof, checks: json(proof.checks), tenantId: tx.tenantId, meetingId, verifiedAt: tx.now },
  })
}

export const readCompletion = async (tx: Tx, proposalId: ProposalId) => {
  const row = await tx.prisma.completion.findUnique({ where: { proposalId } })
  if (!row) return undefined
  const checks = z.array(z.object({ field: z.string(), agrees: z.boolean() })).parse(row.checks)
  return { eventId: row.eventId, etag: row.etag, checks, verifiedAt: row.verifiedAt }
}

export const insertRepair = async (tx: Tx, meetingId: MeetingId, repair: Repair): Promise<void> => {
  await tx.prisma.repair.create({
    data: {
      repairId: repair.id,
      tenantId: tx.tenantId,
      meetingId,
      code: repair.code,
      owner: repair.owner,
      facts: json(repair.facts),
      openedAt: tx.now,
    },
  })
}

export const readRepairs = async (tx: Tx, meetingId: MeetingId) => {
  const rows = await tx.prisma.repair.findMany({ where: { meetingId }, orderBy: { openedAt: 'asc' } })
  return rows.map((row) => ({
    id: RepairId.parse(row.repairId),
    code: row.code,
    owner: row.owner,
    facts: z.record(z.string(), z.unknown()).parse(row.facts),
    openedAt: row.openedAt,
    resolvedAt: row.resolvedAt ?? undefined,
  }))
}
