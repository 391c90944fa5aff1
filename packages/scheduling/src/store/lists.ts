import type { Tx } from '@aftercommit/platform/db'
import { MeetingId } from '../ids.ts'
import { MeetingState, type MeetingStateType } from '../meeting.ts'
import { z } from 'zod'

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
