import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { defects, type Defect } from './planted/defects.ts'
import { plantInBundle, rewritten } from './planted/plant.ts'
import { runChaos } from './run.ts'
import { linesOf } from './verdict.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('one round of kills, freezes, crashes and lies loses, doubles and disorders nothing', async () => {
  const lines: string[] = []
  const verdict = await runChaos({
    root,
    minutes: 0.5,
    seed: 1,
    defect: undefined,
    tell: (line) => lines.push(line),
    signal: new AbortController().signal,
  })
  expect({ passed: verdict.passed, lines: verdict.passed ? [] : [...lines, ...linesOf(verdict)] }).toEqual({
    passed: true,
    lines: [],
  })
}, 240_000)

test.each(Object.entries<Defect>(defects))(
  'the defect %s can be planted in what was built',
  async (_, defect) => {
    const bundle = await readFile(join(root, 'dist', 'dispatcher.js'), 'utf8')
    const { inDispatcher, inDatabase } = defect
    if (inDispatcher.length > 0) expect(plantInBundle(bundle, defect)).not.toBe(bundle)
    if (inDatabase) {
      const migration = join(root, 'prisma', 'migrations', '20261201000100_outbox', 'migration.sql')
      const sql = await readFile(migration, 'utf8')
      expect(sql).toContain(`create function ${inDatabase.function}(`)
      expect(rewritten(sql, inDatabase)).toContain(inDatabase.replace)
    }
  },
)
