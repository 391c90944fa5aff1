/** `npm run scenario`: one scenario with real processes, days of it in seconds, and a verdict. */
import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commitGap, runCommitGapCommand } from '../commit-gap/command.ts'
import { sentenceOf } from '../sentence.ts'
import { checkLine } from './judge.ts'
import { runScenario } from './run.ts'
import { scenarios } from './scenarios/index.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** As shells have it for a command that was typed wrongly. */
const UNUSABLE = 2

const USAGE = `Usage: npm run scenario -- NAME [--json FILE] [--detailed]

Plays one scenario with real processes on a database of its own, whose clock is moved, and judges what came of it.

  --list        name them all
  --json FILE   also write everything that was seen to FILE, such as .data/seen.json
  --detailed    tell also what every dispatcher did

  DATABASE_URL  a PostgreSQL server of yours, as its owner; left out, one is started for it
`

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      json: { type: 'string' },
      detailed: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const [name, ...more] = positionals
  if (values.help || values.list) {
    process.stdout.write(values.help ? `${USAGE}\n${list()}` : list())
    return 0
  }
  const isCommitGap = name === commitGap.name
  const scenario = scenarios.find((each) => each.name === name)
  if ((!scenario && !isCommitGap) || more.length > 0) {
    const what =
      name === undefined ? 'a scenario must be named' : `there is no scenario ${[name, ...more].join(' ')}`
    return refuse(`${what}; there are:\n\n${list()}`)
  }
  // Found out before the play, not after it.
  if (values.json !== undefined) {
    await mkdir(dirname(values.json), { recursive: true })
    await (await open(values.json, 'a')).close()
  }
  const { json, detailed } = values
  if (scenario) return run(scenario, { json, detailed })
  return (await runCommitGapCommand({ root, json, detailed, tell })) ? 0 : 1
}

const refuse = (reason: string): number => {
  process.stderr.write(`npm run scenario: ${reason}`)
  return UNUSABLE
}

const list = (): string =>
  [...scenarios, commitGap].map(({ name, title }) => `  ${name.padEnd(26)}${title}\n`).join('')

const tell = (line: string): void => void process.stdout.write(`${line}\n`)

const run = async (
  scenario: (typeof scenarios)[number],
  { json, detailed }: { json: string | undefined; detailed: boolean },
): Promise<number> => {
  tell(`${scenario.title}\n${scenario.shows}\n`)
  const startedAt = Date.now()
  const { checks, passed, record } = await runScenario(scenario, {
    root,
    tell,
    detail: detailed ? 'everything' : 'headlines',
  })
  if (json !== undefined) await writeFile(json, `${JSON.stringify(record, null, 2)}\n`)
  tell('')
  for (const check of checks) tell(checkLine(check))
  tell(`\n${passed ? 'Passed' : 'Failed'}, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`)
  return passed ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`npm run scenario: ${sentenceOf(error)}\n`)
  return isUnusable(error) ? UNUSABLE : 1
})

function isUnusable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
