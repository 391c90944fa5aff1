/** What each outcome makes of a row in each state: the expectations of matrix.test.ts, and the table in docs/outbox-states.md. */
import type { RepeatRule } from './action.ts'
import type { Outcome } from './outcome.ts'
import type { RowState } from './states.ts'

/** Every outcome a handler can report, and the two that only budgets make. */
export const reports = {
  done: { type: 'done', facts: undefined },
  retry: { type: 'retry', code: 'busy' },
  'retry, budget spent': { type: 'retry', code: 'busy' },
  throttled: { type: 'throttled', code: 'slow_down', afterMs: 30_000 },
  unknown: { type: 'unknown', code: 'lost', correlation: {} },
  'unknown, budget spent': { type: 'unknown', code: 'lost', correlation: {} },
  suppressed: { type: 'suppressed', reason: 'no_consent' },
  obsolete: { type: 'obsolete', reason: 'moved_on' },
  dead: { type: 'dead', class: 'permission', code: 'denied' },
} as const satisfies Record<string, Outcome<undefined>>
export type Report = keyof typeof reports

export const repeatRules = [
  'safe',
  'reconcile_first',
  'resend',
  'give_up',
] as const satisfies readonly RepeatRule[]

/** A holder's report about the row it holds. The same for every rule, but for what is unknown. */
export const heldBecomes: Readonly<Record<Report, RowState | Readonly<Record<RepeatRule, RowState>>>> = {
  done: 'succeeded',
  retry: 'scheduled',
  'retry, budget spent': 'dead',
  throttled: 'scheduled',
  unknown: { safe: 'scheduled', reconcile_first: 'outcome_unknown', resend: 'scheduled', give_up: 'dead' },
  'unknown, budget spent': {
    safe: 'dead',
    reconcile_first: 'outcome_unknown',
    resend: 'dead',
    give_up: 'dead',
  },
  suppressed: 'suppressed',
  obsolete: 'superseded',
  dead: 'dead',
}

/** Where a row may be by the time that a holder whose lease ran out reports. It stays there, whatever is reported. */
export const lateStates = [
  'scheduled',
  'waiting',
  'held',
  'paused',
  'ready',
  'leased',
  'outcome_unknown',
  'succeeded',
  'suppressed',
  'superseded',
  'dead',
] as const satisfies readonly RowState[]

export const becomes = (report: Report, rule: RepeatRule): RowState => {
  const next = heldBecomes[report]
  return typeof next === 'string' ? next : next[rule]
}

/** The matrix as Markdown. */
export const matrixTable = (): string => {
  const head = [
    'reported',
    ...repeatRules.map((rule) => `held, \`${rule}\``),
    'held by another, or by nobody',
  ]
  const rows = (Object.keys(reports) as Report[]).map((report) => [
    report,
    ...repeatRules.map((rule) => `\`${becomes(report, rule)}\``),
    'as it is; refused as stale',
  ])
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
