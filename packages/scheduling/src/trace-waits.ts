/** What a trace's entries amount to: who was waited for, in which rounds, and what is due next. Pure. */
import { z } from 'zod'
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import { About } from './trace-fields.ts'

const Instant = z.iso.datetime()

/** What somebody is waited for. */
export const waitReasons = ['calendar_read', 'mail_answer', 'missing', 'approval', 'repair'] as const

export const Wait = z.object({
  what: z.enum(waitReasons).meta({
    description:
      'For what: that a calendar is read, an answer to a mail, what the request left out, an approval, or a choice about a repair.',
  }),
  participantId: z
    .uuid()
    .optional()
    .meta({ description: 'Whose time it is; absent where `owner` tells who.' }),
  owner: z.string().optional().meta({ description: 'Who had to tell, approve or repair.' }),
  codes: z
    .array(z.string())
    .optional()
    .meta({ description: 'What is missing, or which repair it is about, by code.' }),
  round: z.int(),
  from: Instant,
  until: Instant.optional().meta({ description: 'Absent: this person is still waited for.' }),
  durationMs: z.number().optional(),
  because: z.array(z.string()).meta({ description: 'What made it take longer than one attempt, by code.' }),
  over: z
    .string()
    .optional()
    .meta({ description: 'Why this person is waited for no longer, without an answer in this round.' }),
})
export type Wait = z.output<typeof Wait>

export const Round = z.object({
  round: z.int(),
  beganAt: Instant,
  because: z.string().meta({
    description:
      'What began it: `opened`, a decision (of `looked_again` its reason), or the choice that ended a repair.',
  }),
  idleMs: z
    .number()
    .optional()
    .meta({ description: 'How long nobody was waited for since the round before it was over.' }),
})
export type Round = z.output<typeof Round>

const whatByAction = new Map<string, Wait['what']>([
  ['scheduling.read_availability', 'calendar_read'],
  ['scheduling.ask_participant', 'mail_answer'],
])
const ROUND_BEGINS = new Set([...whatByAction.keys(), 'scheduling.find_time'])

/** The round that an entry is the first sign of; undefined for all others. */
export const roundBegunBy = (entry: TraceEntry): number | undefined =>
  entry.type === 'action_enqueued' && ROUND_BEGINS.has(entry.action) ? entry.about.round : undefined

/** One wait per person and round in which their time was asked for, in the order in which it was asked. */
export const waitsIn = (entries: readonly TraceEntry[]): readonly Wait[] => {
  const waits = new Map<string, Wait>()
  for (const entry of entries) {
    if (entry.type === 'evidence') {
      const key = keyOf(entry.participantId, entry.round)
      const wait = waits.get(key)
      if (wait && wait.until === undefined) waits.set(key, ended(wait, entry.at))
      continue
    }
    for (const [key, wait] of waits) {
      const over = wait.until === undefined ? overBy(entry, wait.round) : undefined
      if (over !== undefined) waits.set(key, { ...ended(wait, entry.at), over })
    }
    if (!('about' in entry)) continue
    const what = whatByAction.get(entry.action)
    const { participantId, round } = entry.about
    if (what === undefined || participantId === undefined || round === undefined) continue
    const key = keyOf(participantId, round)
    const first: Wait = { what, participantId, round, from: entry.at, because: [] }
    const wait = askedAgain(waits.get(key), entry) ?? first
    waits.set(key, { ...wait, because: [...wait.because, ...delayIn(entry)] })
  }
  return [...waits.values()]
}

const keyOf = (participantId: string, round: number): string => `${participantId}:${round}`

export const ended = (wait: Wait, until: string): Wait => ({
  ...wait,
  until,
  durationMs: Math.max(0, Date.parse(until) - Date.parse(wait.from)),
})

/** Whoever is asked in words because their calendar did not tell is waited for on. */
const askedAgain = (wait: Wait | undefined, entry: TraceEntry): Wait | undefined => {
  const isAsked = entry.type === 'action_enqueued' && entry.action === 'scheduling.ask_participant'
  if (!wait || wait.until === undefined || !isAsked) return wait
  const { until: _, durationMs: __, over: ___, ...open } = wait
  return { ...open, what: 'mail_answer', because: [...open.because, 'asked_in_words'] }
}

const endsWaiting: ReadonlySet<string> = new Set(['cancelled', 'lapsed', 'change_lapsed', 'change_withdrawn'])

/** Why an entry ends the waiting of this round for everybody who has not answered. */
export const overBy = (entry: TraceEntry, round: number): string | undefined => {
  const next = roundBegunBy(entry)
  if (next !== undefined && next > round) return 'round_over'
  if (entry.type === 'repair_opened') return entry.code
  if (entry.type !== 'decision') return undefined
  const { decision, because, round: leadsTo } = entry
  if (endsWaiting.has(decision)) return decision
  return leadsTo > round ? (because ?? decision) : undefined
}

