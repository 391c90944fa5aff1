/** Meetings of one tenant in a list, newest first. */
import type { Db } from '@aftercommit/platform/db'
import { listMeetingRows, type ListedMeeting, type MeetingPage } from './store.ts'

export const listMeetings = (
  db: Db,
  tenantId: string,
  page: MeetingPage,
): Promise<readonly ListedMeeting[]> => db.transact(tenantId, (tx) => listMeetingRows(tx, page))
