/** What became of one booking, by the provider's ledger and by what the application says of it. */
import type { Customer, Gap, WayName } from './gaps.ts'

export interface Case {
  readonly way: WayName
  readonly gap: Gap
  readonly customer: Customer
}

export interface Seen extends Case {
  /** Whether the customer was ever told that the booking is taken. */
  readonly answered: boolean
  /** What the application says, at the end; undefined when it knows of no such booking. */
  readonly booking:
    { readonly state: 'pending' | 'confirmed' | 'failed'; readonly eventId: string | null } | undefined
  /** Ids of the events that the provider was made to create. */
  readonly events: readonly string[]
}

/**
 * - `right`: one booking and one event, which the application can name; or neither, and nobody was told otherwise
 * - `lost`: a booking without its event
 * - `doubled`: more events than one
 * - `unrecorded`: one event, which the application cannot name, and so can neither move nor cancel
 */
export type Verdict = 'right' | 'lost' | 'doubled' | 'unrecorded'

export interface Judged extends Seen {
  readonly verdict: Verdict
  /** Something is wrong, and the application says that all is well. */
  readonly hidden: boolean
}

export const judge = (seen: Seen): Judged => {
  const verdict = verdictOf(seen)
  return { ...seen, verdict, hidden: verdict !== 'right' && seen.booking?.state === 'confirmed' }
}

const verdictOf = ({ answered, booking, events }: Seen): Verdict => {
  const [event, ...more] = events
  if (more.length > 0) return 'doubled'
  if (event !== undefined) return booking?.eventId === event ? 'right' : 'unrecorded'
  return booking || answered ? 'lost' : 'right'
}

export interface Totals {
  readonly runs: number
  readonly right: number
  readonly lost: number
  readonly doubled: number
  readonly unrecorded: number
  /** How many of the three are said to be well, and how many the application does not call confirmed. */
  readonly hidden: number
  readonly known: number
}

export const totalsOf = (judged: readonly Judged[]): Totals => {
  const count = (which: (each: Judged) => boolean): number => judged.filter(which).length
  return {
    runs: judged.length,
    right: count(({ verdict }) => verdict === 'right'),
    lost: count(({ verdict }) => verdict === 'lost'),
    doubled: count(({ verdict }) => verdict === 'doubled'),
    unrecorded: count(({ verdict }) => verdict === 'unrecorded'),
    hidden: count(({ hidden }) => hidden),
    known: count(({ verdict, hidden }) => verdict !== 'right' && !hidden),
  }
}