const delayIn = (entry: TraceEntry): readonly string[] =>
  entry.type === 'attempt' && entry.outcome !== 'succeeded' ? [entry.code ?? entry.outcome] : []

/** Every round, what began it, and for how long before it nobody was waited for. */
export const roundsIn = (entries: readonly TraceEntry[], waits: readonly Wait[]): readonly Round[] => {
  const rounds: Round[] = []
  let last: { readonly because: string; readonly round: number | undefined } = {
    because: 'opened',
    round: undefined,
  }
  for (const entry of entries) {
    if (entry.type === 'decision') last = { because: entry.because ?? entry.decision, round: entry.round }
    if (entry.type === 'repair_resolved' && entry.choice !== undefined) {
      last = { because: entry.choice, round: undefined }
    }
    const round = roundBegunBy(entry)
    if (round === undefined || round <= (rounds.at(-1)?.round ?? 0)) continue
    rounds.push({ round, beganAt: entry.at, because: last.because, ...idleBefore(entry.at, round, waits) })
  }
  return rounds
}

const idleBefore = (beganAt: string, round: number, waits: readonly Wait[]): Pick<Round, 'idleMs'> => {
  const before = waits.filter((wait) => wait.round < round).flatMap(({ until }) => until ?? [])
  // Times of this form sort as text.
  const over = before.sort().at(-1)
  return over === undefined ? {} : { idleMs: Math.max(0, Date.parse(beganAt) - Date.parse(over)) }
}

/** An action that has not ended: what the meeting waits for, and until when. */
export const Pending = z.object({
  actionId: z.string(),
  action: z.string(),
  kind: z.enum(['effect', 'reconcile']),
  about: About,
  state: z.string(),
  dueAt: Instant.optional(),
  attempts: z.int().optional().meta({ description: 'How often it was tried; absent for not at all.' }),
  code: z.string().optional().meta({ description: 'Why it was not done when it was tried last.' }),
  until: z
    .object({
      because: z.enum(['quiet_hours', 'spacing']),
      localTime: z.string().optional(),
    })
    .optional()
    .meta({
      description: 'Why it is not due yet. `localTime` is when quiet hours end on that person’s clock.',
    }),
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
    subject: z
      .object({ type: z.enum(['repair', 'exception', 'proposal', 'dead_letter']), id: z.string() })
      .optional()
      .meta({ description: 'What must be acted on.' }),
    because: z
      .array(z.string())
      .optional()
      .meta({ description: 'What a repair was made from, by code, where its own code does not say it.' }),
    choices: z.array(z.string()).optional().meta({ description: 'What may be chosen, of a repair.' }),
    action: z.string().optional().meta({ description: 'What was given up, of a dead letter.' }),
    about: About.optional(),
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

/** What a repair was made from, where its own code does not say it. */
const Origin = z.object({
  because: z.string().optional(),
  reasons: z.array(z.object({ participantId: z.string(), code: z.string() })).optional(),
})

interface Repaired {
  readonly code: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** The codes of what a repair was made from; empty where its own code says it. */
export const originOf = ({ facts }: Pick<Repaired, 'facts'>): readonly string[] => {
  const { because, reasons = [] } = Origin.safeParse(facts).data ?? {}
  return [...new Set([...(because === undefined ? [] : [because]), ...reasons.map(({ code }) => code)])]
}

/** Whoever could not be told is told by no repair, whatever its code. */
export const TELLS: ReadonlySet<string> = new Set(['scheduling.notify_client', 'scheduling.send_notice'])

/** Whether a repair is of this dead action, so that one thing is to be done and not two. */
const isOf = (repair: Repaired, { action, code, about }: EntryOf<'action_ended'>): boolean => {
  if (TELLS.has(action)) return false
  const { because, reasons = [] } = Origin.safeParse(repair.facts).data ?? {}
  const isReason = reasons.some(
    (reason) => reason.code === code && reason.participantId === about.participantId,
  )
  return repair.code === code || because === code || isReason
}

/**
 * Dead actions of which no repair was made, open or resolved: somebody must look all the same, but not for an endpoint to
 * which nothing is to be sent any more.
 */
export const deadActs = (
  entries: readonly TraceEntry[],
  repairs: readonly Repaired[],
  disabledEndpoints: ReadonlySet<string> = new Set(),
): readonly Act[] =>
  entries
    .filter(
      (entry): entry is EntryOf<'action_ended'> => entry.type === 'action_ended' && entry.outcome === 'dead',
    )
    .filter((entry) => !repairs.some((repair) => isOf(repair, entry)))
    .filter(({ about }) => !disabledEndpoints.has(about.endpointId ?? ''))
    .map(({ owner = 'operations', code, action, about, actionId }) => ({
      type: 'person',
      owner,
      code: code ?? 'other',
      subject: { type: 'dead_letter', id: actionId },
      action,
      about,
    }))
