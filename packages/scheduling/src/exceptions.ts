/** What a person may do about what is missing: see it, and answer it. */
import { enqueue } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import { absencesOf, inAnswer, resolveAbsence, type Absence } from './absence.ts'
import { beginGathering, openExceptions, unknownReferences } from './commands.ts'
import type { UnknownReference } from './references.ts'
import type { ExceptionId, MeetingId } from './ids.ts'
import { IntentDraft, type MeetingIntent } from './intent.ts'
import type { IncompleteMeeting, Meeting } from './meeting.ts'
import {
  endExceptions,
  isComplete,
  listOpenExceptions,
  lockAnyMeeting,
  readAnyMeeting,
  readException,
  readExceptionsOf,
  saveMeeting,
  type MeetingException,
} from './store.ts'

export const listExceptions = (
  db: Db,
  tenantId: string,
  page: Parameters<typeof listOpenExceptions>[1],
): Promise<readonly MeetingException[]> => db.transact(tenantId, (tx) => listOpenExceptions(tx, page))

export const viewException = (
  db: Db,
  tenantId: string,
  id: ExceptionId,
): Promise<MeetingException | undefined> => db.transact(tenantId, (tx) => readException(tx, id))

export type ResolveResult =
  | {
      readonly type: 'resolved'
      readonly meetingId: MeetingId
      readonly meeting: Meeting | IncompleteMeeting
    }
  | { readonly type: 'not_found' }
  | { readonly type: 'not_open'; readonly state: 'resolved' | 'lapsed' }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

/**
 * Answers one exception: a new revision of the meeting. The last answer completes the intent and starts the work, in
 * the same transaction.
 */
export const resolveException = (
  db: Db,
  tenantId: string,
  id: ExceptionId,
  answer: unknown,
): Promise<ResolveResult> =>
  db.transact(tenantId, async (tx): Promise<ResolveResult> => {
    const found = await readException(tx, id)
    const meeting = found && (await lockAnyMeeting(tx, found.meetingId))
    if (!found || !meeting) return { type: 'not_found' }
    // Read again under the lock: another answer may have come first.
    const exception = (await readException(tx, id)) ?? found
    if (exception.state !== 'open') return { type: 'not_open', state: exception.state }
    if (isComplete(meeting)) throw new Error('a complete meeting has an open exception')
    const resolved = resolveAbsence(meeting.draft, exception.absence, answer)
    if (resolved.type === 'malformed') return resolved
    const draft = resolved.type === 'complete' ? resolved.intent : resolved.draft
    const problems = await unknownReferences(tx, IntentDraft.parse(draft))
    if (problems.length > 0) {
      return { type: 'malformed', problems: inAnswer(exception.absence, answer, problems) }
    }
    await endExceptions(tx, [id], 'resolved')
    const next =
      resolved.type === 'complete'
        ? await begin(tx, meeting, resolved.intent)
        : { ...meeting, revision: meeting.revision + 1, draft: resolved.draft }
    if (!isComplete(next)) await alignExceptions(tx, next)
    await saveMeeting(tx, next)
    return { type: 'resolved', meetingId: meeting.id, meeting: next }
  })

/**
 * What an open exception finds wrong in an answer whose shape is refused already: whatever field it lacks. Reads only. Of
 * each place it says at most what resolving would have said.
 */
export const faultsOfAnswer = (
  db: Db,
  tenantId: string,
  id: ExceptionId,
  answer: unknown,
): Promise<readonly UnknownReference[]> =>
  db.transact(tenantId, async (tx) => {
    const exception = await readException(tx, id)
    const meeting = exception?.state === 'open' ? await readAnyMeeting(tx, exception.meetingId) : undefined
    if (!exception || !meeting || isComplete(meeting)) return []
    const resolved = resolveAbsence(meeting.draft, exception.absence, answer)
    return resolved.type === 'malformed' ? resolved.problems : []
  })

/** One answer may settle what others asked, or raise a question of its own: what is open is what is still missing. */
const alignExceptions = async (tx: Tx, meeting: IncompleteMeeting): Promise<void> => {
  const open = (await readExceptionsOf(tx, meeting.id)).filter(({ state }) => state === 'open')
  const missing = absencesOf(meeting.draft)
  const settled = open.filter(({ absence }) => !missing.some((each) => sameAbsence(each, absence)))
  const fresh = missing.filter((each) => !open.some(({ absence }) => sameAbsence(each, absence)))
  await endExceptions(
    tx,
    settled.map(({ id }) => id),
    'resolved',
  )
  await openExceptions(tx, meeting, fresh)
}

const sameAbsence = (a: Absence, b: Absence): boolean =>
  a.code === b.code && a.path.length === b.path.length && a.path.every((part, at) => part === b.path[at])

const begin = async (
  tx: Tx,
  { draft: _, ...head }: IncompleteMeeting,
  intent: MeetingIntent,
): Promise<Meeting> => {
  const complete: Meeting = { ...head, intent, revision: head.revision + 1 }
  // One answer may have completed what several exceptions asked for.
  const open = (await readExceptionsOf(tx, head.id)).filter(({ state }) => state === 'open')
  await endExceptions(
    tx,
    open.map(({ id }) => id),
    'resolved',
  )
  const { meeting, actions } = await beginGathering(tx, complete)
  await enqueue(tx, actions)
  return meeting
}
