import { randomUUID } from 'node:crypto'
import { done, go, handlerOf, type ActionRequest, type Outcome, type Settled } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import { contactedOf } from '../cancellation.ts'
import { afterEvidence } from '../gathering.ts'
import { EvidenceId, type ParticipantId } from '../ids.ts'
import { knownPeople, messagesTo } from '../known.ts'
import { notice, type Change, type Meeting, type Participant } from '../meeting.ts'
import { askAgain, askedEnough, contactDueAt } from '../round.ts'
import { renderMessage } from '../outreach/message.ts'
import { openRepairNow } from '../repairing.ts'
import {
  insertContact,
  insertEvidence,
  isContactRefused,
  lockMeeting,
  readContacts,
  readEvidence,
  readMeeting,
  readParticipants,
  saveMeeting,
} from '../store.ts'
import {
  ADDRESS_REFUSED,
  contactOf,
  disclosedTo,
  linksFor,
  MAIL_NOT_CONFIGURED,
  messageIdOf,
  readerOf,
  send,
  type Post,
  type Sent,
} from './mail.ts'
import { isBeingWrittenTo } from '../under-way.ts'
import type { World } from './world.ts'

type Plan =
  | { readonly type: 'enough' }
  | { readonly type: 'message'; readonly post: Post; readonly mail: Parameters<typeof send>[2] }

type Asked = ({ readonly type: 'sent' } & Sent) | { readonly type: 'nobody_answered' }

const CONTACT_REFUSED = 'contact_refused'
const NO_REPLY = 'no_reply'
const WRITTEN_TO_MEANWHILE = 'written_to_meanwhile'
const UNDER_WAY_MS = 30_000

/** Asks one person, at most as often as the authority allows, and never one who has told or does not want to be asked. */
export const askParticipant = (world: World) =>
  handlerOf<Tx>()(schedulingActions.askParticipant, {
    prepare: async (tx, { payload, operationId }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting || !isAsking(meeting, payload.round)) return { type: 'obsolete', reason: 'round_over' }
      const participants = await readParticipants(tx, meeting.id)
      const person = participants.find(({ id }) => id === payload.participantId)
      if (person?.revision !== payload.participantRevision) {
        return { type: 'obsolete', reason: 'participant_changed' }
      }
      if (knownPeople(meeting, participants, await readEvidence(tx, meeting.id), tx.now).has(person.id)) {
        return { type: 'obsolete', reason: 'answered' }
      }
      if (await isContactRefused(tx, person.address)) return { type: 'suppressed', reason: CONTACT_REFUSED }
      const sent = await sentTo(tx, meeting, person)
      const number = sent.length + 1
      // A message of an earlier round was noted after this row was written: the next one has its own time.
      if (number !== payload.number) return { type: 'obsolete', reason: WRITTEN_TO_MEANWHILE }
      // And while one is under way it is not known when the next may follow.
      if (await isBeingWrittenTo(tx, person.id, operationId)) {
        return { type: 'retry', code: 'message_under_way', afterMs: UNDER_WAY_MS }
      }
      if (askedEnough(meeting, person, number)) return go<Plan>({ type: 'enough' })
      const { post } = world
      if (!post) return MAIL_NOT_CONFIGURED
      // After a long stand-still a message may be due in the middle of the night, or right after the last one.
      const due = contactDueAt(meeting, person, sent, tx.now)
      if (!due) return { type: 'obsolete', reason: 'no_humane_hour_left' }
      const earlyMs = due.getTime() - tx.now.getTime()
      if (earlyMs > 0) return { type: 'retry', code: 'not_at_this_hour', afterMs: earlyMs }
      const mail = mailOf(post, tx.tenantId, meeting, person, { number, operationId })
      return go<Plan>({ type: 'message', post, mail })
    },

    perform: async (plan, attempt): Promise<Outcome<Asked>> => {
      if (plan.type === 'enough') return done({ type: 'nobody_answered' })
      const sent = await send(world, plan.post, plan.mail, attempt)
      return sent.type === 'done' ? done({ type: 'sent', ...sent.facts }) : sent
    },

    settle: async (tx, { payload, operationId }, outcome) => {
      const meeting = await lockMeeting(tx, payload.meetingId)
      if (!meeting) return []
      const messageId = world.post ? messageIdOf(world.post, operationId) : operationId
      const people = await readParticipants(tx, meeting.id)
      const person = people.find(({ id }) => id === payload.participantId)
      const reached = await contactedOf(tx, meeting)
      // Whatever became of the meeting meanwhile: who was written to was written to.
      await note(tx, meeting, { ...payload, messageId }, outcome)
      if (meeting.state.type === 'cancelled') return withdraw(tx, meeting, payload.participantId, reached)
      return person && isAsking(meeting, payload.round) ? followUp(tx, meeting, person, outcome) : []
    },
  })

interface Written {
  readonly participantId: ParticipantId
  readonly number: number
  readonly round: number
  readonly messageId: string
}

