/** The one module through which local times become instants, and instants become local text. */
export {
  addDays,
  dateIn,
  dayOfWeek,
  eachDate,
  isCalendarDate,
  nextOffsetChange,
  offsetMinutes,
  startOfDay,
} from './dates.ts'
export { formatInstant } from './format.ts'
export { clip, covers, intersect, intervalsOf, normalise, subtract } from './intervals.ts'
export type { Interval } from './intervals.ts'
export { localToInstant, resolveLocal } from './local.ts'
export type {
  DecidedPolicy,
  LocalGap,
  LocalInstant,
  LocalMalformed,
  LocalOverlap,
  LocalPolicy,
  LocalTime,
} from './local.ts'
export { offsetStretches } from './offsets.ts'
export type { OffsetStretch } from './offsets.ts'
export { afterQuietHours } from './quiet.ts'
export type { QuietHours } from './quiet.ts'
export {
  clipSpans,
  intersectSpans,
  noTime,
  padSpans,
  spanOf,
  spansOf,
  subtractSpans,
  unionSpans,
} from './spans.ts'
export type { Spans } from './spans.ts'
export { workingWindows } from './working.ts'
export type { MalformedHoursReason, WorkingHours, WorkingWindows } from './working.ts'
export { isTimeZone, parseTimeZone } from './zone.ts'
export type { MalformedZoneReason, TimeZone, ZoneText } from './zone.ts'
export { listedZones, UTC, zoneOfOffset } from './zones.ts'
