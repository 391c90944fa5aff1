/** Who held each row, replayed from what the database noted. */
import type { HoldNote } from '../hold-log.ts'
import type { Seen } from '../seen.ts'
import { groupBy, type Offence } from './offence.ts'

/** Somebody moved, started or ended a row under a fence that was not theirs. */
export const stale = ({ holds, rows }: Seen): readonly Offence[] => {
  const succeeded = new Set(rows.filter(({ outcome }) => outcome === 'succeeded').map(({ id }) => id))
  const answered = answeredTargets(holds)
  return [...groupBy(holds, ({ rowId }) => rowId)].flatMap(([id, notes]) => {
    let holder: string | undefined
    return notes.flatMap((note) => {
      const wrong = objectionTo(note, holder, { succeeded, answered })
      if (note.op === 'moved') holder = note.login
      return wrong === undefined ? [] : [{ id, what: wrong }]
    })
  })
}

interface Known {
  readonly succeeded: ReadonlySet<string>
  readonly answered: ReadonlySet<string>
}

/** Which questions ended in which transaction. */
const answeredTargets = (holds: readonly HoldNote[]): ReadonlySet<string> =>
  new Set(
    holds.flatMap(({ targetId, op, tx }) =>
      targetId !== null && op !== 'started' ? [`${tx} ${targetId}`] : [],
    ),
  )

const objectionTo = (note: HoldNote, holder: string | undefined, known: Known): string | undefined => {
  const { op, login, stateBefore, stateAfter, rowId, tx, fenceBefore } = note
  if (stateBefore === 'leased') {
    // A lease that ran out is taken over by anybody.
    if (op === 'moved' && stateAfter === 'leased') return undefined
    if (login === holder) return undefined
    return `${login} ${op === 'started' ? 'began' : 'settled'} what ${holder ?? 'nobody'} held under fence ${fenceBefore}`
  }
  if (op === 'started') return `${login} began what nobody held`
  if (stateBefore === 'outcome_unknown') {
    return known.answered.has(`${tx} ${rowId}`)
      ? undefined
      : `${login} settled an unknown outcome without an answer`
  }
  if (op === 'removed') {
    return known.succeeded.has(rowId)
      ? `${login} settled what nobody held under fence ${fenceBefore}`
      : undefined
  }
  return stateAfter === 'leased' ? undefined : `${login} settled what nobody held under fence ${fenceBefore}`
}

/** A lease was cut short, or work was begun before its time: what a process does that trusts a clock of its own. */
export const early = ({ holds, rows }: Seen): readonly Offence[] => [
  ...holds.flatMap(({ op, rowId, stateBefore, stateAfter, leaseUntil, at, login }) =>
    op === 'moved' &&
    stateBefore === 'leased' &&
    stateAfter === 'leased' &&
    leaseUntil !== null &&
    leaseUntil > at
      ? [
          {
            id: rowId,
            what: `${login} took it over ${leaseUntil.getTime() - at.getTime()} ms before its lease had ended`,
          },
        ]
      : [],
  ),
  ...rows.flatMap(({ id, startedAt, notBefore }) =>
    startedAt !== null && startedAt < notBefore ? [{ id, what: 'begun before its time' }] : [],
  ),
]
