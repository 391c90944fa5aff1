/** Reads that only the trace makes: everybody who ever took part, and what was noted beside the states. */
import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { type MeetingId, ParticipantId, ProposalId } from '../ids.ts'

export interface TracedPerson {
  readonly id: ParticipantId
  /** The place among the participants; whoever takes another's place has the same. */
  readonly position: number
  readonly joinedAt: Date
  readonly role: 'required' | 'optional'
  /** Where their time is read; undefined for who is asked. */
  readonly provider: string | undefined
  /** Somebody else has taken this person's place. */
  readonly removed: boolean
}

/** Everybody who takes or took part, in the order of the intent's participants. No name, no address. */
export const readEverybody = async (tx: Tx, meetingId: MeetingId): Promise<readonly TracedPerson[]> => {
  const rows = await tx.prisma.participant.findMany({
    where: { meetingId },
    select: {
      participantId: true,
      position: true,
      createdAt: true,
      role: true,
      connectionId: true,
      removedAt: true,
    },
    orderBy: [{ position: 'asc' }, { createdAt: 'asc' }],
  })
  const ids = rows.flatMap(({ connectionId }) => connectionId ?? [])
  const connections = await tx.prisma.calendarConnection.findMany({
    where: { connectionId: { in: ids } },
    select: { connectionId: true, provider: true },
  })
  const providerById = new Map(connections.map(({ connectionId, provider }) => [connectionId, provider]))
  return rows.map((row) => ({
    id: ParticipantId.parse(row.participantId),
    position: row.position,
    joinedAt: row.createdAt,
    role: z.enum(['required', 'optional']).parse(row.role),
    provider: row.connectionId === null ? undefined : providerById.get(row.connectionId),
    removed: row.removedAt !== null,
  }))
}

export const readMeetingTimes = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<{ readonly openedAt: Date; readonly changedAt: Date }> => {
  const { createdAt: openedAt, changedAt } = await tx.prisma.meeting.findUniqueOrThrow({
    where: { meetingId },
    select: { createdAt: true, changedAt: true },
  })
  return { openedAt, changedAt }
}

/** Answers in people's own words, without the words. */
export const readReplies = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<
  readonly {
    readonly participantId: ParticipantId
    readonly unclear: readonly string[]
    readonly receivedAt: Date
  }[]
> => {
  const rows = await tx.prisma.replyDraft.findMany({
    where: { meetingId },
    select: { participantId: true, unclear: true, receivedAt: true },
    orderBy: [{ receivedAt: 'asc' }, { replyDraftId: 'asc' }],
  })
  return rows.map(({ participantId, ...rest }) => ({
    ...rest,
    participantId: ParticipantId.parse(participantId),
  }))
}

/** For which proposals people's time is held now, and of how many people. */
export const readHeldProposals = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<
  readonly { readonly proposalId: ProposalId; readonly people: number; readonly placedAt: Date }[]
> => {
  const groups = await tx.prisma.hold.groupBy({
    by: ['proposalId'],
    where: { meetingId },
    _count: { person: true },
    _min: { placedAt: true },
  })
  return groups.flatMap(({ proposalId, _count: count, _min: min }) =>
    min.placedAt === null
      ? []
      : [{ proposalId: ProposalId.parse(proposalId), people: count.person, placedAt: min.placedAt }],
  )
}

/** Holds that are no more: of how many people, from when until when, and what the meeting was since. */
export const readReleasedHolds = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<
  readonly {
    readonly proposalId: ProposalId
    readonly people: number
    readonly placedAt: Date
    readonly releasedAt: Date
    readonly state: string
  }[]
> => {
  const rows = await tx.prisma.releasedHold.findMany({
    where: { meetingId },
    orderBy: { releasedAt: 'asc' },
  })
  return rows.map(({ proposalId, people, placedAt, releasedAt, state }) => ({
    proposalId: ProposalId.parse(proposalId),
    people,
    placedAt,
    releasedAt,
    state,
  }))
}

/** Every webhook endpoint of the tenant, the oldest first. A URL may hold a secret, so it is not read. */
export const readTracedEndpoints = async (
  tx: Tx,
): Promise<readonly { readonly id: string; readonly disabled: boolean }[]> => {
  const rows = await tx.prisma.webhookEndpoint.findMany({
    select: { endpointId: true, state: true },
    orderBy: [{ createdAt: 'asc' }, { endpointId: 'asc' }],
  })
  return rows.map(({ endpointId, state }) => ({ id: endpointId, disabled: state !== 'active' }))
}
