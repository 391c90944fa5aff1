/** Mail that comes in: an answer to one of our messages, a machine's, or none of ours. Nothing here acts on words. */
import { randomUUID } from 'node:crypto'
import { enqueue } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import { noticeKinds } from './actions.ts'
import { afterEvidence } from './gathering.ts'
import { EvidenceId, ReplyDraftId, type MeetingId } from './ids.ts'
import { sameAddress, windowOf } from './intent.ts'
import { knownPeople } from './known.ts'
import { notice, type Change, type Meeting, type Participant } from './meeting.ts'
import { isBeingAsked } from './round.ts'
import { understand, type Unclear } from './outreach/understand.ts'
import { isAboutGathering } from './replies.ts'
import { openRepairNow } from './repairing.ts'
import {
  findContact,
  insertEvidence,
  insertReplyDraft,
  lockMeeting,
  readContacts,
  readEvidence,
  readParticipants,
  saveContactOutcome,
  saveMeeting,
  type Contact,
} from './store.ts'
import { findUnderWay, noteUnderWay, type UnderWay } from './under-way.ts'

/** A message as it was parsed. Its words are read here and not kept. */
export interface ReceivedMail {
  readonly messageId: string | undefined
  /** The messages that it says it answers. */
  readonly answers: readonly string[]
  readonly from: string | undefined
  readonly content:
    | { readonly type: 'reply'; readonly text: string }
    | { readonly type: 'auto_reply' | 'other' }
    | { readonly type: 'bounce'; readonly permanent: boolean; readonly code: string }
}

export const ignoredReasons = [
  /** It answers no message of ours. */
  'unknown_message',
  /** A machine answered, or nothing that could be an answer. */
  'no_answer',
  /** It is not from whom the message was for. */
  'other_sender',
  /** The meeting does not wait for this person any more. */
  'not_waited_for',
  'read_before',
  /** The person has been asked back too often already: two machines may be talking. */
  'too_often',
] as const
export type IgnoredReason = (typeof ignoredReasons)[number]

export type ReceiveResult =
  /** Understood or not, the person is asked by mail to confirm or to say it again. */
  | { readonly type: 'read'; readonly meetingId: MeetingId; readonly isClear: boolean }
  | { readonly type: 'bounced'; readonly meetingId: MeetingId }
  | { readonly type: 'ignored'; readonly reason: IgnoredReason }

/** Takes in one message. Delivered twice, it is read once, if it has an id. */
export const receiveMail = (db: Db, tenantId: string, mail: ReceivedMail): Promise<ReceiveResult> =>
  db.transact(tenantId, async (tx): Promise<ReceiveResult> => {
    const found = await answeredMessage(tx, mail.answers)
    if (!found) return ignored('unknown_message')
    const meeting = await lockMeeting(tx, found.meetingId)
    if (!meeting) return ignored('not_waited_for')
    const contact = 'id' in found ? found : await noteUnderWay(tx, meeting, found)
    const person = (await readParticipants(tx, meeting.id)).find(({ id }) => id === contact.participantId)
    if (!person) return ignored('not_waited_for')
    switch (mail.content.type) {
      case 'auto_reply':
      case 'other':
        return ignored('no_answer')
      case 'bounce':
        return mail.content.permanent
          ? bounced(tx, meeting, person, contact, mail.content.code)
          : ignored('no_answer')
      case 'reply':
        if (mail.from === undefined || !sameAddress(mail.from, person.address)) return ignored('other_sender')
        return reply(tx, meeting, person, {
          text: mail.content.text,
          messageId: mail.messageId ?? `<${randomUUID()}@no-message-id.invalid>`,
        })
    }
  })

/** The message of ours that a mail answers, whether it is noted as sent or not yet. */
const answeredMessage = async (
  tx: Tx,
  answers: readonly string[],
): Promise<Contact | UnderWay | undefined> => {
  if (answers.length === 0) return undefined
  // Looked for again at the end, because it may have been noted between the two looks.
  return (
    (await findContact(tx, answers)) ?? (await findUnderWay(tx, answers)) ?? (await findContact(tx, answers))
  )
}

const ignored = (reason: IgnoredReason): ReceiveResult => ({ type: 'ignored', reason })

/** Questions back to one person and round, at most. */
const NOTICES_MAX = 6

const reply = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  { text, messageId }: { readonly text: string; readonly messageId: string },
): Promise<ReceiveResult> => {
  const { type } = meeting.state
  const isOpen =
    type === 'gathering' || type === 'choosing' || type === 'awaiting_approval' || type === 'no_overlap'
  if (!isOpen && !isAboutGathering(meeting)) {
    return ignored('not_waited_for')
  }
  const asked = (await readContacts(tx, meeting.id)).filter(
    ({ participantId, kind, round }) =>
      participantId === person.id && round === meeting.round && noticeKinds.some((each) => each === kind),
  )
  if (asked.length >= NOTICES_MAX) return ignored('too_often')
  const { intent } = meeting
  const understood = understand(text, {
    window: windowOf(intent),
    durationMinutes: intent.durationMinutes,
    zone: person.timeZone,
    meetingZone: intent.timeZone,
    receivedAt: tx.now,
  })
  const unclear: readonly Unclear[] =
    understood.windows.length === 0 && understood.unclear.length === 0
      ? ['nothing_understood']
      : understood.unclear
  const id = ReplyDraftId.parse(randomUUID())
  const { windows, zone } = understood
  const draft = {
    id,
    meetingId: meeting.id,
    participantId: person.id,
    messageId,
    windows,
    zone,
    unclear,
    receivedAt: tx.now,
  }
  if (!(await insertReplyDraft(tx, draft))) return ignored('read_before')
  const kind = unclear.length === 0 ? 'confirm_reading' : 'clarification'
  await enqueue(tx, [notice(meeting, { kind, participantId: person.id, occasionId: id })])
  return { type: 'read', meetingId: meeting.id, isClear: unclear.length === 0 }
}

/** The message never arrived. Whoever is waited for cannot be reached, and that has to be somebody's. */
const bounced = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  contact: Contact,
  code: string,
): Promise<ReceiveResult> => {
  await saveContactOutcome(tx, contact.id, 'bounced', code)
  const waited =
    meeting.state.type === 'gathering' &&
    isBeingAsked(meeting, person) &&
    contact.round >= (person.askedRound ?? 0)
  // Who has answered was reached in some other way: what they said stands.
  if (waited && !(await hasTold(tx, meeting, person))) {
    const change = await unreachable(tx, meeting, person)
    await saveMeeting(tx, change.meeting)
    await enqueue(tx, change.actions)
  }
  return { type: 'bounced', meetingId: meeting.id }
}

const hasTold = async (tx: Tx, meeting: Meeting, { id }: Participant): Promise<boolean> => {
  const participants = await readParticipants(tx, meeting.id)
  return knownPeople(meeting, participants, await readEvidence(tx, meeting.id), tx.now).has(id)
}

const unreachable = async (tx: Tx, meeting: Meeting, person: Participant): Promise<Change> => {
  if (person.role === 'required') {
    return openRepairNow(tx, meeting, {
      code: 'address_refused',
      owner: 'organizer',
      facts: { participantIds: [person.id] },
    })
  }
  await insertEvidence(tx, meeting.id, {
    id: EvidenceId.parse(randomUUID()),
    participantId: person.id,
    round: meeting.round,
    source: 'outreach',
    type: 'unknown',
    code: 'address_refused',
    retrievedAt: tx.now,
    expiresAt: windowOf(meeting.intent).end,
  })
  return afterEvidence(tx, meeting)
}
