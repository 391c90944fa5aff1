/**
 * A trace as one page of text, for a reader who saw nothing else: first the answers, then the story they come from. All
 * times are in UTC, people and dispatchers have short names, and nobody is named or addressed. Pure.
 */
import type { MeetingTrace } from './trace.ts'
import {
  actionText,
  callText,
  lineOf,
  slotText,
  type EntryOf,
  type Naming,
  type TraceEntry,
} from './trace-entries.ts'
import { blockedLines, proofText, stateText } from './trace-state.ts'
import { clockText, countText, durationText, listText, spanText } from './trace-words.ts'

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
    ...answer('TOOK', [tookText(trace)]),
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

const namingOf = ({ people, entries }: MeetingTrace, replicas: readonly string[]): Naming => {
  const labelById = new Map(people.map(({ id, label }) => [id, label]))
  const proposals = entries.flatMap((entry) => (entry.type === 'proposal' ? [entry.proposalId] : []))
  return {
    person: (id) => labelById.get(id) ?? id,
    replica: (id) => (replicas.includes(id) ? `d${replicas.indexOf(id) + 1}` : id),
    proposal: (id) => (proposals.includes(id) ? `proposal ${proposals.indexOf(id) + 1}` : id),
  }
}

const peopleLines = ({ people }: MeetingTrace): readonly string[] =>
  people.map(
    ({ label, role, source, id, removed }) =>
      `${label} ${role}, ${source}, ${id}${removed ? ' (takes part no longer)' : ''}`,
  )

const nextLines = ({ next }: MeetingTrace, naming: Naming): readonly string[] => {
  if (next.length === 0) return ['nothing is left to do, and nobody must act']
  const lines = next.map((step) => {
    if (step.type === 'action') return pendingText(step, naming)
    const { owner, code, participantId, until } = step
    const who =
      participantId === undefined ? `the ${owner.replaceAll('_', ' ')}` : naming.person(participantId)
    return `${who} must act: ${code}${until === undefined ? '' : `, until ${spanText(until)}`}`
  })
  const alone = next.every(({ type }) => type === 'action')
  return alone ? ['nobody must act; by itself:', ...lines] : lines
}

const pendingText = (
  step: Extract<MeetingTrace['next'][number], { type: 'action' }>,
  naming: Naming,
): string => {
  const { state, dueAt, heldBy } = step
  const what = actionText(step, naming)
  if (heldBy !== undefined) return `${what}: ${naming.replica(heldBy)} is at it`
  if (state === 'outcome_unknown') return `${what}: rests until it is known what became of it`
  const when = dueAt === undefined ? '' : `, due ${spanText(dueAt)} (${clockText(dueAt)})`
  return `${what}: ${state}${when}`
}

/** The longest first: the one who held everybody up. */
const waitLines = ({ waits }: MeetingTrace, { person }: Naming): readonly string[] => {
  const sorted = waits.toSorted((a, b) => (b.durationMs ?? Infinity) - (a.durationMs ?? Infinity))
  const lines = sorted.slice(0, WAITS_SHOWN).map(({ participantId, round, durationMs, because }) => {
    const time = durationMs === undefined ? 'still' : durationText(durationMs)
    const why = because.length > 0 ? ` because of ${listText(because)}` : ''
    return `${person(participantId)} ${time}${why}${round > 1 ? ` (round ${round})` : ''}`
  })
  const rest = sorted
    .slice(WAITS_SHOWN)
    .map(({ participantId, round }) => `${person(participantId)} in round ${round}`)
  return rest.length === 0 ? lines : [...lines, `and shorter for ${listText(rest)}`]
}

const WAITS_SHOWN = 4

/** What each proposal was made from. */
const knownLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const evidenceById = new Map(
    entries.flatMap((entry) => (entry.type === 'evidence' ? [[entry.evidenceId, entry] as const] : [])),
  )
  const proposals = entries.filter(isA('proposal'))
  return proposals.flatMap((proposal) => {
    const head = `for ${naming.proposal(proposal.proposalId)}, ${slotText(proposal.start, proposal.end)}, chosen at ${clockText(proposal.at)}:`
    const pieces = proposal.evidenceIds.flatMap((id) => {
      const piece = evidenceById.get(id)
      return piece ? [pieceText(piece, naming)] : []
    })
    // Of earlier proposals it is enough to know that they were made from something.
    return proposal === proposals.at(-1)
      ? [head, ...pieces.map((piece) => `  ${piece}`)]
      : [`${head} ${pieces.join('; ')}`]
  })
}

const pieceText = (
  { participantId, source, learned, code, retrievedAt, expiresAt }: EntryOf<'evidence'>,
  { person }: Naming,
): string =>
  `${person(participantId)} ${learned}${code === undefined ? '' : ` (${code})`} by ${source}, as of ${clockText(retrievedAt)}, good until ${spanText(expiresAt)}`

