/** What was written to the provider, and what of it stands, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import { causeText } from './trace-codes.ts'
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import type { Naming, TracedCall } from './trace-fields.ts'
import { actionText, callText } from './trace-sentences.ts'
import { clockText, countText } from './trace-words.ts'

export const isA =
  <Type extends TraceEntry['type']>(type: Type) =>
  (entry: TraceEntry): entry is EntryOf<Type> =>
    entry.type === type

const WRITE = 'scheduling.write_event'
const clearers = new Set(['scheduling.cancel_event', 'scheduling.sweep_event'])
const writers = new Set([WRITE, 'scheduling.change_event', ...clearers])

/** Operations that only look. Everything else that is called while an event is made or changed may change it. */
const LOOKS = /token|query|schedule|list|get|find/i
const isWriting = ({ operation }: TracedCall): boolean => !LOOKS.test(operation)
const isTakingAway = ({ outcome }: TracedCall): boolean => outcome === 'cancelled'

/** What a write left, or may have left, at the provider although it was given up. */
export interface Leftover {
  readonly proposalId: string | undefined
  readonly at: string
  readonly provider: string
  readonly code: string
  /** How many events were found; undefined: nobody could tell. */
  readonly found: number | undefined
  /** When it was looked for and taken away, or made what the meeting wants. */
  readonly settled: { readonly at: string; readonly cancelled: number; readonly kept: boolean } | undefined
}

/** How many events the question found, where that is why the write was given up. */
const foundByCode: Readonly<Record<string, number>> = {
  invalid_attendee: 1,
  event_altered: 1,
  several_events: 2,
  event_cancelled: 0,
}

export const leftoversIn = (entries: readonly TraceEntry[]): readonly Leftover[] =>
  entries.filter(isA('action_ended')).flatMap((ended) => {
    const { action, outcome, at, code, about } = ended
    if (outcome !== 'dead' || action !== WRITE) return []
    const repair = entries.filter(isA('repair_opened')).find((opened) => opened.at === at)
    if (repair?.class !== 'uncertain') return []
    const [call] = callsOf(entries, about.proposalId)
    return [
      {
        proposalId: about.proposalId,
        at,
        provider: call?.provider ?? 'the provider',
        code: code ?? 'other',
        found: foundByCode[code ?? ''],
        settled: settledAfter(entries, ended),
      },
    ]
  })

const callsOf = (entries: readonly TraceEntry[], proposalId: string | undefined): readonly TracedCall[] =>
  entries
    .filter(isA('attempt'))
    .filter(({ action, about }) => writers.has(action) && about.proposalId === proposalId)
    .flatMap(({ calls }) => calls.filter(isWriting))

const settledAfter = (
  entries: readonly TraceEntry[],
  ended: EntryOf<'action_ended'>,
): Leftover['settled'] => {
  const { proposalId } = ended.about
  const later = entries.slice(entries.indexOf(ended))
  const kept = later.filter(isA('event_written')).find((entry) => entry.proposalId === proposalId)
  const cleared = later
    .filter(isA('attempt'))
    .find(
      ({ action, outcome, about }) =>
        clearers.has(action) && outcome === 'succeeded' && about.proposalId === proposalId,
    )
  const first = cleared ?? kept
  return (
    first && {
      at: first.at,
      cancelled: cleared?.calls.filter(isTakingAway).length ?? 0,
      kept: kept !== undefined,
    }
  )
}

/** `an event of proposal 1 stands at microsoft, to be taken away`, of what is not settled yet. */
export const standingText = (
  { proposalId, provider, found, settled }: Leftover,
  { proposal }: Pick<Naming, 'proposal'>,
): string | undefined => {
  if (settled || found === 0) return undefined
  const of = proposalId === undefined ? '' : ` of ${proposal(proposalId)}`
  if (found === undefined) return `an event${of} may stand at ${provider}, to be looked for and taken away`
  return found > 1
    ? `several events${of} stand at ${provider}, all but one at most to be taken away`
    : `an event${of} stands at ${provider}, to be taken away`
}

