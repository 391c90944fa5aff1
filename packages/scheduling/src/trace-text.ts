/**
 * A trace as one page of text, for a reader who saw nothing else: first the answers, then the story they come from. All
 * times are in UTC, people and dispatchers have short names, and nobody is named or addressed. Pure.
 */
import type { MeetingTrace } from './trace.ts'
import { endpointsTold, knownLines, toldLines, tookLines, waitLines } from './trace-answers.ts'
import { sourceText } from './trace-codes.ts'
import { lineOf, type EntryOf, type TraceEntry } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { actionText, ONLY_ENDPOINT } from './trace-sentences.ts'
import { againText, isLike, wrongLines } from './trace-failures.ts'
import { nextLines } from './trace-next.ts'
import { blockedLines, proofText, stateText } from './trace-state.ts'
import { clockText, durationText } from './trace-words.ts'
import { isA, writeLines } from './trace-written.ts'

export const traceText = (trace: MeetingTrace): string => {
  const replicas = replicasIn(trace)
  const naming = namingOf(trace, replicas)
  return [
    `Meeting ${trace.meetingId}, revision ${trace.revision}, round ${trace.round}; times in UTC`,
    '',
    ...answer('STANDS', [stateText(trace, naming), ...blockedLines(trace, naming)]),
    ...answer('NEXT', nextLines(trace, naming)),
    ...answer('WAITED FOR', waitLines(trace, naming)),
    ...answer('KNOWN', knownLines(trace, naming)),
    ...answer('WRITTEN', writeLines(trace, naming)),
    ...answer('CLIENT', toldLines(trace, naming)),
    ...answer('WENT WRONG', wrongLines(trace, naming)),
    ...answer('PROOF', [proofText(trace, naming)]),
    ...answer('TOOK', tookLines(trace)),
    '',
    ...answer('PEOPLE', peopleLines(trace)),
    ...answer('DISPATCHERS', [replicas.map((id, index) => `d${index + 1} ${id}`).join(', ') || '-']),
    ...answer('ENDPOINTS', endpointLines(trace, naming)),
    '',
    'STORY',
    ...storyLines(trace.entries, naming),
    '',
  ].join('\n')
}

const COLUMN = 13

const answer = (question: string, lines: readonly string[]): readonly string[] =>
  (lines.length > 0 ? lines : ['-']).map(
    (line, index) => `${(index === 0 ? question : '').padEnd(COLUMN)}${line}`,
  )

/** In the order in which they appear. */
const replicasIn = ({ entries, pending }: MeetingTrace): readonly string[] => [
  ...new Set([
    ...entries.flatMap((entry) =>
      entry.type === 'attempt' && entry.replicaId !== null ? [entry.replicaId] : [],
    ),
    ...pending.flatMap(({ heldBy }) => heldBy ?? []),
  ]),
]

const namingOf = ({ people, entries, endpoints }: MeetingTrace, replicas: readonly string[]): Naming => {
  const labelById = new Map(people.map(({ id, label }) => [id, label]))
  const endpointIds = endpoints.map(({ id }) => id)
  const proposals = entries.flatMap((entry) => (entry.type === 'proposal' ? [entry.proposalId] : []))
  return {
    person: (id) => labelById.get(id) ?? id,
    replica: (id) => (replicas.includes(id) ? `d${replicas.indexOf(id) + 1}` : id),
    proposal: (id) => (proposals.includes(id) ? `proposal ${proposals.indexOf(id) + 1}` : id),
    endpoint: (id) =>
      endpointIds.length > 1 && endpointIds.includes(id)
        ? `webhook endpoint ${endpointIds.indexOf(id) + 1}`
        : ONLY_ENDPOINT,
  }
}

