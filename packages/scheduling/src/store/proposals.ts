import type { Prisma, Tx } from '@aftercommit/platform/db'
import type { EventDraft } from '@aftercommit/providers/calendar'
import { EvidenceId, type MeetingId, ProposalId } from '../ids.ts'
import type { Proposal } from '../meeting.ts'
import { ProposalGrounds } from '../slot.ts'
import { json } from './json.ts'
import { z } from 'zod'

const DraftJson = z.object({
  operationId: z.string(),
  epoch: z.int(),
  calendarAddress: z.string(),
  title: z.string(),
  start: z.coerce.date(),
  end: z.coerce.date(),
  timeZone: z.string(),
  attendees: z.array(
    z.object({ address: z.string(), displayName: z.string(), role: z.enum(['required', 'optional']) }),
  ),
  location: z.string().optional(),
  conference: z.boolean(),
})

type ProposalRow = Prisma.ProposalGetPayload<object>

const proposalOf = (row: ProposalRow): Proposal & { readonly createdAt: Date } => ({
  id: ProposalId.parse(row.proposalId),
  meetingRevision: row.meetingRevision,
  round: row.round,
  start: row.startAt,
  end: row.endAt,
  evidenceIds: row.evidenceIds.map((id) => EvidenceId.parse(id)),
  grounds: ProposalGrounds.parse(row.grounds),
  createdAt: row.createdAt,
})

export const insertProposal = async (tx: Tx, meetingId: MeetingId, proposal: Proposal): Promise<void> => {
  await tx.prisma.proposal.create({
    data: {
      proposalId: proposal.id,
      tenantId: tx.tenantId,
      meetingId,
      meetingRevision: proposal.meetingRevision,
      round: proposal.round,
      startAt: proposal.start,
      endAt: proposal.end,
      evidenceIds: [...proposal.evidenceIds],
      grounds: json(proposal.grounds),
    },
  })
}

export const readProposal = async (
  tx: Tx,
  meetingId: MeetingId,
  id: ProposalId,
): Promise<Proposal | undefined> => {
  const row = await tx.prisma.proposal.findFirst({ where: { proposalId: id, meetingId } })
  return row ? proposalOf(row) : undefined
}

export const readProposals = async (tx: Tx, meetingId: MeetingId) => {
  const rows = await tx.prisma.proposal.findMany({ where: { meetingId }, orderBy: { round: 'asc' } })
  return rows.map(proposalOf)
}

export interface StoredApproval {
  readonly proposalId: ProposalId
  readonly meetingRevision: number
  readonly approver: string
  readonly authority: string
  readonly draft: EventDraft
  readonly approvedAt: Date
}

export const insertApproval = async (
  tx: Tx,
  meetingId: MeetingId,
  approval: StoredApproval,
): Promise<void> => {
  await tx.prisma.approval.create({
    data: {
      proposalId: approval.proposalId,
      tenantId: tx.tenantId,
      meetingId,
      meetingRevision: approval.meetingRevision,
      approver: approval.approver,
      authority: approval.authority,
      draft: json(approval.draft),
      approvedAt: approval.approvedAt,
    },
  })
}

export const readApproval = async (tx: Tx, proposalId: ProposalId): Promise<StoredApproval | undefined> => {
  const row = await tx.prisma.approval.findUnique({ where: { proposalId } })
  if (!row) return undefined
  const draft = DraftJson.parse(row.draft)
  return {
    proposalId,
    meetingRevision: row.meetingRevision,
    approver: row.approver,
    authority: row.authority,
    draft: { ...draft, location: draft.location },
    approvedAt: row.approvedAt,
  }
}
