import type { ScenarioResult, Series } from './results.ts'
import type { Server } from './server.ts'

export interface Context {
  readonly server: Server
  /** Fewer repetitions and a tenth of the rows: to see that it runs, not to judge by. */
  readonly quick: boolean
  readonly repetitions: number
  readonly tell: (line: string) => void
}

export interface Scenario {
  /** As `--only` and bars.json name it. */
  readonly name: string
  readonly title: string
  /** Whether a peer takes part, and must be installed. */
  readonly needsPeers: boolean
  run(context: Context): Promise<ScenarioResult>
}

export interface Recorder {
  readonly note: (contender: string, measure: string, unit: string, value: number) => void
  readonly series: readonly Series[]
}

/** Gathers values by contender and measure, in the order in which they first came. */
export const recorder = (): Recorder => {
  const series: (Series & { values: number[] })[] = []
  return {
    series,
    note: (contender, measure, unit, value) => {
      const known = series.find((each) => each.contender === contender && each.measure === measure)
      if (known) known.values.push(value)
      else series.push({ contender, measure, unit, values: [value] })
    },
  }
}

/**
 * Everybody's turn in every repetition, and each time another one first: a machine that grows slower or busier meanwhile
 * is slower for all.
 */
export const inTurns = async <T>(
  repetitions: number,
  all: readonly T[],
  turn: (each: T, repetition: number) => Promise<void>,
): Promise<void> => {
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (let place = 0; place < all.length; place++) {
      const each = all[(place + repetition) % all.length]
      if (each !== undefined) await turn(each, repetition)
    }
  }
}
