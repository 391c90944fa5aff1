import type { Prisma, Tx } from '@aftercommit/platform/db'
import { ConnectionId, MeetingId, ParticipantId } from '../ids.ts'
import { IntentDraft, MeetingIntent, WorkingHours } from '../intent.ts'
import { MeetingState, type IncompleteMeeting, type Meeting, type Participant } from '../meeting.ts'
import { json } from './json.ts'
import { z } from 'zod'

type MeetingRow = Prisma.MeetingGetPayload<object>

const headOf = (row: MeetingRow) => ({
  id: MeetingId.parse(row.meetingId),
  revision: row.revision,
  round: row.round,
  state: MeetingState.parse(row.stateFacts),
  traceParent: row.traceParent ?? undefined,
})

/** Whether an intent is complete is read from the intent itself: a meeting may lapse before it was. */
const meetingOf = (row: MeetingRow): Meeting | IncompleteMeeting => {
  const intent = MeetingIntent.safeParse(row.intent)
  return intent.success
    ? { ...headOf(row), intent: intent.data }
    : { ...headOf(row), draft: IntentDraft.parse(row.intent) }
}

export const isComplete = (meeting: Meeting | IncompleteMeeting): meeting is Meeting => 'intent' in meeting

const meetingData = (meeting: Meeting | IncompleteMeeting) => ({
  revision: meeting.revision,
  round: meeting.round,
  intent: json(isComplete(meeting) ? meeting.intent : meeting.draft),
  state: meeting.state.type,
  stateFacts: json(meeting.state),
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
      participantId: participant.id,
      tenantId: tx.tenantId,
      meetingId: meeting.id,
      position,
      displayName: participant.displayName,
      address: participant.address,
      role: participant.role,
      connectionId: participant.connectionId ?? null,
      timeZone: participant.timeZone ?? null,
      ...(participant.workingHours && { workingHours: json(participant.workingHours) }),
      revision: meeting.revision,
    })),
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

export const saveMeeting = async (tx: Tx, meeting: Meeting | IncompleteMeeting): Promise<void> => {
  await tx.prisma.meeting.update({
    where: { meetingId: meeting.id },
    data: { ...meetingData(meeting), changedAt: tx.now },
  })
}

export const readParticipants = async (tx: Tx, meetingId: MeetingId): Promise<readonly Participant[]> => {
  const rows = await tx.prisma.participant.findMany({ where: { meetingId }, orderBy: { position: 'asc' } })
  return rows.map((row) => ({
    id: ParticipantId.parse(row.participantId),
    displayName: row.displayName,
    address: row.address,
    role: z.enum(['required', 'optional']).parse(row.role),
    connectionId: row.connectionId === null ? undefined : ConnectionId.parse(row.connectionId),
    timeZone: row.timeZone ?? undefined,
    workingHours: row.workingHours === null ? undefined : WorkingHours.parse(row.workingHours),
  }))
}
