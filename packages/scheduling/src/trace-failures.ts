/** What was written to the provider, and what went wrong, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import { causeText, outcomeText } from './trace-codes.ts'
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { actionText, callText } from './trace-sentences.ts'
import { clockText, countText, spanText } from './trace-words.ts'

export const isA =
  <Type extends TraceEntry['type']>(type: Type) =>
  (entry: TraceEntry): entry is EntryOf<Type> =>
    entry.type === type

/** Operations that only look. Everything else that is called while an event is made or changed may change it. */
const LOOKS = /token|query|schedule|list|get|find/i
const writers = new Set([
  'scheduling.write_event',
  'scheduling.change_event',
  'scheduling.cancel_event',
  'scheduling.sweep_event',
])

export const writeLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const attempts = entries.filter(isA('attempt')).filter(({ action }) => writers.has(action))
  // A call is dated by the attempt that made it: a dispatcher's own clock is not the one that the story is told by.
  const writes = attempts.flatMap(({ at, calls }) =>
    calls.filter(({ operation }) => !LOOKS.test(operation)).map((call) => ({ at, call })),
  )
  const asked = entries.filter(isA('attempt')).filter(({ kind }) => kind === 'reconcile').length
  // Whoever lost a lease took its notebook along.
  const unseen = attempts.filter((attempt) => isSilent(attempt) && attempt.startedAt !== undefined)
  if (attempts.length === 0) return ['nothing: the provider was not written to']
  const events = new Set(entries.filter(isA('event_written')).map(({ eventId }) => eventId)).size
  return [
    `${countText(writes.length, 'writing call')}, asked ${countText(asked, 'time')} what became of one, ${countText(events, 'event')} known`,
    ...writes.map(({ at, call }) => `  by ${clockText(at)} ${callText(call)}`),
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

export const wrongLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
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
    const what = silent
      ? `${naming.replica(attempt.replicaId ?? '')} went silent`
      : code === null
        ? outcomeText(outcome)
        : causeText(code)
    const comfort = comfortByOutcome[outcome] ?? ''
    return `${clockText(at)} ${actionText(attempt, naming)}: ${what}; ${comfort}${againText(again)}`
  })
}

const fine = new Set(['succeeded', 'suppressed', 'superseded'])

export const isLike = (last: TraceEntry, entry: EntryOf<'attempt'>): boolean =>
  last.type === 'attempt' &&
  last.actionId === entry.actionId &&
  last.outcome === entry.outcome &&
  last.code === entry.code

export const againText = (again: readonly EntryOf<'attempt'>[]): string => {
  const last = again.at(-1)
  return last ? `; and ${countText(again.length, 'time')} more like it, until ${spanText(last.at)}` : ''
}
