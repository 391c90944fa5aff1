/**
 * Every kind of entry that a trace may hold: what it carries, and how it reads. A kind is declared in one place, as
 * both; one without a text does not compile. Pure.
 */
import { z } from 'zod'
import { ProposalGrounds } from './slot.ts'
import { clockText, countText, durationText, listText, spanText } from './trace-words.ts'

const Instant = z.iso.datetime()
const Id = z.uuid()
const Code = z.string().nullable()

/** What an action is about, by id. Nothing personal: a payload is references only. */
export const About = z
  .object({
    participantId: Id,
    proposalId: Id,
    round: z.int(),
    number: z.int(),
    event: z.string(),
    kind: z.string(),
    look: z.string(),
  })
  .partial()
  .meta({ description: 'What the action is about; people are named by id.' })
export type About = z.output<typeof About>

/** One exchange with a provider. Redacted: no address, no token, no body. */
export const TracedCall = z.object({
  provider: z.string(),
  operation: z.string(),
  startedAt: Instant,
  durationMs: z.number(),
  status: z.number().nullish(),
  outcome: z.string(),
  requestId: z
    .string()
    .nullish()
    .meta({ description: "The provider's own id for the request, if it gave one." }),
})
export type TracedCall = z.output<typeof TracedCall>

/** How a text names what an entry knows by id. */
export interface Naming {
  /** `p2` */
  readonly person: (participantId: string) => string
  /** `d1`: a dispatcher. */
  readonly replica: (replicaId: string) => string
  /** `proposal 1` */
  readonly proposal: (proposalId: string) => string
}

const action = {
  actionId: z.string(),
  action: z.string(),
  kind: z.enum(['effect', 'reconcile']).meta({
    description: 'An effect changes or reads the world; a reconcile only asks what became of an effect.',
  }),
  about: About,
}

type ActionFields = z.output<z.ZodObject<typeof action>>

const attempt = {
  ...action,
  attempt: z.int(),
  replicaId: z.string().nullable().meta({ description: 'The dispatcher that held it.' }),
  claimedAt: Instant.optional(),
  startedAt: Instant.optional().meta({ description: 'Absent: it ended before anybody was contacted.' }),
  outcome: z.string(),
  code: Code,
  durationMs: z.number().optional(),
  calls: z.array(TracedCall),
}
type AttemptFields = z.output<z.ZodObject<typeof attempt>>

const ending = {
  ...action,
  outcome: z.string(),
  code: Code,
  attempts: z.int(),
  owner: z.string().optional().meta({ description: 'Who must repair it; of a dead action only.' }),
}
type EndingFields = z.output<z.ZodObject<typeof ending>>

/** One kind of entry. Its line is undefined where another entry's line says the same. */
const kind = <Type extends string, Shape extends z.ZodRawShape>(
  type: Type,
  shape: Shape,
  line: (
    entry: z.output<z.ZodObject<{ type: z.ZodLiteral<Type>; at: typeof Instant } & Shape>>,
    naming: Naming,
  ) => string | undefined,
) => ({ schema: z.object({ type: z.literal(type), at: Instant, ...shape }), line })

