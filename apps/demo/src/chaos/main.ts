/** `npm run chaos`: the product under load and under attack, and a verdict. */
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { sentenceOf } from '../sentence.ts'
import { readArguments, USAGE, type ChaosArguments } from './arguments.ts'
import { defects, type Defect } from './planted/defects.ts'
import { runChaos } from './run.ts'
import { linesOf, type Verdict } from './verdict.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** As shells have it for a command that was typed wrongly. */
const UNUSABLE = 2
/** A defect was planted, and the checker saw nothing: the checker is broken. */
const NOT_CAUGHT = 3
const SEED_MAX = 1_000_000

const tell = (line: string): void => void process.stdout.write(`${line}\n`)

const main = async (args: readonly string[]): Promise<number> => {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE)
    return 0
  }
  const read = readArguments(args, () => randomInt(SEED_MAX))
  if (typeof read === 'string') {
    process.stderr.write(`npm run chaos: ${read}\n\n${USAGE}`)
    return UNUSABLE
  }
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      tell('Stopping everything …')
      ending.abort(new Error('it was called off'))
    })
  }
  const verdict = await runChaos({ ...read, root, tell, signal: ending.signal })
  if (read.json !== undefined)
    await writeFile(read.json, `${JSON.stringify({ ...read, ...verdict }, null, 2)}\n`)
  for (const line of ['', ...linesOf(verdict), '']) tell(line)
  return conclude(read, verdict)
}

/** A planted defect makes a run fail in any case. */
const conclude = ({ seed, defect: name }: ChaosArguments, { passed, offences }: Verdict): number => {
  if (name === undefined) {
    tell(`${passed ? 'Passed' : 'Failed'}. The same plan again: npm run chaos -- --seed ${seed}`)
    return passed ? 0 : 1
  }
  const defect: Defect = defects[name]
  const found = defect.breaks.filter((promise) => offences[promise].length > 0)
  tell(
    found.length > 0
      ? `Caught: ${defect.says}. It broke: ${found.join(', ')}.`
      : `NOT CAUGHT: ${defect.says}. None of these was found broken: ${defect.breaks.join(', ')}.`,
  )
  return found.length > 0 ? 1 : NOT_CAUGHT
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`npm run chaos: ${sentenceOf(error)}\n`)
  return 1
})
