/** What people answer who were asked in words: on their page, or by mail. */
import { randomUUID } from 'node:crypto'
import { enqueue } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { LinkClaims } from '@aftercommit/platform/links'
import { parseTimeZone } from '@aftercommit/time'
import { evidenceExpiresAt, type Evidence } from './evidence.ts'
import { afterEvidence, gatherNow } from './gathering.ts'
import { EvidenceId, MeetingId, ParticipantId } from './ids.ts'
import { durationMs, windowOf } from './intent.ts'
import { currentEvidence, knownPeople } from './known.ts'
import type { Change, Meeting, Participant } from './meeting.ts'
import { isBeingAsked, nextRound } from './round.ts'
import { disclose, factsFor } from './outreach/disclosure.ts'
import type { RecordReplyResult, ReplyForm, ReplyRefusal } from './outreach/form.ts'
import { normaliseReply, type PersonAnswer } from './outreach/reply.ts'
import { isUnclear } from './outreach/understand.ts'
import { peopleOf } from './repair.ts'
import { openRepairNow } from './repairing.ts'
import {
  insertDecision,
  insertEvidence,
  lockMeeting,
  endRepairs,
  readAddressOf,
  readEvidence,
  readMeeting,
  readParticipants,
  readProposal,
  readRepair,
  readReplyDraft,
  refuseContact,
  saveMeeting,
  type ReplyDraft,
} from './store.ts'

/** What is shown to the person behind a link. Changes nothing. */
export const readReplyForm = (db: Db, claims: LinkClaims): Promise<ReplyForm | ReplyRefusal> =>
  db.transact(claims.tenantId, async (tx) => {
    const meeting = await readMeeting(tx, MeetingId.parse(claims.meetingId))
    const found = await whoAnswers(tx, meeting, claims)
    if (found.type !== 'found') return found
    const { person } = found
    const evidence = await readEvidence(tx, found.meeting.id)
    const piece = currentEvidence(found.meeting, evidence, tx.now).get(person.id)
    return {
      type: 'open',
      disclosed: disclose(found.meeting.intent.disclosure, factsFor(found.meeting.intent, person.address)),
      answerBy: new Date(found.meeting.intent.bookBy),
      zone: person.timeZone ?? zoneOf(piece),
      meetingZone: found.meeting.intent.timeZone,
      standing: standingOf(piece),
      draft: shownDraft(await readReplyDraft(tx, person.id), piece),
    }
  })

const zoneOf = (piece: Evidence | undefined) => {
  const zone = piece?.type === 'stated' ? parseTimeZone(piece.zone) : undefined
  return zone?.type === 'zone' ? zone.zone : undefined
}

const standingOf = (piece: Evidence | undefined): ReplyForm['standing'] => {
  const zone = zoneOf(piece)
  if (piece?.type === 'stated' && zone) return { type: 'times', zone, free: piece.free }
  return piece?.type === 'unknown' && piece.code === DECLINED ? { type: 'not_taking_part' } : undefined
}

/** A draft is done with once the person has said how it is. */
const shownDraft = (draft: ReplyDraft | undefined, piece: Evidence | undefined): ReplyForm['draft'] => {
  const isDone = piece?.source === 'reply_page' && draft && piece.retrievedAt >= draft.receivedAt
  if (!draft || isDone) return undefined
  return {
    id: draft.id,
    windows: draft.windows,
    zone: draft.zone,
    unclear: draft.unclear.filter(isUnclear),
  }
}

type Answering =
  { readonly type: 'found'; readonly meeting: Meeting; readonly person: Participant } | ReplyRefusal

/** Whether this link's person is still waited for, in the revisions that the link is for. */
const whoAnswers = async (tx: Tx, meeting: Meeting | undefined, claims: LinkClaims): Promise<Answering> => {
  if (!meeting) return { type: 'not_found' }
  const person = (await readParticipants(tx, meeting.id)).find(({ id }) => id === claims.participantId)
  const { type } = meeting.state
  if (type === 'cancelling' || type === 'cancelled') return { type: 'cancelled' }
  if (type === 'lapsed') return { type: 'lapsed' }
  if (!person) return { type: 'not_needed' }
  // A new window gives everybody a new revision; what is changed about others leaves this person's link as it is.
  if (person.revision !== claims.participantRevision) return { type: 'outdated' }
  const isOpen = answerable.has(type) || isAboutGathering(meeting)
  return isOpen ? { type: 'found', meeting, person } : { type: 'closed' }
}

/** Until a time is approved. */
const answerable: ReadonlySet<Meeting['state']['type']> = new Set<Meeting['state']['type']>([
  'gathering',
  'choosing',
  'awaiting_approval',
  'no_overlap',
])

/** A repair on the way to a proposal: what people say meanwhile counts when the meeting goes on, or makes it go on. */
export const isAboutGathering = ({ state }: Meeting): boolean =>
  state.type === 'in_repair' && state.proposalId === undefined

const DECLINED = 'declined'

