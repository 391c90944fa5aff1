/** The command line of `npm run chaos`. */
import { parseArgs } from 'node:util'
import { defects, type DefectName } from './planted/defects.ts'

export interface ChaosArguments {
  readonly minutes: number
  readonly seed: number
  readonly defect: DefectName | undefined
  readonly json: string | undefined
}

export const USAGE = `Usage: npm run chaos -- [--minutes N] [--seed N] [--break NAME] [--json FILE]

Runs the product's own processes under load, kills, freezes and misleads them, and compares what the providers hold
with what the database says. Exits 0 only if every promise was kept and enough went wrong to prove it.

  --minutes N   how long things go wrong; 2 if left out
  --seed N      the plan of what goes wrong; one at random if left out
  --break NAME  plant a defect, and see whether it is found: ${Object.keys(defects).join(', ')}
  --json FILE   also write figures and verdict to FILE
`

/** Answers a sentence when the arguments cannot be used. */
export const readArguments = (args: readonly string[], randomSeed: () => number): ChaosArguments | string => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string' },
      break: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes <= 24 * 60)) return '--minutes needs a number above 0, and no more than a day'
  const seed = values.seed === undefined ? randomSeed() : Number(values.seed)
  if (!Number.isSafeInteger(seed) || seed < 0) return '--seed needs a whole number'
  if (values.break !== undefined && !isDefect(values.break)) {
    return `there is no defect ${values.break}; there are: ${Object.keys(defects).join(', ')}`
  }
  return { minutes, seed, defect: values.break, json: values.json }
}

const isDefect = (name: string): name is DefectName => Object.hasOwn(defects, name)
