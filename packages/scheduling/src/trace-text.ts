/**
 * A trace as one page of text, for a reader who saw nothing else: first the answers, then the story they come from. All
 * times are in UTC, people and dispatchers have short names, and nobody is named or addressed. Pure.
 */
import type { MeetingTrace } from './trace.ts'
import { knownLines, toldLines, tookLines, waitLines } from './trace-answers.ts'
import { sourceText } from './trace-codes.ts'
import { lineOf, type EntryOf, type TraceEntry } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { actionText, ONLY_ENDPOINT } from './trace-sentences.ts'
import { againText, isLike, writeLines, wrongLines } from './trace-failures.ts'
import { nextLines } from './trace-next.ts'
import { blockedLines, proofText, stateText } from './trace-state.ts'
import { clockText } from './trace-words.ts'

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
    ...answer('CLIENT', toldLines(trace)),
    ...answer('WENT WRONG', wrongLines(trace, naming)),
    ...answer('PROOF', [proofText(trace)]),
    ...answer('TOOK', tookLines(trace)),
    '',
    ...answer('PEOPLE', peopleLines(trace)),
    ...answer('DISPATCHERS', [replicas.map((id, index) => `d${index + 1} ${id}`).join(', ') || '-']),
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

const namingOf = ({ people, entries, endpointIds }: MeetingTrace, replicas: readonly string[]): Naming => {
  const labelById = new Map(people.map(({ id, label }) => [id, label]))
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
  people.map(
    ({ label, role, source, id, removed }) =>
      `${label} ${role}, ${sourceText(source)}, ${id}${removed ? ' (takes part no longer)' : ''}`,
  )

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
  for (const entry of entries) {
    if (isToldElsewhere(entry)) continue
    const text = lineOf(entry, naming)
    if (text === undefined) continue
    const last = told.at(-1)
    if (last && entry.type === 'attempt' && isLike(last.entry, entry)) {
      told[told.length - 1] = { ...last, again: [...last.again, entry] }
    } else if (last && belongTogether(last, entry)) {
      const more = followsAsked(last, entry) ? actionText(entry, naming) : text
      told[told.length - 1] = { ...last, text: `${last.text}; ${more}`, entry }
    } else {
      told.push({ at: entry.at, text, entry, again: [] })
    }
  }
  return told.flatMap(({ at, text, again }, index) => {
    const today = at.slice(0, 10)
    const line = `  ${clockText(at)}  ${text}${againText(again)}`
    return today === told[index - 1]?.at.slice(0, 10) ? [line] : [`  ${today}`, line]
  })
}

/** A message that was accepted is told by its attempt, what the client was told above, and an approval ends its deadline. */
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
  'proposal',
  'event_written',
  'completion_verified',
  'hold_placed',
  'hold_released',
])
