import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { runScenario } from './run.ts'
import { needsProcesses, type Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Whatever needs signals, and a write that lands after its caller has given up: with whole processes on both sides. */
const withProcesses = (scenario: Scenario): boolean =>
  needsProcesses(scenario) || scenario.name === 'late-write'

test.each(scenarios.filter(withProcesses).map((scenario) => [scenario.name, scenario] as const))(
  'the scenario %s comes to what its file says, with real processes',
  async (_, scenario) => {
    const lines: string[] = []
    const tell = (line: string): void => void lines.push(line)
    try {
      const { checks } = await runScenario(scenario, { root, tell, detail: 'headlines' })
      expect(checks.filter(({ passed }) => !passed)).toEqual([])
    } catch (error) {
      throw new Error(lines.join('\n'), { cause: error })
    }
  },
  180_000,
)
