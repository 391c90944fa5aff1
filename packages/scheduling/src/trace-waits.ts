/** What a trace's entries amount to: who was waited for, how long each stage took, and what is due next. Pure. */
import { z } from 'zod'
import { About, type EntryOf, type TraceEntry } from './trace-entries.ts'

const Instant = z.iso.datetime()

export const Wait = z.object({
  participantId: z.uuid(),
  round: z.int(),
  from: Instant,
  until: Instant.optional().meta({ description: 'Absent: this person is still waited for.' }),
  durationMs: z.number().optional(),
  because: z.array(z.string()).meta({ description: 'What made it take longer than one attempt, by code.' }),
})
export type Wait = z.output<typeof Wait>

const askedOf = new Set(['scheduling.read_availability', 'scheduling.ask_participant'])

/** One wait per person and round in which their time was asked for, in the order in which it was asked. */
export const waitsIn = (entries: readonly TraceEntry[]): readonly Wait[] => {
  const keyOf = (participantId?: string, round?: number): string => `${participantId ?? ''}:${round ?? 0}`
  const waits = new Map<string, Wait>()
  for (const entry of entries) {
    if (entry.type === 'evidence') {
      const key = keyOf(entry.participantId, entry.round)
      const wait = waits.get(key)
      if (wait && wait.until === undefined) {
        const durationMs = Math.max(0, Date.parse(entry.at) - Date.parse(wait.from))
        waits.set(key, { ...wait, until: entry.at, durationMs })
      }
      continue
    }
    if (!('about' in entry) || !askedOf.has(entry.action)) continue
    const { participantId, round } = entry.about
    if (participantId === undefined || round === undefined) continue
    const key = keyOf(participantId, round)
    const wait = waits.get(key) ?? { participantId, round, from: entry.at, because: [] }
    waits.set(key, { ...wait, because: [...wait.because, ...delayIn(entry)] })
  }
  return [...waits.values()]
}

const delayIn = (entry: TraceEntry): readonly string[] =>
  entry.type === 'attempt' && entry.outcome !== 'succeeded' ? [entry.code ?? entry.outcome] : []

export const stageNames = ['availability', 'choice', 'approval', 'write', 'proof'] as const

export const Stage = z.object({
  stage: z.enum(stageNames).meta({
    description:
      'Until everybody’s time was known, a time chosen, it approved, the event written, and read back.',
  }),
  from: Instant,
  until: Instant,
  durationMs: z.number(),
})
export type Stage = z.output<typeof Stage>

const stageEndedBy: Partial<Record<TraceEntry['type'], Stage['stage']>> = {
  proposal: 'choice',
  approval: 'approval',
  event_written: 'write',
  completion_verified: 'proof',
}

/** Every stage that has come to its end, in order. A meeting that is looked for again passes through them again. */
export const stagesIn = (entries: readonly TraceEntry[]): readonly Stage[] => {
  const stages: Stage[] = []
  let from = entries[0]?.at
  let known: string | undefined
  const end = (stage: Stage['stage'], until: string): void => {
    if (from === undefined) return
    const durationMs = Math.max(0, Date.parse(until) - Date.parse(from))
    stages.push({ stage, from, until, durationMs })
    from = until
  }
  for (const entry of entries) {
    if (entry.type === 'evidence') known = entry.at
    if (entry.type === 'proposal' && known !== undefined) {
      end('availability', known)
      known = undefined
    }
    const ended = stageEndedBy[entry.type]
    if (ended) end(ended, entry.at)
  }
  return stages
}

/** An action that has not ended: what the meeting waits for, and until when. */
export const Pending = z.object({
  actionId: z.string(),
  action: z.string(),
  kind: z.enum(['effect', 'reconcile']),
  about: About,
  state: z.string(),
  dueAt: Instant.optional(),
  heldBy: z.string().optional().meta({ description: 'The dispatcher that works on it now.' }),
})
export type Pending = z.output<typeof Pending>

export const Step = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('person'),
    owner: z.string(),
    code: z.string().meta({ description: 'What this person must do something about.' }),
    participantId: z.uuid().optional(),
    until: Instant.optional(),
  }),
  z.object({ type: z.literal('action'), ...Pending.shape }),
])
export type Step = z.output<typeof Step>
type Act = Extract<Step, { type: 'person' }>

/** Whoever must act, then what happens by itself, the soonest first. Empty: nothing is left. */
export const stepsOf = (acts: readonly Act[], pending: readonly Pending[]): readonly Step[] => [
  ...acts,
  ...pending.toSorted((a, b) => compareDue(a, b)).map((each): Step => ({ type: 'action', ...each })),
]

const compareDue = (a: Pending, b: Pending): number => (a.dueAt ?? '').localeCompare(b.dueAt ?? '')

/** Dead actions of which no repair was made, open or resolved: somebody must look all the same. */
export const deadActs = (
  entries: readonly TraceEntry[],
  repairs: readonly { readonly code: string }[],
): readonly Act[] =>
  entries
    .filter(
      (entry): entry is EntryOf<'action_ended'> => entry.type === 'action_ended' && entry.outcome === 'dead',
    )
    .filter(({ code }) => !repairs.some((repair) => repair.code === code))
    .map(({ owner = 'operations', code, action }) => ({
      type: 'person',
      owner,
      code: `${action} is dead: ${code ?? 'no reason'}`,
    }))