const isA =
  <Type extends TraceEntry['type']>(type: Type) =>
  (entry: TraceEntry): entry is EntryOf<Type> =>
    entry.type === type

/** Operations that only look. Everything else that is called while an event is made or changed may change it. */
const LOOKS = /token|query|schedule|list|get|find/i
const writers = new Set(['scheduling.write_event', 'scheduling.change_event', 'scheduling.cancel_event'])

const writeLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const attempts = entries.filter(isA('attempt')).filter(({ action }) => writers.has(action))
  const writes = attempts.flatMap(({ calls }) => calls.filter(({ operation }) => !LOOKS.test(operation)))
  const asked = entries.filter(isA('attempt')).filter(({ kind }) => kind === 'reconcile').length
  // Whoever lost a lease took its notebook along.
  const unseen = attempts.filter((attempt) => isSilent(attempt) && attempt.startedAt !== undefined)
  if (attempts.length === 0) return ['nothing: the provider was not written to']
  const events = new Set(entries.filter(isA('event_written')).map(({ eventId }) => eventId)).size
  return [
    `${countText(writes.length, 'writing call')}, asked ${countText(asked, 'time')} what became of one, ${countText(events, 'event')} known`,
    ...writes.map((call) => `  ${clockText(call.startedAt)} ${callText(call)}`),
    ...unseen.map(
      ({ replicaId, at }) =>
        `  ${naming.replica(replicaId ?? 'nobody')} went silent during one (until ${clockText(at)}): what it called is not recorded`,
    ),
  ]
}

const isSilent = ({ outcome, code }: EntryOf<'attempt'>): boolean =>
  outcome === 'lease_lost' || code === 'lease_lost'

/** Why what went wrong did no harm. */
const comfortByOutcome: Readonly<Record<string, string>> = {
  lease_lost: 'whoever came next worked under a higher fencing token, so a late answer changes nothing',
  throttled: 'the account rests as long as it asked; no attempt is spent',
  unknown: 'nothing is written again before the provider has been asked',
  retrying: 'nothing was changed by it; it is made again',
  handed_back: 'its dispatcher was told to stop; another one goes on',
  absent: 'not to be seen yet proves nothing; it is asked again',
  dead: 'it is not made again by itself',
}

const wrongLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const failed = entries.filter(isA('attempt')).filter(({ outcome }) => !fine.has(outcome))
  if (failed.length === 0) return ['nothing']
  const groups: { readonly attempt: EntryOf<'attempt'>; readonly again: EntryOf<'attempt'>[] }[] = []
  for (const attempt of failed) {
    const like = groups.findLast((group) => isLike(group.attempt, attempt))
    if (like) like.again.push(attempt)
    else groups.push({ attempt, again: [] })
  }
  return groups.map(({ attempt, again }) => {
    const { at, outcome, code } = attempt
    const silent = isSilent(attempt)
    const what = silent ? `${naming.replica(attempt.replicaId ?? '')} went silent` : (code ?? outcome)
    const comfort = comfortByOutcome[outcome] ?? ''
    return `${clockText(at)} ${actionText(attempt, naming)}: ${what}; ${comfort}${againText(again)}`
  })
}

const fine = new Set(['succeeded', 'suppressed', 'superseded'])

const tookText = ({ stages, openedAt, changedAt }: MeetingTrace): string => {
  const total = Date.parse(changedAt) - Date.parse(openedAt)
  const each = stages.map(({ stage, durationMs }) => `${stage} ${durationText(durationMs)}`)
  return [`${durationText(total)} from the request to the last change`, ...each].join(', ')
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

const isLike = (last: TraceEntry, entry: EntryOf<'attempt'>): boolean =>
  last.type === 'attempt' &&
  last.actionId === entry.actionId &&
  last.outcome === entry.outcome &&
  last.code === entry.code

const againText = (again: readonly EntryOf<'attempt'>[]): string => {
  const last = again.at(-1)
  return last ? `; and ${countText(again.length, 'time')} more like it, until ${spanText(last.at)}` : ''
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
  last.at === entry.at &&
  (entry.type === 'evidence' || entry.type === 'action_enqueued' || entry.type === 'unknown_resolved')

/** What the client was told, and what it did not take. */
const toldLines = ({ entries }: MeetingTrace): readonly string[] => {
  const attempts = entries.filter(isA('attempt')).filter(({ action }) => action === NOTIFY)
  const taken = attempts.filter(({ outcome }) => outcome === 'succeeded')
  if (attempts.length === 0) return ['nothing: no endpoint, or not yet']
  const events = taken.map(({ about }) => about.event ?? 'something')
  return [`${countText(taken.length, 'message')} taken: ${listText(events)}`]
}
