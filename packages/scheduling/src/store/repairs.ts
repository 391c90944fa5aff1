import type { Prisma, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { MeetingId, RepairId } from '../ids.ts'
import type { Repair } from '../meeting.ts'
import { json } from './json.ts'

export interface StoredRepair extends Repair {
  readonly meetingId: MeetingId
  readonly openedAt: Date
  readonly resolvedAt: Date | undefined
  /** What was chosen; undefined while it is open, and when the meeting ended without a choice. */
  readonly choice: string | undefined
  readonly authority: string | undefined
}

const repairOf = (row: Prisma.RepairGetPayload<object>): StoredRepair => ({
  id: RepairId.parse(row.repairId),
  meetingId: MeetingId.parse(row.meetingId),
  code: row.code,
  owner: row.owner,
  facts: z.record(z.string(), z.unknown()).parse(row.facts),
  openedAt: row.openedAt,
  resolvedAt: row.resolvedAt ?? undefined,
  choice: row.choice ?? undefined,
  authority: row.authority ?? undefined,
})

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

export const readRepair = async (tx: Tx, id: RepairId): Promise<StoredRepair | undefined> => {
  const row = await tx.prisma.repair.findUnique({ where: { repairId: id } })
  return row ? repairOf(row) : undefined
}

export const readRepairs = async (tx: Tx, meetingId: MeetingId): Promise<readonly StoredRepair[]> => {
  const rows = await tx.prisma.repair.findMany({
    where: { meetingId },
    orderBy: [{ openedAt: 'asc' }, { repairId: 'asc' }],
  })
  return rows.map(repairOf)
}

/** Open repairs, the oldest first, after the given position. */
export const listOpenRepairs = async (
  tx: Tx,
  page: {
    readonly after: { readonly openedAt: Date; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<readonly StoredRepair[]> => {
  const { after, limit } = page
  const rows = await tx.prisma.repair.findMany({
    where: {
      resolvedAt: null,
      ...(after && {
        OR: [{ openedAt: { gt: after.openedAt } }, { openedAt: after.openedAt, repairId: { gt: after.id } }],
      }),
    },
    orderBy: [{ openedAt: 'asc' }, { repairId: 'asc' }],
    take: limit,
  })
  return rows.map(repairOf)
}

/** Ends what is open of a meeting's repairs: by a person's choice, or because the meeting ended. */
export const endRepairs = async (
  tx: Tx,
  meetingId: MeetingId,
  ended?: { readonly choice: string; readonly authority: string },
): Promise<void> => {
  await tx.prisma.repair.updateMany({
    where: { meetingId, resolvedAt: null },
    data: { resolvedAt: tx.now, ...ended },
  })
}