/** Keeps what is known of a message's fate. */
const note = async (
  tx: Tx,
  meeting: Meeting,
  { participantId, number, round, messageId }: Written,
  outcome: Settled<Asked>,
): Promise<void> => {
  const kind = number === 1 ? 'invitation' : 'reminder'
  const keep = (fate: 'accepted' | 'maybe_sent' | 'refused', code: string, contactedAt: Date) =>
    insertContact(tx, {
      ...contactOf(meeting, { participantId, kind, messageId, outcome: fate, code, contactedAt }),
      round,
    })
  if (outcome.type === 'done' && outcome.facts.type === 'sent') {
    await keep('accepted', outcome.facts.code, outcome.facts.at)
  } else if (outcome.type === 'dead' && outcome.class === 'uncertain') {
    await keep('maybe_sent', outcome.code, tx.now)
  } else if (outcome.type === 'dead' && outcome.code === ADDRESS_REFUSED) {
    await keep('refused', outcome.code, tx.now)
  }
}

/** A meeting that was cancelled while its first message to somebody was on its way has not told them so. */
const withdraw = async (
  tx: Tx,
  meeting: Meeting,
  participantId: ParticipantId,
  told: readonly ParticipantId[],
): Promise<readonly ActionRequest[]> => {
  const isNew = !told.includes(participantId) && (await contactedOf(tx, meeting)).includes(participantId)
  return isNew ? [notice(meeting, { kind: 'withdrawn', participantId, occasionId: randomUUID() })] : []
}

/** What follows from one message: the next one in its time, or that nobody can be, or has been, reached. */
const followUp = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  outcome: Settled<Asked>,
): Promise<readonly ActionRequest[]> => {
  switch (outcome.type) {
    case 'done':
      return outcome.facts.type === 'nobody_answered'
        ? unanswered(tx, meeting, person, NO_REPLY)
        : askAgain(meeting, person, await sentTo(tx, meeting, person), tx.now)
    case 'dead':
      // A copy may have arrived; the reminder mends it if not.
      return outcome.class === 'uncertain'
        ? askAgain(meeting, person, await sentTo(tx, meeting, person), tx.now)
        : failed(tx, meeting, person, outcome)
    case 'suppressed':
      return failed(tx, meeting, person, { code: outcome.reason, owner: 'organizer' })
    case 'obsolete':
      return outcome.reason === WRITTEN_TO_MEANWHILE
        ? askAgain(meeting, person, await sentTo(tx, meeting, person), tx.now)
        : []
    case 'retrying':
    case 'throttled':
    case 'unknown':
      return []
  }
}

/** A meeting is asking in the round in which it gathers; whatever it does then, an answer that is in stops the asking. */
const isAsking = ({ state, round }: Meeting, asked: number): boolean =>
  state.type === 'gathering' && round === asked

const mailOf = (
  post: Post,
  tenantId: string,
  meeting: Meeting,
  person: Participant,
  { number, operationId }: { readonly number: number; readonly operationId: string },
): Parameters<typeof send>[2] => {
  const links = linksFor(post, tenantId, meeting, person)
  const view = { ...readerOf(meeting, person.timeZone), ...links, answerBy: new Date(meeting.intent.bookBy) }
  const disclosed = disclosedTo(meeting, person.address)
  const rendered =
    number === 1
      ? renderMessage('invitation', disclosed, view)
      : renderMessage('reminder', disclosed, { ...view, isLast: askedEnough(meeting, person, number + 1) })
  return {
    ...rendered,
    messageId: messageIdOf(post, operationId),
    to: { address: person.address, displayName: person.displayName },
    ...(post.publicUrl.startsWith('https:') && { unsubscribeUrl: links.optOutLink }),
  }
}

const sentTo = async (tx: Tx, meeting: Meeting, person: Participant): Promise<readonly Date[]> =>
  messagesTo(meeting, await readContacts(tx, meeting.id))(person)

/** That nobody answers is evidence too: of nothing. */
const unanswered = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  code: string,
): Promise<readonly ActionRequest[]> => {
  await insertEvidence(tx, meeting.id, {
    id: EvidenceId.parse(randomUUID()),
    participantId: person.id,
    round: meeting.round,
    source: 'outreach',
    type: 'unknown',
    code,
    retrievedAt: tx.now,
    expiresAt: new Date(meeting.intent.bookBy),
  })
  return saved(tx, await afterEvidence(tx, meeting))
}

/** Somebody cannot be written to. Without a required person there is no meeting; without an optional one there is. */
const failed = async (
  tx: Tx,
  meeting: Meeting,
  person: Participant,
  { code, owner }: Pick<Extract<Settled<Asked>, { type: 'dead' }>, 'code' | 'owner'>,
): Promise<readonly ActionRequest[]> => {
  if (person.role === 'optional') return unanswered(tx, meeting, person, code)
  return saved(tx, await openRepairNow(tx, meeting, { code, owner, facts: { participantIds: [person.id] } }))
}

const saved = async (tx: Tx, change: Change): Promise<readonly ActionRequest[]> => {
  await saveMeeting(tx, change.meeting)
  return change.actions
}
