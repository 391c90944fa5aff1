/** `npm run scenario -- commit-gap`: not a story but a comparison, told and judged by itself. */
import { writeFile } from 'node:fs/promises'
import { runCommitGap } from './run.ts'
import { gapTable, totalsTable } from './table.ts'
import type { Judged } from './verdict.ts'

export const commitGap = {
  name: 'commit-gap',
  title: 'What lies between a commit and its effect',
  shows:
    'Five ways to book, each killed at five places; the provider counts the events. Two bookings per place: one customer asks again when no answer comes, the other is gone.',
} as const

export interface CommandOptions {
  readonly root: string
  readonly json: string | undefined
  readonly detailed: boolean
  readonly tell: (line: string) => void
}

/** Answers whether the outbox came through; that the others do not is what there is to see. */
export const runCommitGapCommand = async ({
  root,
  json,
  detailed,
  tell,
}: CommandOptions): Promise<boolean> => {
  tell(`${commitGap.title}\n${commitGap.shows}\n`)
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      tell('Stopping everything …')
      ending.abort(new Error('it was called off'))
    })
  }
  const startedAt = Date.now()
  const seen = (judged: Judged): void => {
    if (detailed) tell(lineOf(judged))
  }
  const judged = await runCommitGap({ root, signal: ending.signal, seen })
  const tables = [gapTable(judged), totalsTable(judged)]
  tell(`${tables.join('\n\n')}\n`)
  tell('lost: no event. doubled: two. unrecorded: one that the application cannot name.')
  tell('hidden: the application says "confirmed" all the same. known: it says anything else.')
  if (json !== undefined) await writeFile(json, `${JSON.stringify({ cases: judged, tables }, null, 2)}\n`)
  const passed = judged.every(({ way, verdict }) => way !== 'outbox' || verdict === 'right')
  tell(
    `\n${passed ? 'Passed: the outbox lost, doubled and hid nothing' : 'Failed'}, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`,
  )
  return passed
}

const lineOf = ({ way, gap, customer, verdict, hidden, booking, events }: Judged): string =>
  `${way}, killed ${gap}, the customer ${customer}: ${verdict}${hidden ? ' and hidden' : ''}; the booking is ${booking?.state ?? 'unknown'}, events: ${events.length}`
