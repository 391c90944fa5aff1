/** What the outbox knows of a meeting's actions, as entries of its trace. Pure. */
import type { ActionRecordRow, AttemptRecordRow } from '@aftercommit/outbox/operate'
import type { TraceEntry } from './trace-entries.ts'
import { About, type TracedCall } from './trace-fields.ts'

export const factsOfAction = ({ id, action, payload, target_id }: ActionRecordRow) => ({
  actionId: id,
  action,
  kind: target_id === null ? ('effect' as const) : ('reconcile' as const),
  about: About.safeParse(payload).data ?? {},
})

/** The entries of each action in the order in which they happened. Attempts must come in that order as well. */
export const actionEntries = (
  actions: readonly ActionRecordRow[],
  attempts: readonly AttemptRecordRow[],
): readonly TraceEntry[] => {
  const attemptsById = new Map<string, AttemptRecordRow[]>()
  for (const row of attempts)
    attemptsById.set(row.outbox_id, [...(attemptsById.get(row.outbox_id) ?? []), row])
  return actions.flatMap((row): TraceEntry[] => {
    const facts = factsOfAction(row)
    const tried = attemptsById.get(row.id) ?? []
    return [
      { type: 'action_enqueued', at: row.created_at.toISOString(), ...facts },
      ...tried.map((each) => attemptEntry(facts, each)),
      ...(row.ended_at === null ? [] : [endEntry(facts, row, row.ended_at)]),
    ]
  })
}

const attemptEntry = (facts: ReturnType<typeof factsOfAction>, row: AttemptRecordRow): TraceEntry => {
  const { outcome, code, claimed_at, started_at } = row
  const at = row.ended_at.toISOString()
  // Nobody held the row: it rested until the answer to a question moved it. That is no attempt of its own.
  if (row.replica_id === null) return { type: 'unknown_resolved', at, ...facts, outcome, code }
  return {
    type: 'attempt',
    at,
    ...facts,
    attempt: row.attempt,
    replicaId: row.replica_id,
    ...(claimed_at && { claimedAt: claimed_at.toISOString() }),
    ...(started_at && {
      startedAt: started_at.toISOString(),
      durationMs: Math.max(0, row.ended_at.getTime() - started_at.getTime()),
    }),
    outcome,
    code,
    calls: (row.calls ?? []).map(callOf),
  }
}

/** Recorded calls are stored as JSON, so their times come back as text. */
const callOf = (call: NonNullable<AttemptRecordRow['calls']>[number]): TracedCall => ({
  ...call,
  startedAt: new Date(call.startedAt).toISOString(),
})

const endEntry = (
  facts: ReturnType<typeof factsOfAction>,
  row: ActionRecordRow,
  endedAt: Date,
): TraceEntry => ({
  type: 'action_ended',
  at: endedAt.toISOString(),
  ...facts,
  outcome: row.state,
  code: row.code,
  attempts: row.attempts,
  ...(row.owner !== null && { owner: row.owner }),
})
