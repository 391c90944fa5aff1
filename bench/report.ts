/** What a run leaves behind: its numbers, a picture, and a page that the README can show. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chart } from './chart.ts'
import type { Machine } from './machine.ts'
import type { ScenarioResult, Verdict } from './results.ts'
import { demandOf, measuredIn, rowsOf } from './table.ts'

export interface Run {
  readonly startedAt: string
  readonly quick: boolean
  readonly repetitions: number
  readonly machine: Machine
  readonly results: readonly ScenarioResult[]
  readonly verdicts: readonly Verdict[]
}

const RESULTS = fileURLToPath(new URL('./results', import.meta.url))

/**
 * A whole run on a machine to itself is a result, and goes where results are kept. Every other one goes to a folder that
 * Git ignores, so that it can't be taken for one. Answers where it was written.
 */
export const writeReport = async (run: Run, { whole }: { readonly whole: boolean }): Promise<string> => {
  const isResult = whole && !run.machine.loaded
  const folder = isResult ? RESULTS : join(RESULTS, 'local')
  const date = run.startedAt.slice(0, 10)
  await mkdir(folder, { recursive: true })
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
  await write(`${date}.json`, `${JSON.stringify(run, null, 2)}\n`)
  await write(`${date}.svg`, chart(run))
  await write('latest.md', page(run, date))
  return `${join(folder, 'latest.md')}, ${date}.json and ${date}.svg beside it.`
}

const page = (run: Run, date: string): string =>
  [
    ...headOf(run, date),
    '## The bars',
    '',
    ...markdown([
      ['', 'what', 'measured', 'bar'],
      ...run.verdicts.map((verdict) => [
        { met: 'met', missed: '**missed**', not_measured: '**not measured**' }[verdict.type],
        verdict.bar.what,
        measuredIn(verdict),
        demandOf(verdict),
      ]),
    ]),
    '',
    ...run.results.flatMap((result) => [
      `## ${result.title}`,
      '',
      ...markdown(rowsOf(result)),
      '',
      ...result.notes.map((note) => `- ${note}`),
      '',
    ]),
  ].join('\n')

const headOf = ({ machine, quick, repetitions, verdicts }: Run, date: string): readonly string[] => {
  const met = verdicts.filter(({ type }) => type === 'met').length
  const peers = Object.entries(machine.peers).map(([name, version]) => `${name} ${version}`)
  return [
    '# Benchmark',
    '',
    `${date} · ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB, shared by clients and server · PostgreSQL ${machine.postgres}, every commit durable · Node ${machine.node} · ${peers.join(' · ')}`,
    '',
    ...(machine.loaded
      ? [`**Others used the machine (load ${machine.loadBefore.toFixed(1)}): not a result.**`, '']
      : []),
    ...(quick ? ['**A quick run, with about a tenth of the rows: not a result.**', ''] : []),
    `${met} of ${verdicts.length} bars met. Medians of ${repetitions} repetitions in which the contenders took turns. [How to read this.](../README.md)`,
    '',
    `![How far each bar was met or missed](${date}.svg)`,
    '',
  ]
}

const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): readonly string[] =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
