/** Every scenario as a row of docs/scenarios.md. */
import { needsProcesses, type Expected, type LedgerCounts, type Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

export const scenarioTable = (): string => {
  const rows = scenarios.map((scenario) => [
    `\`${scenario.name}\``,
    scenario.shows,
    endOf(scenario),
    ledgerOf(scenario.expects.ledger),
  ])
  return [['scenario', 'what it shows', 'ends', "the providers' ledger"], ['-', '-', '-', '-'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const endOf = (scenario: Scenario): string => {
  const ends = Object.entries(scenario.expects.meetings)
  const several = ends.length > 1
  const processes = needsProcesses(scenario) ? '; with real processes only' : ''
  return `${ends.map(([label, expected]) => (several ? `${label}: ` : '') + endText(expected)).join('; ')}${processes}`
}

const endText = ({ state, repair, event }: Expected): string => {
  const what = repair ? `\`${state}\` (${repair.code}, ${repair.owner})` : `\`${state}\``
  return `${what}, ${event ? 'one event' : 'no event'}`
}

const nameByCount: Readonly<Record<keyof LedgerCounts, string>> = {
  created: 'created',
  patched: 'changed',
  cancelled: 'cancelled',
  byHand: 'by hand',
  mails: 'mailed',
}

const ledgerOf = (counts: LedgerCounts): string => {
  const parts = Object.entries(nameByCount)
    .map(([key, name]) => ({ name, count: counts[key as keyof LedgerCounts] }))
    .filter(({ count, name }) => count > 0 || name === 'created')
  return parts.map(({ name, count }) => `${count} ${name}`).join(', ')
}
