import type { Prisma, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { absencesOf } from '../absence.ts'
import { ConnectionId, MeetingId, ParticipantId, ProposalId } from '../ids.ts'
import { IntentDraft, MeetingIntent, sameAddress, WorkingHours } from '../intent.ts'
import {
  heldProposalsOf,
  MeetingState,
  type IncompleteMeeting,
  type Meeting,
  type Participant,
} from '../meeting.ts'
import { ZoneName } from '../values.ts'
import { releaseHoldsBut } from './holds.ts'
import { json } from './json.ts'

type MeetingRow = Prisma.MeetingGetPayload<object>

const headOf = (row: MeetingRow) => ({
  id: MeetingId.parse(row.meetingId),
  revision: row.revision,
  round: row.round,
  state: MeetingState.parse(row.stateFacts),
  standingProposalId: row.standingProposalId === null ? undefined : ProposalId.parse(row.standingProposalId),
  statedSinceRound: row.statedSinceRound,
  traceParent: row.traceParent ?? undefined,
})

/** Whether an intent is complete is read from the intent itself: a meeting may lapse before it was. */
const meetingOf = (row: MeetingRow): Meeting | IncompleteMeeting => {
  const intent = MeetingIntent.safeParse(row.intent)
  // The shape does not tell all: hours without their zone, or a person whom nobody may ask, are of the right shape.
  return intent.success && absencesOf(intent.data).length === 0
    ? {
        ...headOf(row),
        intent: intent.data,
        standingIntent: MeetingIntent.nullish().parse(row.standingIntent) ?? undefined,
      }
    : { ...headOf(row), draft: IntentDraft.parse(row.intent) }
}

export const isComplete = (meeting: Meeting | IncompleteMeeting): meeting is Meeting => 'intent' in meeting

const meetingData = (meeting: Meeting | IncompleteMeeting) => ({
  revision: meeting.revision,
  round: meeting.round,
  intent: json(isComplete(meeting) ? meeting.intent : meeting.draft),
  state: meeting.state.type,
  stateFacts: json(meeting.state),
  standingProposalId: meeting.standingProposalId ?? null,
  ...(isComplete(meeting) && meeting.standingIntent && { standingIntent: json(meeting.standingIntent) }),
  statedSinceRound: meeting.statedSinceRound,
})

export const insertMeeting = async (tx: Tx, meeting: Meeting | IncompleteMeeting): Promise<void> => {
  await tx.prisma.meeting.create({
    data: {
      ...meetingData(meeting),
      meetingId: meeting.id,
      tenantId: tx.tenantId,
      traceParent: meeting.traceParent ?? null,
    },
  })
}

export const insertParticipants = async (
  tx: Tx,
  meeting: Meeting,
  participants: readonly Participant[],
): Promise<void> => {
  await tx.prisma.participant.createMany({
    data: participants.map((participant, position) => ({
      ...participantData(participant),
      participantId: participant.id,
      tenantId: tx.tenantId,
      meetingId: meeting.id,
      position,
    })),
  })
}

const participantData = (participant: Participant) => ({
  displayName: participant.displayName,
  address: participant.address,
  role: participant.role,
  connectionId: participant.connectionId ?? null,
  timeZone: participant.timeZone ?? null,
  ...(participant.workingHours && { workingHours: json(participant.workingHours) }),
  preferences: json({
    bufferBeforeMinutes: participant.bufferBeforeMinutes,
    bufferAfterMinutes: participant.bufferAfterMinutes,
  }),
  revision: participant.revision,
  askedRound: participant.askedRound ?? null,
})

/** The same person with another address, calendar or part. */
export const saveParticipant = async (tx: Tx, participant: Participant): Promise<void> => {
  await tx.prisma.participant.update({
    where: { participantId: participant.id },
    data: participantData(participant),
  })
}

/** Another person in the place of one, who is kept for the history and takes part no longer. */
export const replaceParticipant = async (
  tx: Tx,
  meeting: Meeting,
  replaced: ParticipantId,
  participant: Participant,
): Promise<void> => {
  const { position } = await tx.prisma.participant.update({
    where: { participantId: replaced },
    data: { removedAt: tx.now },
    select: { position: true },
  })
  await tx.prisma.participant.create({
    data: {
      ...participantData(participant),
      participantId: participant.id,
      tenantId: tx.tenantId,
      meetingId: meeting.id,
      position,
    },
  })
}

/** Everybody's part is a new one: links given out before are void. */
export const renewParticipants = async (tx: Tx, { id: meetingId, revision }: Meeting): Promise<void> => {
  await tx.prisma.participant.updateMany({ where: { meetingId, removedAt: null }, data: { revision } })
}

/** Those people take part again who did when the intent was confirmed, and nobody else. */
export const restoreParticipants = async (tx: Tx, { id: meetingId, intent }: Meeting): Promise<void> => {
  const rows = await tx.prisma.participant.findMany({ where: { meetingId }, orderBy: { createdAt: 'asc' } })
  for (const [position, person] of intent.participants.entries()) {
    const places = rows.filter((row) => row.position === position)
    const restored = places.findLast(({ address }) => sameAddress(address, person.address))
    if (!restored || restored.removedAt === null) continue
    const others = places
      .filter(({ removedAt }) => removedAt === null)
      .map(({ participantId }) => participantId)
    await tx.prisma.participant.updateMany({
      where: { participantId: { in: others } },
      data: { removedAt: tx.now },
    })
    await tx.prisma.participant.update({
      where: { participantId: restored.participantId },
      data: { removedAt: null },
    })
  }
}

/** Whoever takes part, or did. */
export const readAddressOf = async (tx: Tx, id: ParticipantId): Promise<string | undefined> => {
  const row = await tx.prisma.participant.findUnique({ where: { participantId: id } })
  return row?.address
}

/** Notes that these people are being asked by mail in this round. */
export const markAsked = async (tx: Tx, ids: readonly ParticipantId[], round: number): Promise<void> => {
  if (ids.length === 0) return
  await tx.prisma.participant.updateMany({
    where: { participantId: { in: [...ids] } },
    data: { askedRound: round },
  })
}

/** Takes the meeting's lock, which every command and settle on it takes first. */
export const lockAnyMeeting = async (
  tx: Tx,
  id: MeetingId,
): Promise<Meeting | IncompleteMeeting | undefined> => {
  const rows = await tx.prisma.$queryRaw<{ meeting_id: string }[]>`
    select meeting_id from meeting where meeting_id = ${id}::uuid for update`
  return rows.length === 0 ? undefined : readAnyMeeting(tx, id)
}

/** The same, for work that only a complete meeting allows. */
export const lockMeeting = async (tx: Tx, id: MeetingId): Promise<Meeting | undefined> => {
  const meeting = await lockAnyMeeting(tx, id)
  return meeting && isComplete(meeting) ? meeting : undefined
}

export const readAnyMeeting = async (
  tx: Tx,
  id: MeetingId,
): Promise<Meeting | IncompleteMeeting | undefined> => {
  const row = await tx.prisma.meeting.findUnique({ where: { meetingId: id } })
  return row ? meetingOf(row) : undefined
}

export const readMeeting = async (tx: Tx, id: MeetingId): Promise<Meeting | undefined> => {
  const meeting = await readAnyMeeting(tx, id)
  return meeting && isComplete(meeting) ? meeting : undefined
}

/** Those of the given meetings whose intent is complete. */
export const readMeetings = async (
  tx: Tx,
  ids: readonly MeetingId[],
): Promise<ReadonlyMap<MeetingId, Meeting>> => {
  if (ids.length === 0) return new Map()
  const rows = await tx.prisma.meeting.findMany({ where: { meetingId: { in: [...ids] } } })
  return new Map(
    rows
      .map(meetingOf)
      .filter(isComplete)
      .map((meeting) => [meeting.id, meeting]),
  )
}

/** Saves the meeting, and releases every hold that its new state does not keep: a hold never outlives its reason. */
export const saveMeeting = async (tx: Tx, meeting: Meeting | IncompleteMeeting): Promise<void> => {
  await tx.prisma.meeting.update({
    where: { meetingId: meeting.id },
    data: { ...meetingData(meeting), changedAt: tx.now },
  })
  await releaseHoldsBut(tx, meeting.id, heldProposalsOf(meeting), meeting.state.type)
}

const Preferences = z.object({
  bufferBeforeMinutes: z.int().optional(),
  bufferAfterMinutes: z.int().optional(),
})

/** Who takes part now, in the order of the intent's participants. */
export const readParticipants = async (tx: Tx, meetingId: MeetingId): Promise<readonly Participant[]> => {
  const rows = await tx.prisma.participant.findMany({
    where: { meetingId, removedAt: null },
    orderBy: { position: 'asc' },
  })
  return rows.map((row) => ({
    id: ParticipantId.parse(row.participantId),
    displayName: row.displayName,
    address: row.address,
    role: z.enum(['required', 'optional']).parse(row.role),
    connectionId: row.connectionId === null ? undefined : ConnectionId.parse(row.connectionId),
    timeZone: row.timeZone === null ? undefined : ZoneName.parse(row.timeZone),
    workingHours: row.workingHours === null ? undefined : WorkingHours.parse(row.workingHours),
    ...Preferences.parse(row.preferences ?? {}),
    revision: row.revision,
    askedRound: row.askedRound ?? undefined,
  }))
}
