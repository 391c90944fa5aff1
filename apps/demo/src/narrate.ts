import { formatInstant } from '@aftercommit/time'
import { BERLIN, NEW_YORK } from './cast.ts'
import type { TraceEntry } from './client.ts'

export interface Names {
  readonly personById: ReadonlyMap<string, string>
  readonly dispatcherOf: (replicaId: string | null) => string
}

/** One line of the story for one entry of the trace; undefined for what needs no line. */
export const narrate = (entry: TraceEntry, names: Names): string | undefined => {
  switch (entry.type) {
    case 'action_enqueued':
      return undefined
    case 'attempt':
      return attemptLine(entry, names)
    case 'action_ended':
      return entry.outcome === 'dead' ? `${entry.action} is dead: a person must look.` : undefined
    case 'evidence': {
      const who = names.personById.get(entry.participantId) ?? entry.participantId
      return entry.known
        ? `${who}'s busy times are known.`
        : `${who}'s time is not known, and not taken as free.`
    }
    case 'proposal':
      return `A time for everybody: ${bothClocks(entry.start)}.`
    case 'approval':
      return `Approved (${entry.authority}): one immutable write is committed with the approval.`
    case 'event_written':
      return `The event is at ${entry.provider}. It is not called confirmed yet.`
    case 'completion_verified':
      return `Read back and proved in ${entry.checks.length} points: ${entry.checks.join(', ')}.`
    case 'repair_opened':
      return `A repair is open: ${entry.code}, owned by ${entry.owner}.`
  }
}

/** Why what happened did no harm. */
const reasons: Readonly<Record<string, string>> = {
  calendar_internal: 'A calendar that cannot be read is not free: it is read again.',
  throttled: 'The account rests as long as asked; no attempt is spent.',
  unknown: 'Nothing is written again before the provider has been asked.',
  lease_lost: 'Its holder went silent; whoever comes next works under a higher fencing token.',
}

const attemptLine = (entry: Extract<TraceEntry, { type: 'attempt' }>, names: Names): string => {
  const calls = entry.calls
    .filter(({ operation }) => operation !== 'token')
    .map(({ provider, operation, status, outcome }) => `${provider} ${operation} → ${status ?? outcome}`)
  const verb = entry.action.replace('scheduling.', '').replace('#reconcile', ' (asking)').replaceAll('_', ' ')
  const code = entry.code === null ? '' : ` (${entry.code})`
  if (entry.replicaId === null) return `The unknown outcome of ${verb} is settled ⇒ ${entry.outcome}`
  const why = reasons[entry.code ?? ''] ?? reasons[entry.outcome]
  const detail = calls.length > 0 ? `: ${calls.join(', ')}` : ''
  return `${names.dispatcherOf(entry.replicaId)}: ${verb}${detail} ⇒ ${entry.outcome}${code}${why === undefined ? '' : `. ${why}`}`
}

export const bothClocks = (instant: string): string => {
  const at = new Date(instant)
  const pattern = 'EEE d MMM yyyy HH:mm'
  return `${formatInstant(at, BERLIN, pattern)} in Berlin, ${formatInstant(at, NEW_YORK, 'HH:mm')} in New York`
}
