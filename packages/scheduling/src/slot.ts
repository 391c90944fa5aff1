/** A possible time and why it is one, as it is kept with a proposal and shown. People by id. */
import { z } from 'zod'
import { absenceReasons } from './availability.ts'
import type { Slot } from './overlap.ts'
import { Ranking } from './ranking.ts'

const grounds = {
  optionalAttending: z.array(z.string()),
  optionalMissing: z.array(z.object({ id: z.string(), because: z.enum(absenceReasons) })),
  ranking: Ranking.default([]).meta({
    description: 'What this time is ranked by, the criterion that counts most first.',
  }),
}

export const SlotJson = z.object({ start: z.iso.datetime(), end: z.iso.datetime(), ...grounds })
export type SlotJson = z.output<typeof SlotJson>

/** Why a time was proposed, and the best times that could have been proposed in its place. */
export const ProposalGrounds = z.object({
  ...grounds,
  alternatives: z
    .array(SlotJson)
    .default([])
    .meta({ description: 'The next best times, the best one first.' }),
})
export type ProposalGrounds = z.output<typeof ProposalGrounds>

const groundsOf = ({ optionalAttending, optionalMissing, ranking }: Slot) => ({
  optionalAttending: [...optionalAttending],
  optionalMissing: [...optionalMissing],
  ranking,
})

export const slotJsonOf = (slot: Slot): SlotJson => ({
  start: slot.start.toISOString(),
  end: slot.end.toISOString(),
  ...groundsOf(slot),
})

export const proposalGroundsOf = (best: Slot, alternatives: readonly Slot[]): ProposalGrounds => ({
  ...groundsOf(best),
  alternatives: alternatives.map(slotJsonOf),
})
