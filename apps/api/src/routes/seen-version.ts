/** That a decision about a meeting stands by what its maker has seen of it. */
import type { Db } from '@aftercommit/platform/db'
import { holdMeetingVersion, type MeetingId } from '@aftercommit/scheduling'
import { z } from 'zod'
import { EntityTags, etagOf, matchesStrongly } from '../etag.ts'
import { refused } from '../route.ts'

/** The headers of a route that decides about one meeting. */
export const SeenVersion = z.object({
  'if-match': EntityTags.optional().meta({
    description:
      'The `ETag` with which whoever decides has seen the meeting; refused if anything of it has changed since.',
    examples: ['"1.742"'],
  }),
})

/**
 * The refusal of a caller who has seen another version than the meeting has now, or undefined. Holds the meeting's lock
 * afterwards, so that what was compared is what the command acts on.
 */
export const staleRefusal = async (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  { 'if-match': ifMatch }: z.output<typeof SeenVersion>,
) => {
  if (ifMatch === undefined) return undefined
  const version = await holdMeetingVersion(db, tenantId, meetingId)
  if (version === undefined) return undefined
  const etag = etagOf(version)
  if (matchesStrongly(ifMatch, etag)) return undefined
  return refused('stale-version', { detail: `Its ETag is ${etag} now.` })
}
