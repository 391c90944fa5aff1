import { formatInstant } from '@aftercommit/time'
import { BERLIN, NEW_YORK } from './zones.ts'
import { knownEntries, type Attempt, type KnownEntries, type TraceEntry } from './trace-kinds.ts'

export interface Names {
  readonly personById: ReadonlyMap<string, string>
  readonly dispatcherOf: (replicaId: string | null) => string
}

/** What is said of each kind. Undefined for what needs no line. */
const lines: {
  readonly [Type in keyof KnownEntries]: (entry: KnownEntries[Type], names: Names) => string | undefined
} = {
  meeting_opened: () => undefined,
  exception_opened: ({ code, owner }) => `Something is missing (${code}): the ${owner} is asked.`,
  exception_ended: ({ code, state }) =>
    state === 'resolved'
      ? `What was missing (${code}) is told.`
      : `What was missing (${code}) was never told.`,
  // What is asked for is told when it is done.
  action_enqueued: () => undefined,
  attempt: (entry, names) => attemptLine(entry, names),
  unknown_resolved: ({ action, outcome, code }) =>
    outcome === 'succeeded'
      ? `So ${verbOf(action)} had its effect, although its answer was lost: it is not made again.`
      : `So ${verbOf(action)} had no effect (${code ?? outcome}): it is made again.`,
  action_ended: ({ action, outcome, owner }) =>
    outcome === 'dead' ? `${verbOf(action)} is dead: the ${owner ?? 'operator'} must look.` : undefined,
  evidence: ({ participantId, learned }, { personById }) => {
    const who = personById.get(participantId) ?? participantId
    if (learned === 'unknown') return `${who}'s time is not known, and not taken as free.`
    return learned === 'known' ? `${who}'s busy times are known.` : `${who} has told when they can.`
  },
  proposal: ({ start }) => `A time for everybody: ${bothClocks(start)}.`,
  approval: ({ authority }) =>
    `Approved (${authority.replaceAll('_', ' ')}): one immutable write is committed with the approval.`,
  hold_placed: () => undefined,
  hold_released: ({ people, state }) =>
    `The time of ${people} ${people === 1 ? 'person' : 'people'} is given back: the meeting is ${state.replaceAll('_', ' ')}.`,
  decision: ({ decision, by, because, participantIds }, { personById }) => {
    const people = participantIds.map((id) => personById.get(id) ?? id).join(', ')
    const why = because === undefined ? '' : `, because of ${because.replaceAll('_', ' ')}`
    return `Decided: ${decision.replaceAll('_', ' ')}${why} (${by.replaceAll('_', ' ')}${people === '' ? '' : `; ${people}`}).`
  },
  event_written: ({ provider }) => `The event is at ${provider}. It is not called confirmed yet.`,
  completion_verified: ({ checks }) =>
    `Read back and proved in ${checks.length} points: ${checks.join(', ')}.`,
  message_sent: ({ participantId, kind, outcome }, { personById }) =>
    `A mail to ${personById.get(participantId ?? '') ?? 'the approver'} (${kind.replaceAll('_', ' ')}): ${outcome}.`,
  reply_received: ({ participantId, unclear }, { personById }) =>
    `${personById.get(participantId) ?? participantId} answered in words${unclear.length > 0 ? ', not all of them clear' : ''}: nothing acts on them unconfirmed.`,
  repair_resolved: ({ code, choice = 'the end of the meeting' }) =>
    `The repair of ${code} is resolved by ${choice.replaceAll('_', ' ')}.`,
  repair_opened: ({ code, owner }) => `A repair is open: ${code}, owned by ${owner}.`,
}

/** One line of the story for one entry of the trace; undefined for what needs no line. */
export const narrate = (entry: TraceEntry, names: Names): string | undefined =>
  isKnown(entry.type) ? known(entry.type, entry, names) : generic(entry)

const isKnown = (type: string): type is keyof KnownEntries => Object.hasOwn(knownEntries, type)

const known = <Type extends keyof KnownEntries>(
  type: Type,
  entry: TraceEntry,
  names: Names,
): string | undefined => {
  const parsed = knownEntries[type].safeParse(entry)
  return parsed.success ? lines[type](parsed.data, names) : generic(entry)
}

/** A kind that came into the API after this story was written. */
const generic = ({ type }: TraceEntry): string =>
  `The trace tells of something more: ${type.replaceAll('_', ' ')}.`

/** Why what happened did no harm. */
const reasons: Readonly<Record<string, string>> = {
  calendar_internal: 'A calendar that cannot be read is not free: it is read again.',
  throttled: 'The account rests as long as asked; no attempt is spent.',
  unknown: 'Nothing is written again before the provider has been asked.',
}

const verbOf = (action: string): string =>
  action
    .replace(/^[^.]*\./, '')
    .replace('#reconcile', '')
    .replaceAll('_', ' ')

const attemptLine = (entry: Attempt, names: Names): string => {
  const { replicaId, outcome, kind } = entry
  const who = names.dispatcherOf(replicaId)
  const { participantId } = entry.about
  const whose =
    participantId === undefined ? '' : ` of ${names.personById.get(participantId) ?? participantId}`
  const verb = `${verbOf(entry.action)}${whose}`
  if (outcome === 'lease_lost') {
    return `${who} went silent over ${verb}: its lease ran out. Whoever comes next works under a higher fencing token.`
  }
  const calls = entry.calls
    .filter(({ operation }) => operation !== 'token')
    .map(
      ({ provider, operation, status, outcome: answer }) => `${provider} ${operation} → ${status ?? answer}`,
    )
  const detail = calls.length > 0 ? `: ${calls.join(', ')}` : ''
  const code = entry.code === null ? '' : ` (${entry.code})`
  const why = reasons[entry.code ?? ''] ?? reasons[outcome]
  const asking = kind === 'reconcile' ? 'asks what became of ' : ''
  return `${who}: ${asking}${verb}${detail} ⇒ ${outcome}${code}${why === undefined ? '' : `. ${why}`}`
}

export const bothClocks = (instant: string): string => {
  const at = new Date(instant)
  const pattern = 'EEE d MMM yyyy HH:mm'
  return `${formatInstant(at, BERLIN, pattern)} in Berlin, ${formatInstant(at, NEW_YORK, 'HH:mm')} in New York`
}
