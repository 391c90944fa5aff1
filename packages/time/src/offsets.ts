/** How far a zone's clock is ahead of UTC over a stretch of time: pieces within which local times are plain arithmetic. */
import { nextOffsetChange, offsetMinutes } from './dates.ts'
import type { Interval } from './intervals.ts'
import type { TimeZone } from './zone.ts'

export interface OffsetStretch extends Interval {
  /** What the clock shows is the instant and this. */
  readonly offsetMs: number
}

const minuteMs = 60_000

/** The stretches between clock changes, in order and without a hole, from one instant to another. */
export const offsetStretches = (zone: TimeZone, { start, end }: Interval): readonly OffsetStretch[] => {
  const stretches: OffsetStretch[] = []
  let from = start
  while (from < end) {
    const change = nextOffsetChange(zone, from)
    const to = change !== undefined && change < end ? change : end
    stretches.push({ start: from, end: to, offsetMs: offsetMinutes(from, zone) * minuteMs })
    from = to
  }
  return stretches
}
