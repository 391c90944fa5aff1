import type { EventDraft, ProviderEvent } from '@aftercommit/providers/calendar'
import { sameAddress } from './intent.ts'

/** One point of the completion contract: what was approved, and whether the provider holds just that. */
export interface Check {
  readonly field: CheckedField
  readonly agrees: boolean
}
export const checkedFields = [
  'calendar',
  'identity',
  'status',
  'title',
  'start',
  'end',
  'required_attendees',
  'optional_attendees',
  'nobody_else',
  'attendee_addresses',
  'location',
  'conference',
  'visibility',
] as const
export type CheckedField = (typeof checkedFields)[number]

export type Verdict =
  | { readonly type: 'complete'; readonly checks: readonly Check[] }
  /** A conference that is still being made is neither complete nor wrong. */
  | { readonly type: 'pending'; readonly field: CheckedField }
  | { readonly type: 'mismatch'; readonly checks: readonly Check[]; readonly fields: readonly CheckedField[] }

/**
 * Holds a read-back event against the approved draft, in every point, and refuses more as well as less: an extra
 * attendee or a wider visibility was approved by nobody.
 *
 * Exchange has been seen to give an attendee back under a legacy name ("/o=ExchangeLabs/…", microsoft-graph-docs#13898).
 * Who that is cannot be told, so it agrees with nobody: the person it may stand for is missing, somebody is there whom
 * nobody approved, and `attendee_addresses` says why.
 */
export const verify = (draft: EventDraft, event: ProviderEvent): Verdict => {
  if (draft.conference && event.conference === 'pending') return { type: 'pending', field: 'conference' }
  const agreement = agreementOf(draft, event)
  const checks = checkedFields.map((field) => ({ field, agrees: agreement[field] }))
  const fields = checks.filter(({ agrees }) => !agrees).map(({ field }) => field)
  return fields.length === 0 ? { type: 'complete', checks } : { type: 'mismatch', checks, fields }
}

const agreementOf = (draft: EventDraft, event: ProviderEvent): Record<CheckedField, boolean> => {
  // The organizer may stand in the list of attendees: the calendar's owner was approved with the calendar.
  const guests = event.attendees.filter(
    ({ address, organizer }) => !(organizer && sameAddress(address, draft.calendarAddress)),
  )
  const holds = (role: 'required' | 'optional'): boolean =>
    draft.attendees
      .filter((attendee) => attendee.role === role)
      .every((attendee) =>
        guests.some((guest) => guest.role === role && sameAddress(guest.address, attendee.address)),
      )
  return {
    calendar: sameAddress(event.calendarAddress, draft.calendarAddress),
    identity: event.operationId === draft.operationId,
    status: event.status === 'confirmed',
    title: event.title === draft.title,
    start: event.start?.getTime() === draft.start.getTime(),
    end: event.end?.getTime() === draft.end.getTime(),
    required_attendees: holds('required'),
    optional_attendees: holds('optional'),
    nobody_else: guests.every((guest) =>
      draft.attendees.some((attendee) => sameAddress(attendee.address, guest.address)),
    ),
    attendee_addresses: guests.every(({ address }) => isComparable(address)),
    location: (event.location ?? '') === (draft.location ?? ''),
    conference: draft.conference ? event.conference === 'ready' : event.conference === 'none',
    visibility: event.visibility === 'default',
  }
}

/** Whether an address names a mailbox, and not an entry of somebody's directory or nothing at all. */
const isComparable = (address: string): boolean => /^[^\s@/][^\s@]*@[^\s@]+$/.test(address)