const kinds = {
  meeting_opened: kind(
    'meeting_opened',
    {
      revision: z.int(),
      instructed: z.boolean().meta({ description: "Whether a person's own words came with it." }),
    },
    ({ instructed }) =>
      `the meeting was asked for${instructed ? ', with an instruction in words (kept, never acted upon)' : ''}`,
  ),
  exception_opened: kind(
    'exception_opened',
    { exceptionId: Id, code: z.string(), owner: z.string(), lapsesAt: Instant },
    ({ code, owner, lapsesAt }) => `missing: ${code}; asked of the ${owner}, lapses ${spanText(lapsesAt)}`,
  ),
  exception_ended: kind(
    'exception_ended',
    { exceptionId: Id, code: z.string(), state: z.string() },
    ({ code, state }) => `${code} is ${state}`,
  ),
  action_enqueued: kind(
    'action_enqueued',
    action,
    (entry, naming) => `asked for: ${actionText(entry, naming)}`,
  ),
  attempt: kind('attempt', attempt, (entry, naming) => attemptText(entry, naming)),
  unknown_resolved: kind(
    'unknown_resolved',
    { ...action, outcome: z.string(), code: Code },
    (entry, naming) => `so it is known what became of ${actionText(entry, naming)}: ${resolutionText(entry)}`,
  ),
  action_ended: kind('action_ended', ending, (entry, naming) => endText(entry, naming)),
  evidence: kind(
    'evidence',
    {
      evidenceId: Id,
      participantId: Id,
      round: z.int(),
      source: z.string(),
      learned: z.enum(['known', 'stated', 'unknown']).meta({
        description:
          'A calendar that was read, a word that was given, or that nothing is known; never read as free.',
      }),
      code: z.string().optional(),
      retrievedAt: Instant.meta({ description: 'As of when it holds: never later than it was looked up.' }),
      expiresAt: Instant,
    },
    ({ participantId, source, learned, code, expiresAt }, { person }) => {
      const who = person(participantId)
      if (learned === 'unknown')
        return `${who}: time NOT known (${source}, ${code ?? 'no reason'}); not taken as free`
      const what = learned === 'known' ? 'busy times known' : 'told when they can'
      return `${who}: ${what} (${source}), good until ${spanText(expiresAt)}`
    },
  ),
  proposal: kind(
    'proposal',
    {
      proposalId: Id,
      round: z.int(),
      start: Instant,
      end: Instant,
      evidenceIds: z.array(Id),
      grounds: ProposalGrounds,
    },
    ({ proposalId, start, end, evidenceIds, grounds }, { person, proposal }) => {
      const without = grounds.optionalMissing.map(({ id, because }) => `${person(id)} (${because})`)
      const missing = without.length > 0 ? `, without ${listText(without)}` : ''
      const [next] = grounds.alternatives
      const instead = next ? `; next best: ${slotText(next.start, next.end)}` : ''
      return `${proposal(proposalId)}: ${slotText(start, end)}, from ${countText(evidenceIds.length, 'piece')} of evidence${missing}${instead}`
    },
  ),
  approval: kind(
    'approval',
    {
      proposalId: Id,
      authority: z.string().meta({ description: 'By what right: automatic, organizer or named_approver.' }),
    },
    ({ proposalId, authority }, { proposal }) =>
      `${proposal(proposalId)} was approved ${authorityText(authority)}`,
  ),
  hold_placed: kind(
    'hold_placed',
    { proposalId: Id, people: z.int() },
    ({ proposalId, people }, { proposal }) =>
      `the time of ${people} people is held for ${proposal(proposalId)}`,
  ),
  event_written: kind(
    'event_written',
    { proposalId: Id, provider: z.string(), eventId: z.string() },
    ({ provider, eventId }) => `the event stands at ${provider}: ${eventId}; not confirmed yet`,
  ),
  completion_verified: kind(
    'completion_verified',
    { proposalId: Id, eventId: z.string(), checks: z.array(z.string()) },
    ({ checks }) => `read back and proved in ${checks.length} points: ${checks.join(', ')}`,
  ),
  message_sent: kind(
    'message_sent',
    {
      participantId: Id.optional(),
      kind: z.string(),
      round: z.int(),
      outcome: z.string(),
      code: z.string().optional(),
    },
    ({ participantId, kind: what, outcome, code }, { person }) =>
      `mail to ${participantId === undefined ? 'the approver' : person(participantId)}: ${what}, ${outcome}${inBrackets(code)}`,
  ),
  reply_received: kind(
    'reply_received',
    { participantId: Id, unclear: z.array(z.string()) },
    ({ participantId, unclear }, { person }) =>
      `${person(participantId)} answered in words${unclear.length > 0 ? `; unclear: ${listText(unclear)}` : ''}; nothing acts on it unconfirmed`,
  ),
  repair_opened: kind(
    'repair_opened',
    { repairId: Id, code: z.string(), owner: z.string(), participantIds: z.array(Id) },
    ({ code, owner, participantIds }, { person }) =>
      `repair needed: ${code}${participantIds.length > 0 ? ` (${listText(participantIds.map(person))})` : ''}; owned by the ${owner}`,
  ),
  repair_resolved: kind(
    'repair_resolved',
    { repairId: Id, code: z.string(), choice: z.string().optional(), authority: z.string().optional() },
    ({ code, choice, authority }) =>
      choice === undefined
        ? `the repair of ${code} ended with the meeting`
        : `repaired: ${code}, by ${choice}${authority === undefined ? '' : ` ${authorityText(authority)}`}`,
  ),
} as const

