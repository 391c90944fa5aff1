/** Why not Tuesday at ten? Answered from the same search that found, or did not find, the time. Pure. */
import { z } from 'zod'
import { absenceReasons } from './availability.ts'
import { evidenceSources, type Evidence } from './evidence.ts'
import { explainRejected, findTimes, type RejectionReason } from './overlap.ts'
import { findTimesInputOf, type Search } from './search.ts'
import { SlotJson, slotJsonOf } from './slot.ts'
import { absenceText, causeText, sourceText } from './trace-codes.ts'

const Stretch = { start: z.iso.datetime(), end: z.iso.datetime() }

const words = z.string().meta({ description: 'The same for a person to read.' })

const Reason = z.discriminatedUnion('type', [
  z.object({ type: z.literal('outside_window'), words, window: z.object(Stretch) }),
  z.object({ type: z.literal('before_earliest_start'), words, earliestStart: z.iso.datetime() }),
  z.object({ type: z.literal('off_grain'), words, everyMinutes: z.int(), timeZone: z.string() }),
  z.object({
    type: z.literal('required_missing'),
    words,
    participantId: z.string(),
    because: z.enum(absenceReasons),
    stretches: z
      .array(z.object(Stretch))
      .meta({ description: 'The parts of the time that this person misses for this reason.' }),
    evidence: z
      .object({
        id: z.string(),
        source: z.enum(evidenceSources),
        retrievedAt: z.iso.datetime(),
      })
      .optional()
      .meta({
        description: 'From what this is known, or not known. Absent when nothing was learned for it.',
      }),
    code: z.string().optional().meta({ description: 'Why the time of this person is not known.' }),
  }),
])

export const SlotExplanation = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('acceptable'),
    ...SlotJson.shape,
    rank: z.int().meta({ description: 'Its place among all possible times, from 1.' }),
    of: z.int().meta({ description: 'How many possible times there are.' }),
    best: SlotJson.meta({ description: 'The time that comes first; the rankings of the two say why.' }),
  }),
  z.object({
    type: z.literal('rejected'),
    ...Stretch,
    reasons: z.array(Reason).meta({ description: 'Every reason, not the first one found.' }),
  }),
])
export type SlotExplanation = z.output<typeof SlotExplanation>

/**
 * Why a meeting that starts then is not what is proposed: what stands in its way, or what comes before it. `search.now`
 * is the time as of which it is explained: what was known at the search may have expired since.
 */
export const explainSlot = (search: Search, start: Date): SlotExplanation => {
  const input = findTimesInputOf(search)
  const explained = explainRejected(input, start)
  if (explained.type === 'rejected') {
    const evidenceByPerson = new Map(search.evidence.map((piece) => [String(piece.participantId), piece]))
    const codeByPerson = new Map(
      input.required.flatMap(({ participantId, time }) =>
        time.type === 'unknown' ? [[participantId, time.reason] as const] : [],
      ),
    )
    const context = { input, search, evidenceByPerson, codeByPerson }
    return {
      type: 'rejected',
      start: start.toISOString(),
      end: new Date(start.getTime() + input.durationMs).toISOString(),
      reasons: explained.reasons.map((reason) => reasonJsonOf(reason, context)),
    }
  }
  const result = findTimes(input)
  const best = result.type === 'found' ? result.slots[0] : undefined
  if (!best) throw new Error('a time was acceptable, and yet none was found')
  const { rank, of } = explained
  return { type: 'acceptable', ...slotJsonOf(explained), rank, of, best: slotJsonOf(best) }
}

interface Context {
  readonly input: ReturnType<typeof findTimesInputOf>
  readonly search: Search
  readonly evidenceByPerson: ReadonlyMap<string, Evidence>
  readonly codeByPerson: ReadonlyMap<string, string>
}

const reasonJsonOf = (reason: RejectionReason, context: Context): z.output<typeof Reason> => {
  const { input, evidenceByPerson, codeByPerson } = context
  switch (reason.type) {
    case 'outside_window':
      return {
        type: reason.type,
        words: 'it does not lie in the window in which the meeting was asked for',
        window: stretchJsonOf(input.window),
      }
    case 'before_earliest_start':
      return {
        type: reason.type,
        words: 'it is too soon: a meeting must leave people time before it starts',
        earliestStart: input.approachNotBefore.toISOString(),
      }
    case 'off_grain':
      return {
        type: reason.type,
        words: `a start is looked for every ${input.grainMs / 60_000} minutes, and this is none of them`,
        everyMinutes: input.grainMs / 60_000,
        timeZone: input.zone,
      }
    case 'required_missing': {
      const { participantId, because, stretches } = reason
      const piece = isFromEvidence[because] ? evidenceByPerson.get(participantId) : undefined
      const code = because === 'unknown' ? codeByPerson.get(participantId) : undefined
      return {
        type: reason.type,
        words: missingWords(because, code, piece),
        participantId,
        because,
        stretches: stretches.map(stretchJsonOf),
        ...(piece && {
          evidence: { id: piece.id, source: piece.source, retrievedAt: piece.retrievedAt.toISOString() },
        }),
        ...(code !== undefined && { code }),
      }
    }
  }
}

const missingWords = (
  because: (typeof absenceReasons)[number],
  code: string | undefined,
  piece: Evidence | undefined,
): string => {
  const why = code === undefined ? '' : ` (${causeText(code)})`
  const source = piece === undefined ? '' : `, by ${sourceText(piece.source)}`
  return `a required person cannot: ${absenceText(because)}${why}${source}`
}

/** Hours come from the meeting itself, and what is held from other meetings. */
const isFromEvidence: Readonly<Record<(typeof absenceReasons)[number], boolean>> = {
  outside_hours: false,
  held: false,
  busy: true,
  buffer: true,
  not_stated: true,
  unknown: true,
}

const stretchJsonOf = ({ start, end }: { readonly start: Date; readonly end: Date }) => ({
  start: start.toISOString(),
  end: end.toISOString(),
})
