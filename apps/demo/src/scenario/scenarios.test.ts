import { expect, test } from '@jest/globals'
import { inProcessStage } from './in-process.testing.ts'
import { judge } from './judge.ts'
import { play } from './play.ts'
import { needsProcesses } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

test.each(
  scenarios
    .filter((scenario) => !needsProcesses(scenario))
    .map((scenario) => [scenario.name, scenario] as const),
)('the scenario %s comes to what its file says', async (_, scenario) => {
  const stage = await inProcessStage(scenario)
  const lines: string[] = []
  try {
    const played = await play(scenario, stage, (line) => lines.push(line), 'steps')
    const failed = (await judge(played)).filter(({ passed }) => !passed)
    expect(failed).toEqual([])
  } catch (error) {
    throw new Error(lines.join('\n'), { cause: error })
  } finally {
    await stage.stop()
  }
})
