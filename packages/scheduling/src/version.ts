/**
 * The version of a meeting changes with everything that its view shows, because every command and every settle that
 * changes any of it saves the meeting in the same transaction.
 */
import type { Db } from '@aftercommit/platform/db'
import type { MeetingId } from './ids.ts'
import { lockMeetingVersion, readMeetingVersion } from './store.ts'
import { viewMeeting, type MeetingView } from './view.ts'

/** A view and the version that it shows. */
export interface VersionedView {
  readonly view: MeetingView
  readonly version: string
}

/** A view is several statements, so it is read again when the meeting moved on meanwhile. */
export const viewVersionedMeeting = async (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
): Promise<VersionedView | undefined> => {
  for (;;) {
    const before = await db.transact(tenantId, (tx) => readMeetingVersion(tx, meetingId))
    if (before === undefined) return undefined
    const view = await viewMeeting(db, tenantId, meetingId)
    if (!view) return undefined
    const after = await db.transact(tenantId, (tx) => readMeetingVersion(tx, meetingId))
    if (before === after) return { view, version: before }
  }
}

/** The version as it stays until the transaction ends: for a command that acts only on what its caller has seen. */
export const holdMeetingVersion = (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
): Promise<string | undefined> => db.transact(tenantId, (tx) => lockMeetingVersion(tx, meetingId))
