/** `npm run bench`: the engine beside its peers, on one machine, in one run. */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { contestNode, installPeers } from './peers.ts'
import { describeMachine, type Machine } from './machine.ts'
import { writeReport, type Run } from './report.ts'
import { Bars, judge, type ScenarioResult } from './results.ts'
import type { Context } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { startServer } from './server.ts'
import { barLines, table } from './table.ts'

const USAGE = `npm run bench -- [--quick] [--only NAME]… [--json FILE] [--strict]

--quick       one repetition and about a tenth of the rows: shows that it runs, judges nothing
--only NAME   this scenario; may be given several times. There are:
              ${scenarios.map(({ name }) => name).join(', ')}
--json FILE   the whole result to this file as well
--strict      a missed bar makes a quick run fail too
`
/** As shells have it for a command that was typed wrongly. */
const UNUSABLE = 2
const INTERRUPTED = 130
const REPETITIONS = { full: 5, quick: 1 }

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const unknown = values.only.filter((name) => scenarios.every((each) => each.name !== name))
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}`)
  return values
}

const main = async (): Promise<number> => {
  const options = ((): ReturnType<typeof readOptions> | string => {
    try {
      return readOptions()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  })()
  if (typeof options === 'string') {
    process.stderr.write(`npm run bench: ${options}\n\n${USAGE}`)
    return UNUSABLE
  }
  if (options.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const chosen = scenarios.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  const whole = !options.quick && options.only.length === 0
  let written = ''
  // After every scenario, so that a run that is cut off leaves what it has measured; it is no result before its end.
  const run = await runAll(chosen, options.quick, async (soFar) => {
    written = await writeReport(soFar, { whole: whole && soFar.results.length === chosen.length })
  })
  print(`\nWritten: ${written}`)
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(run, null, 2)}\n`)
  const held = run.verdicts.filter(({ type }) => type !== 'met')
  return held.length > 0 && (!options.quick || options.strict) ? 1 : 0
}

const runAll = async (
  chosen: typeof scenarios,
  quick: boolean,
  keep: (soFar: Run) => Promise<void>,
): Promise<Run> => {
  const peers = chosen.some(({ needsPeers }) => needsPeers) ? await installPeers() : undefined
  // Before the server, because it may have to be fetched, and that may fail.
  const { version: node } = await contestNode()
  const server = await startServer()
  const machine: Machine = describeMachine(server.version, node, peers)
  const startedAt = new Date()
  if (machine.loaded)
    print(`Others use this machine (load ${machine.loadBefore.toFixed(1)}): the numbers are marked.`)
  const results: ScenarioResult[] = []
  const bars = Bars.parse(JSON.parse(await readFile(new URL('./bars.json', import.meta.url), 'utf8')))
  const verdictsOf = (names: readonly string[]) =>
    bars.filter(({ scenario }) => names.includes(scenario)).map((bar) => judge(bar, results))
  const repetitions = quick ? REPETITIONS.quick : REPETITIONS.full
  const soFar = (): Run => ({
    startedAt: startedAt.toISOString(),
    quick,
    repetitions,
    machine,
    results,
    verdicts: verdictsOf(chosen.map(({ name }) => name)),
  })
  const context: Context = { server, quick, repetitions, tell: (line) => print(`  ${line}`) }
  const ignoreSignals = stopOnSignal(() => server.stop())
  try {
    for (const scenario of chosen) {
      print(`\n${scenario.title} (${scenario.name})`)
      const result = await scenario.run(context)
      results.push(result)
      print(`\n${table(result)}`)
      for (const line of barLines(verdictsOf([scenario.name]))) print(line)
      await keep(soFar())
    }
  } finally {
    ignoreSignals()
    await server.stop()
  }
  return soFar()
}

/** How long whatever a scenario has started may take to end after Ctrl-C. */
const END_MAX_MS = 30_000
let interrupted = false

/**
 * Ctrl-C takes the server away. Whatever is running fails of that, and stops what it has started on its way out. Answers how
 * to take no notice of signals any more.
 */
const stopOnSignal = (stop: () => Promise<void>): (() => void) => {
  const onSignal = (): void => {
    interrupted = true
    void stop()
    setTimeout(() => process.exit(INTERRUPTED), END_MAX_MS).unref()
  }
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

process.exitCode = await main().catch((error: unknown) => {
  if (interrupted) return INTERRUPTED
  process.stderr.write(`npm run bench: ${error instanceof Error ? String(error.stack) : String(error)}\n`)
  return 1
})
