/** The outcome that there is no time for everybody, as it is kept with the meeting and shown. People by id. */
import { z } from 'zod'
import { absenceReasons } from './availability.ts'
import type { FindTimesResult } from './overlap.ts'

const Stretch = { start: z.iso.datetime(), end: z.iso.datetime() }
const Missing = z.object({ participantId: z.string(), because: z.enum(absenceReasons) })

export const NoOverlap = z.object({
  startsTried: z
    .int()
    .meta({ description: 'How many starts were looked at. 0: what is left of the window is too short.' }),
  blockers: z
    .array(
      z.object({
        ...Stretch,
        by: z.array(Missing).meta({ description: 'The first of those who cannot.' }),
        count: z.int().meta({ description: 'How many cannot.' }),
      }),
    )
    .meta({
      description: 'When required people cannot, in order. What none covers is too short for the meeting.',
    }),
  blockersTruncated: z.boolean().meta({ description: 'Whether there are more of them than are shown.' }),
  soleBlockers: z
    .array(z.object({ participantId: z.string(), starts: z.int() }))
    .meta({ description: 'Whose absence alone stands in the way, and of how many starts; most first.' }),
  nearest: z
    .array(z.object({ ...Stretch, missingRequired: z.array(Missing) }))
    .meta({ description: 'The times that the fewest required people miss, and who that is.' }),
})
export type NoOverlap = z.output<typeof NoOverlap>

export const noOverlapOf = (result: Extract<FindTimesResult, { type: 'no_overlap' }>): NoOverlap => ({
  startsTried: result.startsTried,
  blockers: result.blockers.map(({ stretch, by, count }) => ({
    start: stretch.start.toISOString(),
    end: stretch.end.toISOString(),
    by: [...by],
    count,
  })),
  blockersTruncated: result.blockersTruncated,
  soleBlockers: [...result.soleBlockers],
  nearest: result.nearest.map(({ start, end, missingRequired }) => ({
    start: start.toISOString(),
    end: end.toISOString(),
    missingRequired: [...missingRequired],
  })),
})
