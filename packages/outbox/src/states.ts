/**
 * The states of an outbox row, and the one table of legal moves between them. Every statement in sql.ts performs one
 * of these moves; docs/outbox-states.md is tested against this table. Back to `waiting` moves only the sweep that finds
 * a row running ahead of its predecessor.
 */
export const liveStates = [
  'scheduled',
  'waiting',
  'held',
  'paused',
  'ready',
  'leased',
  'outcome_unknown',
] as const
export type LiveState = (typeof liveStates)[number]

export const endStates = ['succeeded', 'suppressed', 'superseded', 'dead'] as const
export type EndState = (typeof endStates)[number]

export type RowState = LiveState | EndState

export const legalMoves = {
  scheduled: ['ready', 'paused', 'waiting', 'superseded'],
  waiting: ['ready', 'scheduled', 'paused', 'held', 'superseded'],
  held: ['waiting', 'superseded'],
  paused: ['ready', 'waiting', 'superseded'],
  ready: ['leased', 'paused', 'waiting', 'superseded'],
  leased: [
    'ready',
    'scheduled',
    'paused',
    'outcome_unknown',
    'succeeded',
    'suppressed',
    'superseded',
    'dead',
  ],
  outcome_unknown: ['ready', 'paused', 'succeeded', 'dead'],
  succeeded: [],
  suppressed: [],
  superseded: [],
  dead: ['ready', 'paused'],
} as const satisfies Record<RowState, readonly RowState[]>

/** The states in which its aggregate can end a row: nobody has it. One with an unanswered attempt stays even so. */
export const supersedableStates = [
  'scheduled',
  'waiting',
  'held',
  'paused',
  'ready',
] as const satisfies readonly LiveState[]
