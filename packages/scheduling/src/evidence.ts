import type { Interval } from '@aftercommit/time'
import type { EvidenceId, ParticipantId } from './ids.ts'

/** What was learned of one person's time in one round, and how long it may be relied on. */
export type Evidence = {
  readonly id: EvidenceId
  readonly participantId: ParticipantId
  readonly round: number
  readonly source: 'google' | 'microsoft'
  readonly retrievedAt: Date
  readonly expiresAt: Date
} & (
  | { readonly type: 'known'; readonly busy: readonly Interval[] }
  /** The calendar did not tell. Never read as free. */
  | { readonly type: 'unknown'; readonly code: string }
)

/** How long a connected calendar's answer is fresh. What is older counts as unknown. */
export const CONNECTED_FRESH_MS = 15 * 60_000