const [first, ...others] = Object.values(kinds).map(({ schema }) => schema)
if (!first) throw new Error('a trace without any kind of entry')

/** Something that was asked, learned, decided, done or proved. New types may be added. */
export const TraceEntry = z.discriminatedUnion('type', [first, ...others])
export type TraceEntry = z.output<typeof TraceEntry>
export type EntryOf<Type extends TraceEntry['type']> = Extract<TraceEntry, { type: Type }>

interface Reader {
  /** A method, so that the kind which an entry's own type names may be asked about that entry. */
  line(entry: TraceEntry, naming: Naming): string | undefined
}

/** How an entry reads; undefined where another entry's line says the same. */
export const lineOf = (entry: TraceEntry, naming: Naming): string | undefined => {
  const reader: Reader = kinds[entry.type]
  return reader.line(entry, naming)
}

/** `read availability of p2` */
export const actionText = (
  { action: name, kind: what, about }: Pick<ActionFields, 'action' | 'kind' | 'about'>,
  { person, proposal }: Naming,
): string => {
  const verb = name
    .replace(/^[^.]*\./, '')
    .replace(/#.*$/, '')
    .replaceAll('_', ' ')
  const objects = [
    ...(about.participantId === undefined ? [] : [person(about.participantId)]),
    ...(about.proposalId === undefined ? [] : [proposal(about.proposalId)]),
    ...[about.event, about.kind, about.look].filter((word) => word !== undefined),
  ]
  const object = objects.length > 0 ? ` [${objects.join(', ')}]` : ''
  return what === 'reconcile' ? `what became of ${verb}${object}` : `${verb}${object}`
}

const attemptText = (entry: AttemptFields, naming: Naming): string => {
  const { replicaId, durationMs, outcome, code, calls, kind: what } = entry
  const who = replicaId === null ? 'nobody' : naming.replica(replicaId)
  const called = calls.length > 0 ? `: ${calls.map(callText).join(', ')}` : ''
  if (outcome === 'lease_lost') {
    const answer =
      entry.startedAt === undefined ? 'it had called nobody' : 'whatever it was answered is thrown away'
    const since = entry.claimedAt === undefined ? '' : ` (held since ${clockText(entry.claimedAt)})`
    return `${who} went silent over ${actionText(entry, naming)}${since}; its lease ran out, ${answer}`
  }
  const verb = what === 'reconcile' ? 'asked ' : 'did '
  const took = durationMs === undefined ? ' without calling' : ` in ${durationText(durationMs)}`
  return `${who} ${verb}${actionText(entry, naming)}${took}${called} ⇒ ${outcome}${inBrackets(code)}`
}

export const callText = ({ provider, operation, status, outcome, durationMs }: TracedCall): string =>
  `${provider} ${operation} → ${status ?? 'no answer'} ${outcome} (${durationText(durationMs)})`

const resolutionText = ({ outcome, code }: { outcome: string; code: string | null }): string => {
  if (outcome === 'succeeded') return 'it had its effect; it is not made again'
  if (outcome === 'retrying') return `it had none (${code ?? 'proved'}); it is made again`
  return `${outcome}${inBrackets(code)}`
}

/** A success is told by its attempt. */
const endText = (entry: EndingFields, naming: Naming): string | undefined => {
  const { outcome, code, attempts, owner } = entry
  if (outcome === 'succeeded') return undefined
  const subject = actionText(entry, naming)
  if (outcome !== 'dead') return `${subject} is not needed any more: ${outcome}${inBrackets(code)}`
  return `${subject} is DEAD after ${attempts} attempts${inBrackets(code)}; the ${owner ?? 'operator'} must look`
}

const inBrackets = (code: string | null | undefined): string => (code ? ` (${code})` : '')

export const authorityText = (authority: string): string => {
  switch (authority) {
    case 'automatic':
      return 'automatically, as the meeting allows'
    case 'organizer':
      return 'by the organizer'
    case 'named_approver':
      return 'by the approver whom the meeting names'
    default:
      return `by ${authority}`
  }
}

export const slotText = (start: string, end: string): string =>
  `${spanText(start)} to ${spanText(end, start)}`
