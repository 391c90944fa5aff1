/** Where a meeting stands and what proves its end, in words. Pure. */
import type { MeetingState } from './meeting.ts'
import type { MeetingTrace } from './trace.ts'
import { absenceText, causeText } from './trace-codes.ts'
import type { EntryOf } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { clockText, countText, listText, momentText, spanText } from './trace-words.ts'
import { leftoversIn, standingText } from './trace-written.ts'

const meaningByState = {
  incomplete: 'it was not told everything it needs, and asks',
  gathering: 'everybody’s time is being gathered',
  choosing: 'a time is being looked for',
  awaiting_approval: 'a time was found and waits for approval; nothing is booked',
  booking: 'approved; the event is being written',
  write_uncertain:
    'the answer to a write was lost; the provider is being asked, nothing is written meanwhile',
  verifying: 'the event stands and is being read back; not confirmed yet',
  confirmed: 'the event stands as it was approved, and this was proved',
  no_overlap: 'there is no time at which all required people can',
  lapsed: 'its booking deadline came before an approval; nothing is booked',
  in_repair: 'something is wrong that only a person can put right',
  clearing: 'what stands at the provider is being taken away before it is booked anew',
  cancelling: 'its event is being cancelled at the provider',
  cancelled: 'it was cancelled',
} as const satisfies Record<MeetingState['type'], string>

/** The states in which another time is sought for a meeting that may be booked already. */
const seeking: ReadonlySet<MeetingState['type']> = new Set([
  'gathering',
  'choosing',
  'awaiting_approval',
  'no_overlap',
])

export const stateText = (
  { state, changedAt, standingProposalId, entries }: MeetingTrace,
  { proposal }: Pick<Naming, 'proposal'>,
): string => {
  const code = state.type === 'in_repair' ? ` (${causeText(state.code)})` : ''
  const since = `${state.type.replaceAll('_', ' ')}${code} since ${momentText(changedAt)}`
  if (standingProposalId === undefined || !seeking.has(state.type)) {
    const left = leftoversIn(entries).flatMap((each) => standingText(each, { proposal }) ?? [])
    return [`${since}: ${meaningByState[state.type]}`, ...left].join('; ')
  }
  const meaning = meaningByState[state.type].replace('; nothing is booked', '')
  return `${since}: ${meaning}; the event of ${proposal(standingProposalId)} stands until another time is approved`
}

/** Why there is no time for everybody, and what comes nearest. Empty for a meeting in another state. */
export const blockedLines = (
  { state }: MeetingTrace,
  { person }: Pick<Naming, 'person'>,
): readonly string[] => {
  if (state.type !== 'no_overlap' || !state.because) return []
  const { startsTried, soleBlockers, nearest } = state.because
  if (startsTried === 0) return ['what is left of the window is too short']
  const alone = soleBlockers.map(
    ({ participantId, starts }) =>
      `${person(participantId)} alone stands in the way of ${starts} of ${countText(startsTried, 'start')}`,
  )
  const near = nearest.map(({ start, end, missingRequired }) => {
    const missing = missingRequired.map(
      ({ participantId, because }) => `${person(participantId)} (${absenceText(because)})`,
    )
    return `nearest: ${spanText(start)} to ${spanText(end, start)}, which ${listText(missing)} cannot`
  })
  return [...alone, ...near]
}

/** The states that are an end. A meeting in another one has nothing to prove yet. */
const endWithoutEvent: ReadonlySet<MeetingState['type']> = new Set(['lapsed', 'no_overlap', 'cancelled'])

export const proofText = ({ state, entries }: MeetingTrace, naming: Pick<Naming, 'proposal'>): string => {
  if (state.type === 'cancelled') return cancelProof(entries)
  const proof = entries.findLast((entry) => entry.type === 'completion_verified')
  if (proof?.type === 'completion_verified') {
    const { at, eventId, checks } = proof
    const then = state.type === 'confirmed' ? '' : 'as of then: '
    return `${then}event ${eventId}, read back at ${clockText(at)}, agrees with what was approved in ${countText(checks.length, 'point')} (named below)`
  }
  const left = leftoversIn(entries).flatMap((each) => standingText(each, naming) ?? [])
  if (left.length > 0) return `none yet; ${left.join('; ')}`
  return endWithoutEvent.has(state.type) ? 'none needed: no event stands' : 'none yet'
}

/** A cancelled meeting is proved by what its provider answered to that. */
const cancelProof = (entries: MeetingTrace['entries']): string => {
  const made = entries.findLast(
    (entry) =>
      entry.type === 'attempt' && entry.action === 'scheduling.cancel_event' && entry.outcome === 'succeeded',
  )
  if (made?.type !== 'attempt') return 'none needed: no event stands'
  const answers = made.calls
    .filter(({ operation }) => /delete|cancel/.test(operation))
    .map(({ provider, operation, status }) => `${provider} ${operation} → ${status ?? 'no answer'}`)
  const looked = lookedAfter(entries, made)
  if (answers.length === 0) {
    return `asked at ${clockText(made.at)}, the provider showed no event to take away${looked ?? ''}`
  }
  const what = `taken away at the provider, at ${clockText(made.at)}: ${listText(answers)}`
  return `${what}${looked ?? '; this was answered and not read back'}`
}

/** A later look that found nothing is better than an answer. */
const lookedAfter = (entries: MeetingTrace['entries'], made: EntryOf<'attempt'>): string | undefined => {
  const sweep = entries
    .slice(entries.indexOf(made) + 1)
    .findLast(
      (entry) =>
        entry.type === 'attempt' &&
        entry.action === 'scheduling.sweep_event' &&
        entry.about.proposalId === made.about.proposalId &&
        entry.outcome === 'succeeded',
    )
  if (sweep?.type !== 'attempt') return undefined
  const more = sweep.calls.some(({ outcome }) => outcome === 'cancelled')
  return more
    ? `; looked at again at ${spanText(sweep.at)}: an event that had come to light was taken away`
    : `; looked at again at ${spanText(sweep.at)}: nothing stands`
}
