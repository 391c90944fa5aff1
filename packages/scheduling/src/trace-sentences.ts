/** How entries of a trace read. Pure. */
import type { Ranking } from './ranking.ts'
import {
  causeText,
  clientEventText,
  lookAgainText,
  lookText,
  messageText,
  outcomeText,
  ownerText,
  verbOf,
} from './trace-codes.ts'
import type {
  ActionFields,
  AttemptFields,
  EndingFields,
  DecisionFields,
  Naming,
  TracedCall,
} from './trace-fields.ts'
import { clockText, countText, durationText, listText, spanText } from './trace-words.ts'

/** `read availability of p2` */
export const actionText = (
  { action: name, kind: what, about }: Pick<ActionFields, 'action' | 'kind' | 'about'>,
  { person, proposal, endpoint }: Naming,
): string => {
  const verb = verbOf(name)
  const objects = [
    ...(about.participantId === undefined ? [] : [person(about.participantId)]),
    ...(about.proposalId === undefined ? [] : [proposal(about.proposalId)]),
    ...(about.event === undefined ? [] : [clientEventText(about.event)]),
    ...(about.kind === undefined ? [] : [messageText(about.kind)]),
    ...(about.look === undefined ? [] : [lookText(about.look)]),
    ...(about.number !== undefined && about.number > 1 ? [`message ${about.number}`] : []),
    ...(about.endpointId === undefined || endpoint(about.endpointId) === ONLY_ENDPOINT
      ? []
      : [endpoint(about.endpointId)]),
  ]
  const object = objects.length > 0 ? ` [${objects.join(', ')}]` : ''
  return what === 'reconcile' ? `what became of ${verb}${object}` : `${verb}${object}`
}

export const attemptText = (entry: AttemptFields, naming: Naming): string => {
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
  return `${who} ${verb}${actionText(entry, naming)}${took}${called} ⇒ ${outcomeText(outcome)}${inBrackets(code)}`
}

export const callText = ({ provider, operation, status, outcome, durationMs }: TracedCall): string =>
  `${provider} ${operation} → ${status ?? 'no answer'}${exchangeText(outcome, status)} (${durationText(durationMs)})`

/** `written`, or what a failure was: `refused: the provider knows this grant no longer`. */
const exchangeText = (outcome: string, status: number | null | undefined): string => {
  const [type = '', code] = outcome.split(':')
  if (code === undefined) return ` ${type.replaceAll('_', ' ')}`
  // The number has said it.
  if (code === `http_${status ?? ''}`) return ''
  return type === 'uncertain' ? `, ${causeText(code)}` : ` ${type.replaceAll('_', ' ')}, ${causeText(code)}`
}

export const resolutionText = ({ outcome, code }: { outcome: string; code: string | null }): string => {
  if (outcome === 'succeeded') return 'it had its effect; it is not made again'
  if (outcome === 'retrying') return `it had none${inBrackets(code)}; it is made again`
  return `${outcomeText(outcome)}${inBrackets(code)}`
}

/** A success is told by its attempt. */
export const endText = (entry: EndingFields, naming: Naming): string | undefined => {
  const { outcome, code, attempts, owner } = entry
  if (outcome === 'succeeded') return undefined
  const subject = actionText(entry, naming)
  if (outcome !== 'dead') return `${subject} is left undone${inBrackets(code)}`
  return `${subject} is DEAD after ${countText(attempts, 'attempt')}${inBrackets(code)}; ${ownerText(owner ?? 'operations')} must look`
}

export const inBrackets = (code: string | null | undefined): string => (code ? ` (${causeText(code)})` : '')

/** How the client's only endpoint is called: naming it would tell nothing. */
export const ONLY_ENDPOINT = 'the webhook endpoint'

export const authorityText = (authority: string): string =>
  authority === 'automatic' ? 'automatically, as the meeting allows' : `by ${ownerText(authority)}`

/** Why a hold is no more, by what the meeting is since. */
export const releaseText = (state: string): string => {
  switch (state) {
    case 'cancelled':
      return 'the meeting is cancelled'
    case 'lapsed':
      return 'the deadline came before an approval'
    case 'confirmed':
    case 'verifying':
      return 'the meeting stands at another time'
    case 'gathering':
    case 'choosing':
    case 'no_overlap':
      return 'another time is looked for'
    default:
      return 'the meeting has moved on'
  }
}

export const decisionText = (
  { decision: what, by, because, participantIds }: DecisionFields,
  { person }: Naming,
): string => {
  const people = listText(participantIds.map(person))
  const who = by === 'participant' ? people : ownerText(by)
  switch (what) {
    case 'rescheduled':
      return `${who} asked for another time; the booking stands until one is approved`
    case 'cancelled':
      return `${who} cancelled the meeting`
    case 'lapsed':
      return 'the booking deadline came before an approval: the meeting lapses'
    case 'change_lapsed':
      return 'the deadline came before the change was approved: the booking stays as it was'
    case 'change_withdrawn':
      return `${who} gave the change up: the booking stays as it was`
    case 'looked_again':
      return `a time is looked for again: ${lookAgainText(because ?? '')}${people === '' ? '' : ` (${people})`}`
    case 'calendar_connected':
      return `${who} named a calendar for ${people}`
    case 'calendar_reconnected':
      return `${who} gave access to it again${people === '' ? '' : ` (${people})`}`
    case 'contact_refused':
      return `${who} does not want to be written to any more`
  }
}

/** What a time was ranked by, what counts most first. */
export const rankingText = (ranking: Ranking): string => ranking.map(criterionText).join(', then ')

const criterionText = (ranked: Ranking[number]): string => {
  switch (ranked.criterion) {
    case 'optional_attendance':
      return `${ranked.value === 0 ? 'no optional person' : countText(ranked.value, 'optional person', 'optional people')} can come`
    case 'preferred_time':
      return ranked.value ? 'within a preferred time' : 'outside of the preferred times'
    case 'earliest':
      return 'the earliest start'
    case 'latest':
      return 'the latest start'
  }
}

export const slotText = (start: string, end: string): string =>
  `${spanText(start)} to ${spanText(end, start)}`