const leftoverText = (leftover: Leftover, naming: Naming): string => {
  const { proposalId, at, provider, code, found, settled } = leftover
  const standing = standingText(leftover, naming)
  const why = causeText(code)
  if (standing !== undefined) return `${standing}: ${why} (found at ${clockText(at)})`
  const of = proposalId === undefined ? '' : ` of ${naming.proposal(proposalId)}`
  if (!settled) return `an event${of} had been made at ${provider}, and was cancelled there: ${why}`
  const then = clockText(settled.at)
  if (found === undefined)
    return settled.cancelled > 0
      ? `an event${of} stood at ${provider} all the same; taken away at ${then}`
      : `an event${of} might have stood at ${provider} (${why}); looked for at ${then}: none to take away`
  const made = found > 1 ? `several events${of}` : `an event${of}`
  return `${made} stood at ${provider} all the same (${why}); ${settlementText(settled)} at ${then}`
}

const settlementText = ({ cancelled, kept }: NonNullable<Leftover['settled']>): string => {
  if (kept) return cancelled > 0 ? 'all but one taken away' : 'kept'
  return cancelled > 0 ? 'taken away' : 'found to be gone'
}

/** What was found cancelled had been made. */
const madeOf = ({ found, code }: Leftover): number => (code === 'event_cancelled' ? 1 : (found ?? 0))

/** How many events are known to have been made, and how many were taken away again by this service. */
export const countEvents = (
  entries: readonly TraceEntry[],
): { readonly made: number; readonly takenAway: number } => {
  const written = entries.filter(isA('event_written'))
  const cancels = entries.filter(isA('attempt')).filter(({ action }) => clearers.has(action))
  const cancelledOf = (id: string | undefined): number =>
    cancels
      .filter(({ about }) => about.proposalId === id)
      .reduce((sum, { calls }) => sum + calls.filter(isTakingAway).length, 0)
  const leftovers = leftoversIn(entries)
  const proposals = new Set([
    ...leftovers.map(({ proposalId }) => proposalId),
    ...cancels.map(({ about }) => about.proposalId),
  ])
  const unrecorded = [...proposals].map((id) => {
    const recorded = new Set(
      written.filter(({ proposalId }) => proposalId === id).map(({ eventId }) => eventId),
    ).size
    const seen = leftovers.filter(({ proposalId }) => proposalId === id).map(madeOf)
    return Math.max(0, Math.max(0, ...seen, cancelledOf(id)) - recorded)
  })
  const made = new Set(written.map(({ eventId }) => eventId)).size
  return {
    made: unrecorded.reduce((sum, count) => sum + count, made),
    takenAway: [...proposals].reduce((sum, id) => sum + cancelledOf(id), 0),
  }
}

export const writeLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const attempts = entries.filter(isA('attempt')).filter(({ action }) => writers.has(action))
  // A call is dated by the attempt that made it: a dispatcher's own clock is not the one that the story is told by.
  const writes = attempts.flatMap((attempt) =>
    attempt.calls.filter(isWriting).map((call) => ({ attempt, call })),
  )
  const asked = entries.filter(isA('attempt')).filter(({ kind }) => kind === 'reconcile').length
  // Whoever lost a lease took its notebook along.
  const unseen = attempts.filter((attempt) => isSilent(attempt) && attempt.startedAt !== undefined)
  if (attempts.length === 0) return ['nothing: the provider was not written to']
  const { made, takenAway } = countEvents(entries)
  return [
    `${countText(writes.length, 'writing call')}, asked ${countText(asked, 'time')} what became of one; ${countText(made, 'event')} made as far as is known, ${takenAway} taken away again`,
    ...writes.map(
      ({ attempt, call }) =>
        `  ${actionText(attempt, naming)}, ended ${clockText(attempt.at)}: ${callText(call)}`,
    ),
    ...unseen.map(
      ({ replicaId, at }) =>
        `  ${naming.replica(replicaId ?? 'nobody')} went silent during one (until ${clockText(at)}): what it called is not recorded`,
    ),
    ...leftoversIn(entries).map((leftover) => `  ${leftoverText(leftover, naming)}`),
  ]
}

export const isSilent = ({ outcome, code }: EntryOf<'attempt'>): boolean =>
  outcome === 'lease_lost' || code === 'lease_lost'
