import type { AnyAction, RepeatRule, SuccessorRule } from './action.ts'

/** What each rule means for whoever relies on the action. */
const promiseByRule: Readonly<Record<RepeatRule, string>> = {
  safe: 'Made again until it is answered. Made twice, it has one effect: the receiver dedupes, or it only reads.',
  reconcile_first: 'Made once. If its answer is lost, the provider is asked before anything is made again.',
  give_up: 'Made at most once. If its answer is lost nobody can be asked, and a person is told.',
  resend: 'Made at least once. If its answer is lost nobody can be asked, and it is made again.',
}

const successorByRule: Readonly<Record<SuccessorRule, string>> = {
  run: 'runs all the same',
  die: 'dies with it',
  hold: 'waits for a person',
}

/** The table of guarantees per action, as Markdown. Generated, so that it cannot promise what the code does not. */
export const guaranteeTable = (actions: readonly AnyAction[]): string => {
  const rows = [...actions]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map((action) => {
      const { name, onPredecessorDead, attemptsMax, elapsedMaxMs, lane, repairOwner } = action
      const repeat = action.repeat
      const order = action.orderingKey
        ? `in order; if the one before it died, it ${successorByRule[onPredecessorDead]}`
        : 'in any order'
      const bound = `${attemptsMax} attempts, ${hours(elapsedMaxMs)}`
      return `| \`${name}\` | ${promiseByRule[repeat]} | ${order} | ${bound} | ${lane} | ${repairOwner} |`
    })
  return [
    '| action | promise | order | then dead after | lane | repaired by |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

const HOUR_MS = 3_600_000

const hours = (ms: number): string => {
  const count = ms / HOUR_MS
  return count === 1 ? '1 hour' : `${count} hours`
}
