/**
 * What is decided about a meeting besides its approvals, repairs and exceptions, which are records of their own: a
 * person's word, and what the meeting's own rules made of it. Kept for whoever asks later why. Pure.
 */
import type { ParticipantId } from './ids.ts'

export const decisionTypes = [
  'rescheduled',
  'cancelled',
  /** The deadline came before an approval. */
  'lapsed',
  /** The same of a change: the booking stays as it was. */
  'change_lapsed',
  /** A change was given up by a person's word, with the same end. */
  'change_withdrawn',
  /** Everybody's time is gathered anew; `because` says why. */
  'looked_again',
  /** Somebody's calendar was named, or another one in its place. */
  'calendar_connected',
  /** Access to a calendar was given back. */
  'calendar_reconnected',
  /** Somebody does not want to be written to. */
  'contact_refused',
] as const
export type DecisionType = (typeof decisionTypes)[number]

/** By what right. `rule`: nobody's word, but what the meeting itself says. */
export const deciders = [
  'organizer',
  'named_approver',
  'requester',
  'participant',
  'calendar_owner',
  'rule',
] as const
export type Decider = (typeof deciders)[number]

/** Why a time is looked for once more. */
export const lookAgainReasons = [
  'slot_held',
  'evidence_expired',
  'slot_passed',
  'slot_taken',
  'search_outdated',
  'answered',
  'declined',
  'cleared',
] as const
export type LookAgainReason = (typeof lookAgainReasons)[number]

interface Decided<Type extends DecisionType> {
  readonly type: Type
  readonly by: Decider
  /** Whom it is about. */
  readonly participantIds?: readonly ParticipantId[]
}

export type Decision =
  | Decided<Exclude<DecisionType, 'looked_again'>>
  | (Decided<'looked_again'> & { readonly because: LookAgainReason })
