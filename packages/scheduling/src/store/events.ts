import type { Tx } from '@aftercommit/platform/db'
import type { Check } from '../completion.ts'
import { ProposalId, type MeetingId } from '../ids.ts'
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

export const readEvent = async (
  tx: Tx,
  proposalId: ProposalId,
): Promise<(StoredEvent & { readonly recordedAt: Date }) | undefined> => {
  const row = await tx.prisma.calendarEvent.findUnique({ where: { proposalId } })
  return row ? { ...row, proposalId } : undefined
}

/** The proposals of these meetings whose event is known. */
export const readWrittenProposals = async (
  tx: Tx,
  meetingIds: readonly MeetingId[],
): Promise<ReadonlySet<ProposalId>> => {
  if (meetingIds.length === 0) return new Set()
  const rows = await tx.prisma.calendarEvent.findMany({
    where: { meetingId: { in: [...meetingIds] } },
    select: { proposalId: true },
  })
  return new Set(rows.map(({ proposalId }) => ProposalId.parse(proposalId)))
}

/** The last event that a meeting had, and when it was taken away. */
export const readLastEvent = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<(StoredEvent & { readonly cancelledAt: Date | undefined }) | undefined> => {
  const row = await tx.prisma.calendarEvent.findFirst({
    where: { meetingId },
    orderBy: [{ recordedAt: 'desc' }, { writtenAt: 'desc' }, { proposalId: 'desc' }],
  })
  return row
    ? { ...row, proposalId: ProposalId.parse(row.proposalId), cancelledAt: row.cancelledAt ?? undefined }
    : undefined
}

/** Notes that nothing of the meeting stands at its provider any more. What was noted before stays as it is. */
export const markEventsCancelled = async (tx: Tx, meetingId: MeetingId, at: Date): Promise<void> => {
  await tx.prisma.calendarEvent.updateMany({
    where: { meetingId, cancelledAt: null },
    data: { cancelledAt: at },
  })
}

/** The proof that counts is the last one: an event may have been put right, and read back again. */
export const saveCompletion = async (
  tx: Tx,
  meetingId: MeetingId,
  proof: {
    readonly proposalId: ProposalId
    readonly eventId: string
    readonly etag: string
    readonly checks: readonly Check[]
    readonly conferenceUrl: string | undefined
  },
): Promise<void> => {
  const { conferenceUrl = null, ...rest } = proof
  const data = { ...rest, conferenceUrl, checks: json(proof.checks), verifiedAt: tx.now }
  await tx.prisma.completion.upsert({
    where: { proposalId: proof.proposalId },
    create: { ...data, tenantId: tx.tenantId, meetingId },
    update: data,
  })
}

export const readCompletion = async (tx: Tx, proposalId: ProposalId) => {
  const row = await tx.prisma.completion.findUnique({ where: { proposalId } })
  if (!row) return undefined
  const checks = z.array(z.object({ field: z.string(), agrees: z.boolean() })).parse(row.checks)
  const { eventId, etag, verifiedAt, conferenceUrl } = row
  return { eventId, etag, checks, verifiedAt, conferenceUrl: conferenceUrl ?? undefined }
}
