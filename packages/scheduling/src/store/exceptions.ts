import type { Prisma, Tx } from '@aftercommit/platform/db'
import { absenceCodes, type Absence } from '../absence.ts'
import { ExceptionId, MeetingId } from '../ids.ts'
import { json } from './json.ts'
import { z } from 'zod'

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

/** They are opened in the order in which they are given. */
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

/** In the order in which they were opened: the end of one moves none that came before it. */
export const readExceptionsOf = async (
  tx: Tx,
  meetingId: MeetingId,
): Promise<readonly MeetingException[]> => {
  const rows = await tx.prisma.meetingException.findMany({
    where: { meetingId },
    orderBy: { sequence: 'asc' },
  })
  return rows.map(exceptionOf)
}

/** Open exceptions, the soonest to lapse first, and among those the soonest opened; after the given position. */
export const listOpenExceptions = async (
  tx: Tx,
  page: {
    readonly after: { readonly lapsesAt: Date; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<readonly MeetingException[]> => {
  const { after, limit } = page
  // A position stays good when its exception has ended meanwhile.
  const last = after && (await tx.prisma.meetingException.findUnique({ where: { exceptionId: after.id } }))
  if (after && !last) return []
  const rows = await tx.prisma.meetingException.findMany({
    where: {
      state: 'open',
      ...(after && {
        OR: [
          { lapsesAt: { gt: after.lapsesAt } },
          { lapsesAt: after.lapsesAt, ...(last && { sequence: { gt: last.sequence } }) },
        ],
      }),
    },
    orderBy: [{ lapsesAt: 'asc' }, { sequence: 'asc' }],
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
