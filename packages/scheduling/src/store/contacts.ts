import type { Prisma, Tx } from '@aftercommit/platform/db'
import type { TimeZone } from '@aftercommit/time'
import { z } from 'zod'
import { contactOutcomes, type ContactOutcome } from '../contact.ts'
import { ContactId, MeetingId, ParticipantId, ReplyDraftId } from '../ids.ts'
import { ZoneName } from '../values.ts'
import { json } from './json.ts'

/** One message to one person, and what is known of its fate. */
export interface Contact {
  readonly id: ContactId
  readonly meetingId: MeetingId
  /** Undefined: the approver. */
  readonly participantId: ParticipantId | undefined
  readonly kind: string
  readonly round: number
  readonly messageId: string
  readonly outcome: ContactOutcome
  readonly code: string | undefined
  readonly contactedAt: Date
}

const contactOf = (row: Prisma.ContactGetPayload<object>): Contact => ({
  id: ContactId.parse(row.contactId),
  meetingId: MeetingId.parse(row.meetingId),
  participantId: row.participantId === null ? undefined : ParticipantId.parse(row.participantId),
  kind: row.kind,
  round: row.round,
  messageId: row.messageId,
  outcome: z.enum(contactOutcomes).parse(row.outcome),
  code: row.code ?? undefined,
  contactedAt: row.contactedAt,
})

/** A message that went out under the same id before is not written again: its copy is the same message. */
export const insertContact = async (tx: Tx, contact: Contact): Promise<void> => {
  const { id, participantId, code, ...rest } = contact
  await tx.prisma.contact.createMany({
    skipDuplicates: true,
    data: {
      ...rest,
      contactId: id,
      tenantId: tx.tenantId,
      participantId: participantId ?? null,
      code: code ?? null,
    },
  })
}

export const readContacts = async (tx: Tx, meetingId: MeetingId): Promise<readonly Contact[]> => {
  const rows = await tx.prisma.contact.findMany({
    where: { meetingId },
    orderBy: [{ contactedAt: 'asc' }, { contactId: 'asc' }],
  })
  return rows.map(contactOf)
}

/** The latest of the messages with one of these ids. */
export const findContact = async (tx: Tx, messageIds: readonly string[]): Promise<Contact | undefined> => {
  const row = await tx.prisma.contact.findFirst({
    where: { messageId: { in: [...messageIds] } },
    orderBy: { contactedAt: 'desc' },
  })
  return row ? contactOf(row) : undefined
}

export const saveContactOutcome = async (
  tx: Tx,
  id: ContactId,
  outcome: ContactOutcome,
  code: string,
): Promise<void> => {
  await tx.prisma.contact.update({ where: { contactId: id }, data: { outcome, code } })
}

/** Nobody of this address is written to any more, by any meeting of the tenant. */
export const refuseContact = async (tx: Tx, address: string): Promise<void> => {
  await tx.prisma.contactRefusal.createMany({
    skipDuplicates: true,
    data: { tenantId: tx.tenantId, person: address.toLowerCase() },
  })
}

export const isContactRefused = async (tx: Tx, address: string): Promise<boolean> => {
  const count = await tx.prisma.contactRefusal.count({ where: { person: address.toLowerCase() } })
  return count > 0
}

const WindowsJson = z.array(z.object({ start: z.string(), end: z.string() }))

/** What was understood of a person's own words; local times, for only their zone makes them instants. */
export interface ReplyDraft {
  readonly id: ReplyDraftId
  readonly meetingId: MeetingId
  readonly participantId: ParticipantId
  readonly messageId: string
  readonly windows: readonly { readonly start: string; readonly end: string }[]
  readonly zone: TimeZone | undefined
  readonly unclear: readonly string[]
  readonly receivedAt: Date
}

/** False when this message has been read before. */
export const insertReplyDraft = async (tx: Tx, draft: ReplyDraft): Promise<boolean> => {
  const { id, windows, zone, unclear, ...rest } = draft
  const { count } = await tx.prisma.replyDraft.createMany({
    skipDuplicates: true,
    data: {
      ...rest,
      replyDraftId: id,
      tenantId: tx.tenantId,
      windows: json(windows),
      zone: zone ?? null,
      unclear: [...unclear],
    },
  })
  return count === 1
}

export const readReplyDraft = async (
  tx: Tx,
  participantId: ParticipantId,
): Promise<ReplyDraft | undefined> => {
  const row = await tx.prisma.replyDraft.findFirst({
    where: { participantId },
    orderBy: { receivedAt: 'desc' },
  })
  if (!row) return undefined
  return {
    id: ReplyDraftId.parse(row.replyDraftId),
    meetingId: MeetingId.parse(row.meetingId),
    participantId,
    messageId: row.messageId,
    windows: WindowsJson.parse(row.windows),
    zone: row.zone === null ? undefined : ZoneName.parse(row.zone),
    unclear: row.unclear,
    receivedAt: row.receivedAt,
  }
}
