/** How long each stage of a meeting took. Pure. */
import { z } from 'zod'
import type { TraceEntry } from './trace-entries.ts'
import { roundBegunBy } from './trace-waits.ts'

const Instant = z.iso.datetime()

export const stageNames = [
  'incomplete',
  'availability',
  'choice',
  'approval',
  'write',
  'proof',
  'standing',
  'repair',
  'clearing',
] as const
export type StageName = (typeof stageNames)[number]

export const Stage = z.object({
  stage: z.enum(stageNames).meta({
    description:
      'In `incomplete` what the request left out is waited for. Then: until everybody’s time was known, a time chosen, it approved, the event written, and read back. A booked meeting is `standing`; in `repair` a person is waited for, and in `clearing` what stands is taken away.',
  }),
  round: z.int().meta({ description: 'Of which gathering of everybody’s time it was a part.' }),
  from: Instant,
  until: Instant,
  durationMs: z.number(),
  cut: z
    .boolean()
    .optional()
    .meta({ description: 'It did not come to its end: a repair or another round came first.' }),
})
export type Stage = z.output<typeof Stage>

const endedBy: Partial<Record<TraceEntry['type'], { readonly stage: StageName; readonly next: StageName }>> =
  {
    approval: { stage: 'approval', next: 'write' },
    event_written: { stage: 'write', next: 'proof' },
    completion_verified: { stage: 'proof', next: 'standing' },
    repair_resolved: { stage: 'repair', next: 'clearing' },
  }

/** Every stage that is over, in order. A meeting that is looked for again passes through them again. */
export const stagesIn = (entries: readonly TraceEntry[]): readonly Stage[] => {
  const stages: Stage[] = []
  let from = entries[0]?.at
  let current: StageName = 'availability'
  let round = 1
  let known: string | undefined
  const end = (stage: StageName, until: string, next: StageName, cut = false): void => {
    if (from === undefined) return
    const durationMs = Math.max(0, Date.parse(until) - Date.parse(from))
    stages.push({ stage, round, from, until, durationMs, ...(cut && { cut }) })
    from = until
    current = next
  }
  for (const entry of entries) {
    const begun = roundBegunBy(entry)
    // A request that left something out is waited for before anybody's time is.
    if (entry.type === 'exception_opened' && stages.length === 0) current = 'incomplete'
    if (current === 'incomplete' && (begun !== undefined || isOver(entry))) {
      end('incomplete', entry.at, 'availability', begun === undefined)
    }
    if (begun !== undefined && begun > round) {
      if (from !== undefined && entry.at > from) end(current, entry.at, 'availability', !isOpen.has(current))
      current = 'availability'
      round = begun
      known = undefined
    }
    if (entry.type === 'evidence') known = entry.at
    if (entry.type === 'proposal' && known !== undefined) end('availability', known, 'choice')
    if (entry.type === 'proposal') end('choice', entry.at, 'approval')
    if (entry.type === 'repair_opened') end(current, entry.at, 'repair', !isOpen.has(current))
    const over = endedBy[entry.type]
    if (over) end(over.stage, entry.at, over.next)
  }
  return stages
}

/** What ends a meeting that never was told everything. */
const isOver = (entry: TraceEntry): boolean =>
  entry.type === 'decision' && (entry.decision === 'cancelled' || entry.decision === 'lapsed')

/** These last until something else begins: that is their end. */
const isOpen: ReadonlySet<StageName> = new Set<StageName>(['standing', 'clearing', 'repair'])
