/**
 * Every kind of entry that a trace may hold: what it carries, and how it reads. A kind is declared in one place, as
 * both; one without a text does not compile. Pure.
 */
import { z } from 'zod'
import { ProposalGrounds } from './slot.ts'
import {
  absenceText,
  causeText,
  checkText,
  choiceText,
  messageOutcomeText,
  messageText,
  missingText,
  ownerText,
  sourceText,
  unclearText,
} from './trace-codes.ts'
import { Instant, Id, Code, action, attempt, ending, decision, type Naming } from './trace-fields.ts'
import {
  actionText,
  attemptText,
  authorityText,
  decisionText,
  endText,
  inBrackets,
  rankingText,
  releaseText,
  resolutionText,
  slotText,
} from './trace-sentences.ts'
import { clockText, countText, listText, spanText } from './trace-words.ts'

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
    ({ code, owner, lapsesAt }) =>
      `missing: ${missingText(code)}; asked of ${ownerText(owner)}, lapses ${spanText(lapsesAt)}`,
  ),
  exception_ended: kind(
    'exception_ended',
    { exceptionId: Id, code: z.string(), state: z.string() },
    ({ code, state }) =>
      state === 'resolved' ? `told: ${missingText(code)}` : `never told: ${missingText(code)}`,
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
        return `${who}: time NOT known (${sourceText(source)}: ${causeText(code ?? 'other')}); not taken as free`
      const what = learned === 'known' ? 'busy times known' : 'told when they can'
      return `${who}: ${what} (${sourceText(source)}), good until ${spanText(expiresAt)}`
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
      const without = grounds.optionalMissing.map(
        ({ id, because }) => `${person(id)} (${absenceText(because)})`,
      )
      const missing = without.length > 0 ? `, without ${listText(without)}` : ''
      const [next] = grounds.alternatives
      const ranked = grounds.ranking.length > 0 ? `; what counted: ${rankingText(grounds.ranking)}` : ''
      const instead = next ? `; next best: ${slotText(next.start, next.end)}` : ''
      return `${proposal(proposalId)}: ${slotText(start, end)}, from ${countText(evidenceIds.length, 'calendar read or answer', 'calendar reads and answers')} (under KNOWN)${missing}${ranked}${instead}`
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
      `the time of ${countText(people, 'person', 'people')} is held for ${proposal(proposalId)}`,
  ),
  hold_released: kind(
    'hold_released',
    {
      proposalId: Id,
      people: z.int(),
      placedAt: Instant,
      state: z.string().meta({ description: 'The state of the meeting that has it no more.' }),
    },
    ({ proposalId, people, placedAt, state }, { proposal }) =>
      `the time of ${countText(people, 'person', 'people')}, held for ${proposal(proposalId)} since ${clockText(placedAt)}, is given back: ${releaseText(state)}`,
  ),
  decision: kind('decision', decision, (entry, naming) => decisionText(entry, naming)),
  event_written: kind(
    'event_written',
    { proposalId: Id, provider: z.string(), eventId: z.string() },
    ({ provider, eventId }) => `the event stands at ${provider}: ${eventId}; not confirmed yet`,
  ),
  completion_verified: kind(
    'completion_verified',
    { proposalId: Id, eventId: z.string(), checks: z.array(z.string()) },
    ({ checks }) =>
      `read back and proved in ${countText(checks.length, 'point')}: ${checks.map(checkText).join(', ')}`,
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
      `mail to ${participantId === undefined ? 'the approver' : person(participantId)} (${messageText(what)}): ${messageOutcomeText(outcome)}${inBrackets(code)}`,
  ),
  reply_received: kind(
    'reply_received',
    { participantId: Id, unclear: z.array(z.string()) },
    ({ participantId, unclear }, { person }) =>
      `${person(participantId)} answered in words${unclear.length > 0 ? `; unclear: ${listText(unclear.map(unclearText))}` : ''}; nothing acts on it unconfirmed`,
  ),
  repair_opened: kind(
    'repair_opened',
    {
      repairId: Id,
      code: z.string(),
      owner: z.string(),
      participantIds: z.array(Id),
      class: z.string().optional().meta({
        description:
          'How the action behind it failed; `uncertain`: what it wrote stands, or may stand, at the provider.',
      }),
    },
    ({ code, owner, participantIds, class: failure }, { person }) =>
      `repair needed: ${causeText(code)}${participantIds.length > 0 ? ` (${listText(participantIds.map(person))})` : ''}${failure === 'uncertain' ? '; what was written stands, or may stand, at the provider (class uncertain)' : ''}; ${ownerText(owner)} must act`,
  ),
  repair_resolved: kind(
    'repair_resolved',
    { repairId: Id, code: z.string(), choice: z.string().optional(), authority: z.string().optional() },
    ({ code, choice, authority }) =>
      choice === undefined
        ? `no repair is needed any more (${causeText(code)})`
        : `${ownerText(authority ?? 'organizer')} chose to ${choiceText(choice)} (${causeText(code)})`,
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
