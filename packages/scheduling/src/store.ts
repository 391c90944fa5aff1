/**
 * Every statement on scheduling's tables. Reads answer parsed domain values; row-level security keeps them inside the
 * transaction's tenant, so no statement here names one except to insert.
 */
import type { Prisma, Tx } from '@aftercommit/platform/db'
import type { EventDraft } from '@aftercommit/providers/calendar'
import { z } from 'zod'
import { absenceCodes, type Absence } from './absence.ts'
import type { Check } from './completion.ts'
import type { Evidence } from './evidence.ts'
import {
  ConnectionId,
  EndpointId,
  EvidenceId,
  ExceptionId,
  MeetingId,
  ParticipantId,
  ProposalId,
  RepairId,
} from './ids.ts'
import { IntentDraft, MeetingIntent, WorkingHours } from './intent.ts'
import {
  MeetingState,
  type IncompleteMeeting,
  type Meeting,
  type MeetingStateType,
  type Participant,
  type Proposal,
  type Repair,
} from './meeting.ts'

const BusyJson = z.array(z.object({ start: z.coerce.date(), end: z.coerce.date() }))
const OptionalJson = z.object({
  optionalAttending: z.array(z.string()),
  optionalMissing: z.array(
    z.object({ id: z.string(), because: z.enum(['outside_hours', 'busy', 'unknown']) }),
  ),
})
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

/** JSON as Prisma takes it. Dates become text, undefined fields vanish. */
const json = (value: unknown): Prisma.InputJsonValue =>
  JSON.parse(JSON.stringify(value)) as Prisma.InputJsonValue

// ----------------------------------------------------------------------------------------------------- meetings

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

// ----------------------------------------------------------------------------------------------------- evidence

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

// ---------------------------------------------------------------------------------------- proposals and approvals

type ProposalRow = Prisma.ProposalGetPayload<object>

