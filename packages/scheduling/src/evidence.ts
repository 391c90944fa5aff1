import type { Interval } from '@aftercommit/time'
import type { EvidenceId, ParticipantId } from './ids.ts'

/** `outreach` stands for mail that nobody answered. */
export const evidenceSources = ['google', 'microsoft', 'reply_page', 'mail', 'outreach'] as const
export type EvidenceSource = (typeof evidenceSources)[number]

/** What was learned of one person's time in one round, and how long it may be relied on. */
export type Evidence = {
  readonly id: EvidenceId
  readonly participantId: ParticipantId
  readonly round: number
  readonly source: EvidenceSource
  readonly retrievedAt: Date
  readonly expiresAt: Date
} & (
  | { readonly type: 'known'; readonly busy: readonly Interval[] }
  /** A person said when they can, by the clock of this zone. At any other time they cannot. */
  | { readonly type: 'stated'; readonly free: readonly Interval[]; readonly zone: string }
  /** The calendar did not tell. Never read as free. */
  | { readonly type: 'unknown'; readonly code: string }
)

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** How long a connected calendar's answer is fresh. What is older counts as unknown. */
export const CONNECTED_FRESH_MS = 15 * MINUTE_MS

/**
 * How long what was learned may be relied on. A calendar can be read again at any time; a person is asked again only
 * when their word has become old, and silence is not asked about before that either.
 */
export const freshMsBySource: Readonly<Record<EvidenceSource, number>> = {
  google: CONNECTED_FRESH_MS,
  microsoft: CONNECTED_FRESH_MS,
  reply_page: 14 * DAY_MS,
  mail: 14 * DAY_MS,
  outreach: 14 * DAY_MS,
}

/** When what was learned at that time expires. */
export const evidenceExpiresAt = (source: EvidenceSource, learnedAt: Date): Date =>
  new Date(learnedAt.getTime() + freshMsBySource[source])