/** Checks an answer against the meeting as it is now, and commits it together with what follows from it. */
export const recordReply = (db: Db, claims: LinkClaims, answer: PersonAnswer): Promise<RecordReplyResult> =>
  db.transact(claims.tenantId, async (tx): Promise<RecordReplyResult> => {
    const meeting = await lockMeeting(tx, MeetingId.parse(claims.meetingId))
    if (answer.type === 'contact_refused') return refuse(tx, meeting, claims)
    const found = await whoAnswers(tx, meeting, claims)
    if (found.type !== 'found') return found
    if (answer.type === 'not_taking_part') {
      await commit(tx, await declined(tx, found.meeting, found.person))
      return { type: 'not_taking_part' }
    }
    const { intent } = found.meeting
    const stated = normaliseReply(answer, windowOf(intent), durationMs(intent), answer.zone)
    if (stated.type === 'unclear') return stated
    await insertEvidence(tx, found.meeting.id, {
      ...ownWord(tx, found.meeting, found.person),
      type: 'stated',
      free: stated.free,
      zone: stated.zone,
    })
    await commit(tx, await afterStatement(tx, found.meeting, found.person, stated.free))
    return stated
  })

const ownWord = (tx: Tx, meeting: Meeting, person: Participant) => ({
  id: EvidenceId.parse(randomUUID()),
  participantId: person.id,
  round: meeting.round,
  source: 'reply_page' as const,
  retrievedAt: tx.now,
  expiresAt: evidenceExpiresAt('reply_page', tx.now),
})

const commit = async (tx: Tx, change: Change): Promise<void> => {
  await saveMeeting(tx, change.meeting)
  await enqueue(tx, change.actions)
}

/** What somebody says while a time is proposed counts at once: a proposal they cannot make is looked for again. */
const afterStatement = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  free: readonly { readonly start: Date; readonly end: Date }[],
): Promise<Change> => {
  const { state } = meeting
  if (state.type === 'gathering') return afterEvidence(tx, meeting)
  if (state.type === 'awaiting_approval') {
    const proposal = await readProposal(tx, meeting.id, state.proposalId)
    const fits = free.some(({ start, end }) => proposal && start <= proposal.start && end >= proposal.end)
    if (fits) return { meeting, actions: [] }
  }
  if (state.type === 'in_repair') {
    const repair = await readRepair(tx, state.repairId)
    // Others are in the way still, or it is about something else: the answer is kept for when that is mended.
    if (!repair || peopleOf(repair).some((id) => id !== person.id)) return { meeting, actions: [] }
    await endRepairs(tx, meeting.id)
  }
  // A search under way knows nothing of this yet, and one that failed may succeed now.
  return lookAgain(tx, meeting, person, 'answered')
}

/** What one person said makes everybody's time be gathered anew. */
const lookAgain = async (
  tx: Tx,
  meeting: Meeting,
  { id }: Participant,
  because: 'answered' | 'declined',
): Promise<Change> => {
  const change = await gatherNow(tx, nextRound(meeting))
  const participantIds = [id]
  await insertDecision(tx, change.meeting, {
    type: 'looked_again',
    by: 'participant',
    because,
    participantIds,
  })
  return change
}

const declined = async (tx: Tx, meeting: Meeting, person: Participant): Promise<Change> => {
  await insertEvidence(tx, meeting.id, {
    ...ownWord(tx, meeting, person),
    type: 'unknown',
    code: DECLINED,
  })
  // A repair that is open already is about this too, or will be found to be when it is mended.
  if (meeting.state.type === 'in_repair') return { meeting, actions: [] }
  if (person.role === 'optional') {
    return meeting.state.type === 'gathering'
      ? afterEvidence(tx, meeting)
      : lookAgain(tx, meeting, person, 'declined')
  }
  return openRepairNow(tx, meeting, {
    code: 'participant_declined',
    owner: 'organizer',
    facts: { participantIds: [person.id] },
  })
}

/** A wish with no deadline and no revision. Whoever is waited for and refuses is a repair, as one who declines is. */
const refuse = async (
  tx: Tx,
  meeting: Meeting | undefined,
  claims: LinkClaims,
): Promise<RecordReplyResult> => {
  const id = ParticipantId.parse(claims.participantId)
  const address = await readAddressOf(tx, id)
  if (!meeting || address === undefined) return { type: 'not_found' }
  await refuseContact(tx, address)
  await insertDecision(tx, meeting, { type: 'contact_refused', by: 'participant', participantIds: [id] })
  const participants = await readParticipants(tx, meeting.id)
  const person = participants.find((each) => each.id === id)
  const known = knownPeople(meeting, participants, await readEvidence(tx, meeting.id), tx.now)
  // An answer that was given stands; only who is still waited for will not be heard.
  const waited =
    person && meeting.state.type === 'gathering' && isBeingAsked(meeting, person) && !known.has(id)
  if (waited) await commit(tx, await declined(tx, meeting, person))
  return { type: 'contact_refused' }
}
