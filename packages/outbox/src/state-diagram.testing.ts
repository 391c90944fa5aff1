import { endStates, type legalMoves, type RowState } from './states.ts'

/** Why a row makes a move. A move without a reason here does not compile. */
const reasonByMove = {
  scheduled: { ready: 'due', paused: 'due, account rests', waiting: 'swept', superseded: 'edited' },
  waiting: {
    ready: 'predecessor ended',
    scheduled: 'predecessor ended, not yet due',
    paused: 'predecessor ended, account rests',
    held: 'predecessor died',
    superseded: 'edited',
  },
  held: { waiting: 'letter replayed or closed', superseded: 'edited' },
  paused: { ready: 'rest over, place free', waiting: 'swept', superseded: 'edited' },
  ready: { leased: 'claimed', paused: 'account rests or is busy', waiting: 'swept', superseded: 'edited' },
  leased: {
    ready: 'handed back, lease lost',
    scheduled: 'retrying, throttled',
    paused: 'retrying, account rests',
    outcome_unknown: 'unknown',
    succeeded: 'done',
    suppressed: 'suppressed',
    superseded: 'obsolete',
    dead: 'dead, exhausted',
  },
  outcome_unknown: {
    ready: 'proved absent',
    paused: 'proved absent, account rests',
    succeeded: 'found once',
    dead: 'conflicting, exhausted',
  },
  succeeded: {},
  suppressed: {},
  superseded: {},
  dead: { ready: 'replayed', paused: 'replayed, account rests' },
} as const satisfies { [From in RowState]: Record<(typeof legalMoves)[From][number], string> }

/** States in which a row may be written. */
const firstStates = ['ready', 'scheduled', 'waiting', 'held', 'paused'] as const satisfies readonly RowState[]

/** The table of moves as a Mermaid state diagram. */
export const stateDiagram = (): string => {
  const moves = Object.entries(reasonByMove).flatMap(([from, reasons]) =>
    Object.entries(reasons).map(([to, reason]) => `    ${from} --> ${to}: ${reason}`),
  )
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...firstStates.map((state) => `    [*] --> ${state}`),
    ...moves,
    ...endStates.filter((state) => state !== 'dead').map((state) => `    ${state} --> [*]`),
    '```',
  ].join('\n')
}
