/**
 * Messages that went out before anybody noted so: whoever sent one died, or is slow. That somebody answers it, or that it
 * comes back, is the proof that it was sent.
 */
import { randomUUID } from 'node:crypto'
import { readStarted, type StartedRow } from '@aftercommit/outbox/operate'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { ContactId, type ParticipantId } from './ids.ts'
import type { Meeting } from './meeting.ts'
import { findContact, insertContact, type Contact } from './store.ts'

const { askParticipant, sendNotice } = schedulingActions

/** What is known of such a message without its meeting. */
export type UnderWay = Pick<Contact, 'meetingId' | 'participantId' | 'kind' | 'messageId'> & {
  /** Undefined: the one that the meeting is in. */
  readonly round: number | undefined
}

/** The message with one of these ids that is under way, if one is. */
export const findUnderWay = async (tx: Tx, messageIds: readonly string[]): Promise<UnderWay | undefined> => {
  const idByOperation = new Map(
    messageIds.flatMap((messageId): [string, string][] => {
      const operationId = /^<([0-9a-f-]{36})@/.exec(messageId)?.[1]
      return operationId === undefined ? [] : [[operationId, messageId]]
    }),
  )
  if (idByOperation.size === 0) return undefined
  for (const row of await readStarted(tx.sql, tx.tenantId, [askParticipant.name, sendNotice.name])) {
    const messageId = idByOperation.get(row.operationId)
    const message = messageId === undefined ? undefined : messageOf(row, messageId)
    if (message) return message
  }
  return undefined
}

/** Whether another message that asks this person is under way. */
export const isBeingWrittenTo = async (
  tx: Tx,
  participantId: ParticipantId,
  operationId: string,
): Promise<boolean> =>
  (await readStarted(tx.sql, tx.tenantId, [askParticipant.name])).some(
    (row) =>
      row.operationId !== operationId &&
      askParticipant.payload.safeParse(row.payload).data?.participantId === participantId,
  )

const messageOf = ({ action, payload }: StartedRow, messageId: string): UnderWay | undefined => {
  if (action === sendNotice.name) {
    const { data } = sendNotice.payload.safeParse(payload)
    return data && { messageId, round: undefined, participantId: undefined, ...data }
  }
  const { data } = askParticipant.payload.safeParse(payload)
  return data && { ...data, messageId, kind: data.number === 1 ? 'invitation' : 'reminder' }
}

/** Notes it, under its meeting's lock. Whoever sent it finds the note there and leaves it. */
export const noteUnderWay = async (tx: Tx, meeting: Meeting, message: UnderWay): Promise<Contact> => {
  const { meetingId, participantId, kind, messageId, round = meeting.round } = message
  const sent = { meetingId, participantId, kind, messageId, round }
  const id = ContactId.parse(randomUUID())
  await insertContact(tx, { ...sent, id, outcome: 'accepted', code: undefined, contactedAt: tx.now })
  const noted = await findContact(tx, [messageId])
  if (!noted) throw new Error('a message was noted, and its note is not there')
  return noted
}