const proposalOf = (row: ProposalRow): Proposal & { readonly createdAt: Date } => ({
  id: ProposalId.parse(row.proposalId),
  meetingRevision: row.meetingRevision,
  round: row.round,
  start: row.startAt,
  end: row.endAt,
  evidenceIds: row.evidenceIds.map((id) => EvidenceId.parse(id)),
  optional: OptionalJson.parse(row.optional),
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
      optional: json(proposal.optional),
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

// ------------------------------------------------------------------------------------------ event, proof, repair

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

// --------------------------------------------------------------------------------------------------- exceptions

const AbsencePath = z.array(z.union([z.string(), z.int()]))

/** An open question to a person: what is missing, who owns the answer, and until when it is waited for. */
export interface MeetingException {
  readonly id: ExceptionId
  readonly meetingId: MeetingId
  readonly absence: Absence
  readonly owner: string
  readonly state: 'open' | 'resolved' | 'lapsed'
  readonly openedAt: Date
  readonly lapsesAt: Date
  readonly endedAt: Date | undefined
}

type ExceptionRow = Prisma.MeetingExceptionGetPayload<object>

const exceptionOf = (row: ExceptionRow): MeetingException => ({
  id: ExceptionId.parse(row.exceptionId),
  meetingId: MeetingId.parse(row.meetingId),
  absence: { code: z.enum(absenceCodes).parse(row.code), path: AbsencePath.parse(row.path) },
  owner: row.owner,
  state: z.enum(['open', 'resolved', 'lapsed']).parse(row.state),
  openedAt: row.openedAt,
  lapsesAt: row.lapsesAt,
  endedAt: row.endedAt ?? undefined,
})

export const insertExceptions = async (
  tx: Tx,
  exceptions: readonly Pick<MeetingException, 'id' | 'meetingId' | 'absence' | 'owner' | 'lapsesAt'>[],
): Promise<void> => {
  await tx.prisma.meetingException.createMany({
    data: exceptions.map(({ id, meetingId, absence, owner, lapsesAt }) => ({
      exceptionId: id,
      tenantId: tx.tenantId,
      meetingId,
      code: absence.code,
      path: json(absence.path),
      owner,
      state: 'open',
      openedAt: tx.now,
      lapsesAt,
    })),
  })
}

export const readException = async (tx: Tx, id: ExceptionId): Promise<MeetingException | undefined> => {
  const row = await tx.prisma.meetingException.findUnique({ where: { exceptionId: id } })
  return row ? exceptionOf(row) : undefined
}

export const readExceptionsOf = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<readonly MeetingException[]> => {
  const rows = await tx.prisma.meetingException.findMany({
    where: { meetingId },
    orderBy: { exceptionId: 'asc' },
  })
  return rows.map(exceptionOf)
}

/** Open exceptions, the soonest to lapse first, after the given position. */
export const listOpenExceptions = async (
  tx: Tx,
  page: {
    readonly after: { readonly lapsesAt: Date; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<readonly MeetingException[]> => {
  const { after, limit } = page
  const rows = await tx.prisma.meetingException.findMany({
    where: {
      state: 'open',
      ...(after && {
        OR: [
          { lapsesAt: { gt: after.lapsesAt } },
          { lapsesAt: after.lapsesAt, exceptionId: { gt: after.id } },
        ],
      }),
    },
    orderBy: [{ lapsesAt: 'asc' }, { exceptionId: 'asc' }],
    take: limit,
  })
  return rows.map(exceptionOf)
}

/** Ends open exceptions; under the meeting's lock, so that none ends twice. */
export const endExceptions = async (
  tx: Tx,
  ids: readonly ExceptionId[],
  state: 'resolved' | 'lapsed',
): Promise<void> => {
  await tx.prisma.meetingException.updateMany({
    where: { exceptionId: { in: [...ids] }, state: 'open' },
    data: { state, endedAt: tx.now },
  })
}

// ------------------------------------------------------------------------------------ connections and endpoints

export interface CalendarConnection {
  readonly id: ConnectionId
  readonly provider: 'google' | 'microsoft'
  readonly address: string
  readonly sealedCredential: Uint8Array
  readonly state: 'active' | 'revoked'
}

export const insertConnection = async (
  tx: Tx,
  connection: CalendarConnection,
): Promise<'inserted' | 'taken'> => {
  const { id, sealedCredential, ...rest } = connection
  const { count } = await tx.prisma.calendarConnection.createMany({
    skipDuplicates: true,
    data: {
      ...rest,
      connectionId: id,
      tenantId: tx.tenantId,
      sealedCredential: Uint8Array.from(sealedCredential),
    },
  })
  return count === 1 ? 'inserted' : 'taken'
}

export const readConnections = async (
  tx: Tx,
  ids: readonly ConnectionId[],
): Promise<ReadonlyMap<ConnectionId, CalendarConnection>> => {
  const rows = await tx.prisma.calendarConnection.findMany({ where: { connectionId: { in: [...ids] } } })
  return new Map(
    rows.map((row) => {
      const id = ConnectionId.parse(row.connectionId)
      const provider = z.enum(['google', 'microsoft']).parse(row.provider)
      const state = z.enum(['active', 'revoked']).parse(row.state)
      return [id, { id, provider, address: row.address, sealedCredential: row.sealedCredential, state }]
    }),
  )
}

export interface WebhookEndpoint {
  readonly id: EndpointId
  readonly url: string
  readonly sealedSecret: Uint8Array
  readonly state: 'active' | 'disabled'
}

export const insertEndpoint = async (tx: Tx, endpoint: WebhookEndpoint): Promise<void> => {
  const { id, url, state, sealedSecret } = endpoint
  await tx.prisma.webhookEndpoint.create({
    data: { endpointId: id, tenantId: tx.tenantId, url, state, sealedSecret: Uint8Array.from(sealedSecret) },
  })
}

export const readEndpoint = async (tx: Tx, id: EndpointId): Promise<WebhookEndpoint | undefined> => {
  const row = await tx.prisma.webhookEndpoint.findUnique({ where: { endpointId: id } })
  if (!row) return undefined
  const state = z.enum(['active', 'disabled']).parse(row.state)
  return { id, url: row.url, sealedSecret: row.sealedSecret, state }
}

export const readActiveEndpointIds = async (tx: Tx): Promise<readonly EndpointId[]> => {
  const rows = await tx.prisma.webhookEndpoint.findMany({
    where: { state: 'active' },
    select: { endpointId: true },
    orderBy: { createdAt: 'asc' },
  })
  return rows.map((row) => EndpointId.parse(row.endpointId))
}

// --------------------------------------------------------------------------------------------- lists and versions

export interface ListedMeeting {
  readonly id: MeetingId
  readonly revision: number
  readonly state: MeetingStateType
  readonly purpose: string
  readonly createdAt: Date
  readonly changedAt: Date
  /** Where the list goes on after this meeting. To the microsecond, as the database orders it; a Date would round. */
  readonly position: { readonly createdAt: string; readonly id: string }
}

export interface MeetingPage {
  readonly state: MeetingStateType | undefined
  readonly after: ListedMeeting['position'] | undefined
  readonly limit: number
}

const UUID_LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Newest first, by an order that no later insert or change disturbs, so that pages neither repeat nor skip. */
export const listMeetingRows = async (tx: Tx, page: MeetingPage): Promise<readonly ListedMeeting[]> => {
  const { createdAt, id } = page.after ?? { createdAt: 'infinity', id: UUID_LAST }
  const rows = await tx.prisma.$queryRaw<
    {
      meeting_id: string
      revision: number
      state: string
      purpose: string
      created_at: Date
      changed_at: Date
      position: string
    }[]
  >`
    select meeting_id, revision, state, intent->>'purpose' as purpose, created_at, changed_at,
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as position
      from meeting
      where (created_at, meeting_id) < (${createdAt}::timestamptz, ${id}::uuid)
        and (${page.state ?? null}::text is null or state = ${page.state ?? null}::text)
      order by created_at desc, meeting_id desc limit ${page.limit}::int`
  return rows.map((row) => ({
    id: MeetingId.parse(row.meeting_id),
    revision: row.revision,
    state: meetingStateType(row.state),
    purpose: row.purpose,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    position: { createdAt: row.position, id: row.meeting_id },
  }))
}

const meetingStateTypes: readonly MeetingStateType[] = MeetingState.options.map(
  ({ shape }) => shape.type.value,
)

const meetingStateType = (text: string): MeetingStateType => z.enum(meetingStateTypes).parse(text)

/** `xmin` is the transaction that wrote the row last: no two states of a row that anybody saw share one. */
export const readMeetingVersion = async (tx: Tx, id: MeetingId): Promise<string | undefined> => {
  const rows = await tx.prisma.$queryRaw<{ version: string }[]>`
    select revision || '.' || xmin as version from meeting where meeting_id = ${id}::uuid`
  return rows[0]?.version
}

/** The same, under the meeting's lock: it stays true until this transaction ends or changes the meeting itself. */
export const lockMeetingVersion = async (tx: Tx, id: MeetingId): Promise<string | undefined> => {
  const rows = await tx.prisma.$queryRaw<{ version: string }[]>`
    select revision || '.' || xmin as version from meeting where meeting_id = ${id}::uuid for update`
  return rows[0]?.version
}
