/** Whether the approved time is still everybody's, read once more just before the event is written. */
import type { Attempt } from '@aftercommit/outbox'
import type { Interval } from '@aftercommit/time'
import type { ParticipantId } from '../ids.ts'
import type { Participant } from '../meeting.ts'
import { withBuffers } from '../search.ts'
import {
  callContext,
  deadOutOfReach,
  outcomeOfFailedRead,
  passes,
  type CalendarAccess,
  type Failed,
  type World,
} from './world.ts'

export interface RequiredPerson {
  readonly participantId: ParticipantId
  readonly access: CalendarAccess
  /** What this person keeps free around a meeting. */
  readonly buffers: Pick<Participant, 'bufferBeforeMinutes' | 'bufferAfterMinutes'>
}

export type SlotAnswer =
  | { readonly type: 'free' }
  | { readonly type: 'taken'; readonly participantIds: readonly ParticipantId[] }
  /** One person's time could not be read; whose, and what that means for the attempt. */
  | { readonly type: 'failed'; readonly participantId: ParticipantId; readonly outcome: Failed }

/** Reads the slot in every required person's calendar. What is not known about one of them is never read as free. */
export const readSlot = async (
  world: World,
  required: readonly RequiredPerson[],
  slot: Interval,
  attempt: Attempt,
): Promise<SlotAnswer> => {
  const answers = await Promise.all(
    required.map(async ({ participantId, access, buffers }) => ({
      participantId,
      read: await readOne(world, access, withBuffers(slot, [buffers]), attempt),
    })),
  )
  const taken: ParticipantId[] = []
  for (const { participantId, read } of answers) {
    if (read.type === 'failed') return { ...read, participantId }
    if (read.type === 'taken') taken.push(participantId)
  }
  return taken.length > 0 ? { type: 'taken', participantIds: taken } : { type: 'free' }
}

type OneRead = { readonly type: 'free' | 'taken' } | { readonly type: 'failed'; readonly outcome: Failed }

const readOne = async (
  world: World,
  access: CalendarAccess,
  slot: Interval,
  attempt: Attempt,
): Promise<OneRead> => {
  if (access.type === 'out_of_reach') return { type: 'failed', outcome: deadOutOfReach(access) }
  const { calendar, address, account } = access
  const query = { addresses: [address], window: slot }
  const answer = await calendar.readFreeBusy(query, callContext(world, attempt))
  if (answer.type !== 'read') {
    const outcome = outcomeOfFailedRead(answer)
    // It is this person's account that asks for rest, and not the one that the event is written with.
    return { type: 'failed', outcome: outcome.type === 'throttled' ? { ...outcome, account } : outcome }
  }
  const busy = answer.busyByAddress.get(address)
  if (busy?.type === 'known') {
    const taken = busy.busy.some(({ start, end }) => start < slot.end && end > slot.start)
    return { type: taken ? 'taken' : 'free' }
  }
  const code = 'availability_unknown'
  const outcome: Failed =
    busy === undefined || passes(busy)
      ? { type: 'retry', code }
      : { type: 'dead', class: 'permission', code, owner: 'calendar_owner' }
  return { type: 'failed', outcome }
}
