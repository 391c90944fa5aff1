import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { runCommitGap } from './run.ts'
import { gapTable, totalsTable } from './table.ts'
import { ways, type WayName } from './gaps.ts'
import { totalsOf, type Judged } from './verdict.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const page = (file: string): Promise<string> =>
  readFile(new URL(`../../../../${file}`, import.meta.url), 'utf8')

describe('five ways to book, each killed at every gap', () => {
  let judged: readonly Judged[]
  beforeAll(async () => {
    judged = await runCommitGap({ root })
  }, 180_000)
  const of = (way: WayName): readonly Judged[] => judged.filter((each) => each.way === way)

  test.each([
    ['inline_call', { right: 4, lost: 2, doubled: 2, unrecorded: 2, hidden: 2, known: 4 }],
    ['callback', { right: 2, lost: 4, doubled: 0, unrecorded: 4, hidden: 8, known: 0 }],
    ['memory_queue', { right: 2, lost: 4, doubled: 0, unrecorded: 4, hidden: 8, known: 0 }],
    ['swept_status', { right: 6, lost: 0, doubled: 4, unrecorded: 0, hidden: 4, known: 0 }],
    ['outbox', { right: 10, lost: 0, doubled: 0, unrecorded: 0, hidden: 0, known: 0 }],
  ] as const)('%s comes to exactly these figures', (way, totals) => {
    expect(totalsOf(of(way))).toEqual({ runs: 10, ...totals })
  })

  test('a callback and a queue in memory lose a booking at the same places', () => {
    const outcomes = (way: WayName): unknown =>
      of(way).map(({ gap, customer, verdict }) => ({ gap, customer, verdict }))
    expect(outcomes('memory_queue')).toEqual(outcomes('callback'))
  })

  test('before the commit no way has promised or done anything wrong', () => {
    const early = judged.filter(({ gap }) => gap === 'before_commit')
    expect(early.map(({ verdict }) => verdict)).toEqual(Array(2 * ways.length).fill('right'))
  })

  test('docs/commit-gap.md and the README show what was measured', async () => {
    const told = await page('docs/commit-gap.md')
    expect(told).toContain(gapTable(judged))
    expect(told).toContain(totalsTable(judged))
    expect(await page('README.md')).toContain(totalsTable(judged))
  })
})
