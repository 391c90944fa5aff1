/** What went wrong and how each of it ended, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import { causeText, choiceText, outcomeText, ownerText } from './trace-codes.ts'
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { actionText } from './trace-sentences.ts'
import { TELLS } from './trace-waits.ts'
import { clockText, countText, listText, spanText } from './trace-words.ts'
import { isA, isSilent } from './trace-written.ts'

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

type Attempt = EntryOf<'attempt'>
type Ended = EntryOf<'action_ended'>
type Opened = EntryOf<'repair_opened'>

/** Something that went wrong: a failed attempt and those like it, a row given up without one, or a repair alone. */
interface Wrong {
  readonly at: string
  readonly text: string
}

export const wrongLines = ({ entries }: MeetingTrace, naming: Naming): readonly string[] => {
  const failed = entries.filter(isA('attempt')).filter(({ outcome }) => !fine.has(outcome))
  const groups: { readonly attempt: Attempt; readonly again: Attempt[] }[] = []
  for (const attempt of failed) {
    const like = groups.findLast((group) => sameFailure(group.attempt) === sameFailure(attempt))
    if (like) like.again.push(attempt)
    else groups.push({ attempt, again: [] })
  }
  const dead = entries.filter(isA('action_ended')).filter(({ outcome }) => outcome === 'dead')
  const repairOf = (ended: Ended): Opened | undefined =>
    TELLS.has(ended.action)
      ? undefined
      : entries.filter(isA('repair_opened')).find(({ at }) => at === ended.at)
  const follow = (actionId: string, attempt?: Attempt): string => {
    const ended = dead.find((each) => each.actionId === actionId)
    const repair = ended && repairOf(ended)
    const end = ended ? `; ${deadText(ended, attempt)}` : ''
    return `${answerText(entries, actionId)}${end}${repair ? `; ${repairText(repair, entries)}` : ''}`
  }
  const tried = new Set(failed.map(({ actionId }) => actionId))
  const told = new Set(dead.flatMap((ended) => repairOf(ended)?.repairId ?? []))
  const lines: readonly Wrong[] = [
    ...groups.map(({ attempt, again }) => {
      const { actionId, at } = attempt
      // How it ended stands behind the last way in which it failed.
      const last = groups.findLast((group) =>
        [group.attempt, ...group.again].some((each) => each.actionId === actionId),
      )
      const end = last?.attempt === attempt ? follow(actionId, attempt) : ''
      return { at, text: `${failureText(attempt, naming)}${againText(again)}${end}` }
    }),
    ...dead
      .filter(({ actionId }) => !tried.has(actionId))
      .map((ended) => ({ at: ended.at, text: `${actionText(ended, naming)}${follow(ended.actionId)}` })),
    ...entries
      .filter(isA('repair_opened'))
      .filter(({ repairId }) => !told.has(repairId))
      .map((opened) => ({
        at: opened.at,
        text: `${causeText(opened.code)}${peopleText(opened, naming)}; ${repairText(opened, entries)}`,
      })),
  ]
  if (lines.length === 0) return ['nothing']
  return lines
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map(({ at, text }) => `${clockText(at)} ${text}`)
}

const fine = new Set(['succeeded', 'suppressed', 'superseded'])

/** Many messages that one endpoint does not take are one thing that is wrong. */
const sameFailure = ({ action, actionId, about, outcome, code }: Attempt): string =>
  [about.endpointId === undefined ? actionId : `${action} ${about.endpointId}`, outcome, code].join(' ')

const failureText = (attempt: Attempt, naming: Naming): string => {
  const { outcome, code } = attempt
  const what = isSilent(attempt)
    ? `${naming.replica(attempt.replicaId ?? '')} went silent`
    : code === null
      ? outcomeText(outcome)
      : causeText(code)
  return `${actionText(attempt, naming)}: ${what}; ${comfortByOutcome[outcome] ?? ''}`
}

/** What the provider answered when it was asked. That it was given up says its own end. */
const answerText = (entries: readonly TraceEntry[], actionId: string): string => {
  const answer = entries.filter(isA('unknown_resolved')).findLast((entry) => entry.actionId === actionId)
  if (answer?.outcome === 'succeeded') return `; asked at ${clockText(answer.at)}: it had its effect`
  if (answer?.outcome === 'retrying')
    return `; asked at ${clockText(answer.at)}: it had none, so it was made again`
  return ''
}

/** When and why are not said twice: the reader has just been told of this attempt. */
const deadText = ({ at, code, attempts, action, owner }: Ended, attempt: Attempt | undefined): string => {
  const cause = causeText(code ?? 'other')
  const known = attempt && causeText(attempt.code ?? 'other')
  const look = TELLS.has(action) ? `; ${ownerText(owner ?? 'operations')} is told of it as a dead letter` : ''
  return `DEAD${attempt?.at === at ? '' : ` at ${clockText(at)}`} after ${countText(attempts, 'attempt')}${cause === known ? '' : ` (${cause})`}${look}`
}

/** `repair invalid_attendee, for which the organizer chose at 07:59:05.947 to correct the address` */
const repairText = (
  { repairId, code, owner, class: failure }: Opened,
  entries: readonly TraceEntry[],
): string => {
  const left = failure === 'uncertain' ? ' (class uncertain: what was written stands or may stand there)' : ''
  const resolved = entries.filter(isA('repair_resolved')).find((entry) => entry.repairId === repairId)
  if (!resolved) return `repair ${code}${left}, still open: ${ownerText(owner)} must act`
  const { at, choice, authority } = resolved
  return choice === undefined
    ? `repair ${code}${left}, not needed any more since ${clockText(at)}`
    : `repair ${code}${left}, for which ${ownerText(authority ?? owner)} chose at ${clockText(at)} to ${choiceText(choice)}`
}

const peopleText = ({ participantIds }: Opened, { person }: Naming): string =>
  participantIds.length > 0 ? ` (${listText(participantIds.map(person))})` : ''

export const isLike = (last: TraceEntry, entry: Attempt): boolean =>
  last.type === 'attempt' &&
  last.actionId === entry.actionId &&
  last.outcome === entry.outcome &&
  last.code === entry.code

export const againText = (again: readonly Attempt[]): string => {
  const last = again.at(-1)
  return last ? `; and ${countText(again.length, 'time')} more like it, until ${spanText(last.at)}` : ''
}
