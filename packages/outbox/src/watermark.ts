import { comparePlaces, type Place } from './sql.ts'

/** How far behind its claims a lane is looked at. Whoever commits later than that is found by a full look. */
const SLACK_MS = 2_000
/** How often at most a place is remembered; and so by how much the slack may be exceeded. */
const STEP_MS = 100
/** Longest time between two full looks while claims are made. */
const FULL_LOOK_MS = 1_000
/** An empty answer asks for a full look, but in a quiet lane not for one after the other. */
const FULL_LOOK_AGAIN_MS = 200

/**
 * From which place on one lane is looked at. Rows are claimed in the order of their places, so before those just claimed
 * there is little but index entries of rows that are gone; while an old snapshot is open nobody may clear them away, and
 * a claim that reads them all reads more of them every time. A hint only: without it the same rows are found, later.
 */
export interface Watermark {
  /** Where to begin; undefined for a full look. */
  from(): Place | undefined
  /** Whether an empty answer from there on deserves a full look at once. */
  readonly looksAgain: () => boolean
  /** Notes what a look has found. */
  note(from: Place | undefined, last: Place | undefined): void
}

export const watermark = (nowMs: () => number = () => performance.now()): Watermark => {
  let passed: Place | undefined
  let recent: readonly { readonly atMs: number; readonly place: Place }[] = []
  let furthest: Place | undefined
  let fullAtMs = -Infinity
  return {
    from: () => (nowMs() - fullAtMs >= FULL_LOOK_MS ? undefined : passed),
    looksAgain: () => nowMs() - fullAtMs >= FULL_LOOK_AGAIN_MS,
    note: (from, last) => {
      const atMs = nowMs()
      if (!from) fullAtMs = atMs
      if (last && (!furthest || comparePlaces(furthest, last) < 0)) furthest = last
      const newest = recent.at(-1)
      if (furthest && (!newest || atMs - newest.atMs >= STEP_MS))
        recent = [...recent, { atMs, place: furthest }]
      passed = recent.findLast((one) => atMs - one.atMs >= SLACK_MS)?.place ?? passed
      recent = recent.filter((one) => atMs - one.atMs < SLACK_MS)
    },
  }
}
