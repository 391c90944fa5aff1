/**
 * When a person is written to next. This is about people: how often a mail server is tried again is another matter, and
 * neither knows of the other.
 */
import { afterQuietHours, type TimeZone } from '@aftercommit/time'
import type { Outreach } from '../intent.ts'

const HOUR_MS = 3_600_000

export interface OutreachPolicy extends Outreach {
  /** The booking deadline: at this moment and after it nobody is written to. */
  readonly stopAt: Date
}

export type NextContact =
  | { readonly type: 'at'; readonly at: Date }
  /** As many messages as the policy allows have been sent. */
  | { readonly type: 'exhausted' }
  | { readonly type: 'past_deadline' }

/**
 * The first moment from now on that is far enough from the last message and not in quiet hours.
 *
 * `sent` holds every message that reached a mail server, or may have: what may have been sent counts as sent. `zone` is
 * the person's. Where it is not known the meeting's stands in for it, here and nowhere else: an hour that is humane to
 * most is better than none, while a time they state is never read on a clock that is not theirs.
 */
export const nextContactAt = (
  policy: OutreachPolicy,
  sent: readonly Date[],
  zone: TimeZone,
  now: Date,
): NextContact => {
  if (now >= policy.stopAt) return { type: 'past_deadline' }
  if (sent.length >= policy.messagesMax) return { type: 'exhausted' }
  const spacedAtMs = sent.map((at) => at.getTime() + policy.spacingHours * HOUR_MS)
  const earliest = new Date(Math.max(now.getTime(), ...spacedAtMs))
  const at = afterQuietHours(earliest, policy.quietHours, zone)
  return at < policy.stopAt ? { type: 'at', at } : { type: 'past_deadline' }
}
