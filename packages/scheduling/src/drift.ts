/** What people did to a booked event at its provider. Pure. */
import type { EventDraft, ProviderEvent } from '@aftercommit/providers/calendar'
import { verify, type CheckedField } from './completion.ts'
import { sameAddress } from './intent.ts'
import type { Participant } from './meeting.ts'
import type { ParticipantId } from './ids.ts'

export type Drift =
  | { readonly type: 'none' }
  | { readonly type: 'gone' }
  | { readonly type: 'moved'; readonly start: Date; readonly end: Date }
  /** Required people who said no after the booking. */
  | { readonly type: 'declined'; readonly participantIds: readonly ParticipantId[] }
  | { readonly type: 'changed'; readonly fields: readonly CheckedField[] }

/** Of several things the gravest is named: a meeting that is gone has no time, and a moved one asks everybody anew. */
export const driftOf = (
  draft: EventDraft,
  event: ProviderEvent | undefined,
  participants: readonly Participant[],
): Drift => {
  if (!event || event.status === 'cancelled') return { type: 'gone' }
  const { start, end } = event
  const isMoved = start?.getTime() !== draft.start.getTime() || end?.getTime() !== draft.end.getTime()
  if (isMoved && start && end) return { type: 'moved', start, end }
  const declined = new Set(
    event.attendees.filter(({ response }) => response === 'declined').map(({ address }) => address),
  )
  const participantIds = participants
    .filter(({ role, address }) => role === 'required' && hasAny(declined, address))
    .map(({ id }) => id)
  if (participantIds.length > 0) return { type: 'declined', participantIds }
  const verdict = verify(draft, event)
  return verdict.type === 'mismatch' ? { type: 'changed', fields: verdict.fields } : { type: 'none' }
}

const hasAny = (addresses: ReadonlySet<string>, address: string): boolean =>
  [...addresses].some((other) => sameAddress(other, address))
