/** The figures of a run, what it must have done at least to prove anything, and what it found. */
import type { Fault } from '@aftercommit/simulator'
import { promises, type Offences, type PromiseName } from './checker.ts'
import type { Seen } from './seen.ts'
import { deeds, type Tally } from './tally.ts'

/** Something that was counted, and how often it must have happened. */
export interface Figure {
  readonly name: string
  readonly count: number
  readonly atLeast: number
}

export interface Verdict {
  readonly passed: boolean
  readonly figures: readonly Figure[]
  readonly offences: Offences
}

const OFFENDERS_SHOWN = 5

export const figuresOf = (
  seen: Seen,
  faults: readonly Fault[],
  tally: Tally,
  { staleRefused, shiftedClocks }: { readonly staleRefused: number; readonly shiftedClocks: number },
): readonly Figure[] => {
  const at = (name: string, count: number, atLeast: number): Figure => ({ name, count, atLeast })
  const effects = (effect: Seen['ledger'][number]['effect']): number =>
    seen.ledger.filter((each) => each.effect === effect).length
  const answered = (status: number): number => seen.requests.filter((each) => each.status === status).length
  return [
    ...deeds.map((deed) => at(deed, tally.counts[deed], 1)),
    at('dispatchers with a wrong clock', shiftedClocks, 1),
    at(
      'requests repeated by the client',
      seen.asked.reduce((sum, { unanswered }) => sum + unanswered, 0),
      1,
    ),
    at('answers lost', answersLost(seen, faults), 3),
    at('calls throttled', answered(429), 1),
    at('meetings opened', seen.meetings.length, 10),
    at('events created', effects('event_created'), 5),
    at('events changed', effects('event_patched'), 0),
    at('events cancelled', effects('event_cancelled'), 1),
    at('messages received', effects('webhook_received'), 5),
    at('rows ended', seen.rows.filter(({ outcome }) => outcome !== null).length, 50),
    at('dead letters, each with an owner', seen.rows.filter(({ outcome }) => outcome === 'dead').length, 0),
    at('leases taken over', takenOver(seen), 1),
    at(
      'questions asked about lost answers',
      seen.rows.filter(({ action }) => action.includes('#')).length,
      1,
    ),
    at('stale settles refused', staleRefused, 1),
  ]
}

const takenOver = ({ holds }: Seen): number =>
  holds.filter(
    ({ op, stateBefore, stateAfter }) =>
      op === 'moved' && stateBefore === 'leased' && stateAfter === 'leased',
  ).length

/** Calls that had their effect, or may have had it, and whose answer nobody could read. */
const answersLost = ({ requests }: Seen, faults: readonly Fault[]): number => {
  const losing = new Set(
    faults
      .filter(({ act }) => ['drop', 'truncate', 'html', 'delay', 'hold'].includes(act.type))
      .map(({ id }) => id),
  )
  return requests.filter(({ status, fault }) => status === null || (fault !== undefined && losing.has(fault)))
    .length
}

export const judge = (offences: Offences, figures: readonly Figure[]): Verdict => ({
  passed:
    Object.values(offences).every(({ length }) => length === 0) &&
    figures.every(({ count, atLeast }) => count >= atLeast),
  figures,
  offences,
})

export const linesOf = ({ figures, offences }: Verdict): readonly string[] => [
  'What happened',
  ...figures.map(({ name, count, atLeast }) => {
    const few = count < atLeast
    return `  ${few ? '✗' : ' '} ${String(count).padStart(6)}  ${name}${few ? `, and at least ${atLeast} were needed` : ''}`
  }),
  '',
  'What was promised',
  ...(Object.keys(promises) as PromiseName[]).flatMap((name) => promiseLines(name, offences)),
]

const promiseLines = (name: PromiseName, offences: Offences): readonly string[] => {
  const found = offences[name]
  return [
    `  ${found.length === 0 ? '✓' : '✗'} ${String(found.length).padStart(6)}  ${name}: ${promises[name]}`,
    ...found.slice(0, OFFENDERS_SHOWN).map(({ id, what }) => `              ${id}: ${what}`),
    ...(found.length > OFFENDERS_SHOWN ? [`              and ${found.length - OFFENDERS_SHOWN} more`] : []),
  ]
}