const peopleLines = ({ people }: MeetingTrace): readonly string[] =>
  people.map((one) => {
    const { label, role, source, id, removed, replaces } = one
    const before = people.find((each) => each.id === replaces?.participantId)
    const after = people.find((each) => each.replaces?.participantId === id)
    const notes = [
      ...(before ? [`takes the place of ${before.label}${replacedText(replaces?.because)}`] : []),
      ...(removed ? [`takes part no longer${after ? `: ${after.label} has this place` : ''}`] : []),
    ]
    return `${label} ${role}, ${sourceText(source)}, ${id}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
  })

const replacedText = (because: string | undefined): string => {
  if (because === 'correct_address') return ', the same person: address corrected'
  return because === 'substitute_person' ? ' as a substitute' : ''
}

/** Those that the page names. */
const endpointLines = ({ entries, endpoints }: MeetingTrace, { endpoint }: Naming): readonly string[] => {
  const told = endpointsTold(entries)
  return endpoints
    .filter(({ id }) => told.includes(id))
    .map(({ id, disabled }) => `${endpoint(id)} ${id}${disabled ? ' (disabled)' : ''}`)
}

interface Line {
  readonly at: string
  readonly text: string
  readonly entry: TraceEntry
  /** Attempts after this one that came to the same. */
  readonly again: readonly EntryOf<'attempt'>[]
}

/**
 * What belongs together stands in one line: a read and what it showed, and what one transaction asked for behind what
 * it was about. Each new day is named.
 */
const storyLines = (entries: readonly TraceEntry[], naming: Naming): readonly string[] => {
  const told: Line[] = []
  const delivered = new Map(
    entries
      .filter(isA('attempt'))
      .filter(({ action, outcome }) => action === NOTIFY && outcome === 'succeeded')
      .map((attempt) => [attempt.actionId, deliveryText(attempt, naming)]),
  )
  const deliveryOf = (entry: TraceEntry): string =>
    entry.type === 'action_enqueued' ? (delivered.get(entry.actionId) ?? '') : ''
  for (const entry of entries) {
    if (isToldElsewhere(entry)) continue
    const text = lineOf(entry, naming)
    if (text === undefined) continue
    const last = told.at(-1)
    if (last && entry.type === 'attempt' && isLike(last.entry, entry)) {
      told[told.length - 1] = { ...last, again: [...last.again, entry] }
    } else if (last && belongTogether(last, entry)) {
      const more = followsAsked(last, entry) ? actionText(entry, naming) : text
      told[told.length - 1] = { ...last, text: `${last.text}; ${more}${deliveryOf(entry)}`, entry }
    } else {
      told.push({ at: entry.at, text: `${text}${deliveryOf(entry)}`, entry, again: [] })
    }
  }
  return told.flatMap(({ at, text, again }, index) => {
    const today = at.slice(0, 10)
    const line = `  ${clockText(at)}  ${text}${againText(again)}`
    return today === told[index - 1]?.at.slice(0, 10) ? [line] : [`  ${today}`, line]
  })
}

/** When, by whom and in which call the client was told, behind what asked for it. */
const deliveryText = ({ at, attempt, replicaId, calls }: EntryOf<'attempt'>, naming: Naming): string => {
  const call = calls.at(-1)
  const how = call ? `, ${call.status ?? 'no answer'} in ${durationText(call.durationMs)}` : ''
  const which = attempt > 1 ? `, attempt ${attempt}` : ''
  return ` (told ${clockText(at)}${how}, ${naming.replica(replicaId ?? '')}${which})`
}

/** A message that was accepted is told by its attempt, a delivery behind what asked for it, and an approval ends its deadline. */
const isToldElsewhere = (entry: TraceEntry): boolean =>
  (entry.type === 'message_sent' && entry.outcome === 'accepted') ||
  (entry.type === 'attempt' && entry.action === NOTIFY && entry.outcome === 'succeeded') ||
  (entry.type === 'action_ended' && entry.outcome === 'superseded')

const NOTIFY = 'scheduling.notify_client'

const followsAsked = ({ entry: last }: Line, entry: TraceEntry): entry is EntryOf<'action_enqueued'> =>
  last.type === 'action_enqueued' && entry.type === 'action_enqueued'

const belongTogether = (last: Line, entry: TraceEntry): boolean =>
  last.at === entry.at && joining.has(entry.type)

const joining: ReadonlySet<TraceEntry['type']> = new Set<TraceEntry['type']>([
  'evidence',
  'action_enqueued',
  'unknown_resolved',
  'repair_opened',
  'repair_resolved',
  'proposal',
  'event_written',
  'completion_verified',
  'hold_placed',
  'hold_released',
])
