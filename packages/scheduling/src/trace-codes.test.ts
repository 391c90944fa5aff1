import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { repairKinds } from './repair.ts'
import { causes } from './trace-causes.ts'
import { causeText, verbOf } from './trace-codes.ts'

const packages = fileURLToPath(new URL('../..', import.meta.url))

const sourcesIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(join(packages, folder), { recursive: true })
  return entries
    .filter((name) => name.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(name))
    .map((name) => join(packages, folder, name))
}

/** Codes as they stand in the source of whoever writes them: after `code:`, after `reason:` of an outcome, as a constant. */
const written =
  /(?:\bcode: |type: '(?:obsolete|suppressed)', reason: |const [A-Z_]+ = )'([a-z]+(?:_[a-z]+)+)'/g

describe('every code has words', () => {
  test('of those that handlers, the engine and the adapters write', async () => {
    const files = [
      ...(await sourcesIn('scheduling/src/handlers')),
      ...(await sourcesIn('outbox/src')),
      ...(await sourcesIn('providers/src')),
    ]
    const codes = new Set<string>()
    for (const file of files) {
      for (const [, code] of (await readFile(file, 'utf8')).matchAll(written)) if (code) codes.add(code)
    }
    // The net holds something at all.
    expect(codes).toContain('meeting_moved_on')
    expect(codes).toContain('lease_lost')
    const known = [...codes].filter((code) => Object.hasOwn(causes, code) || code.endsWith('_shape'))
    expect([...codes].filter((code) => !known.includes(code) && !namesOfOther.has(code))).toEqual([])
  })

  test('of those for which there are repairs', () => {
    expect(Object.keys(repairKinds).filter((code) => !Object.hasOwn(causes, code))).toEqual([])
  })

  test.each([
    ['http_503', 'the other side answered 503'],
    ['550_5_1_1', 'the mail server answered 550'],
    ['UND_ERR_SOCKET', 'the connection failed (UND_ERR_SOCKET)'],
    ['schedule_shape', 'the answer was not what its provider documents'],
    ['ErrorItemSomething', 'in the provider’s words “ErrorItemSomething”'],
    ['a_code_of_tomorrow', 'a code of tomorrow'],
  ])('%s reads as: %s', (code, words) => {
    expect(causeText(code)).toBe(words)
  })

  test('an action of another release is told by its name', () => {
    expect(verbOf('scheduling.write_event#reconcile')).toBe('write event')
    expect(verbOf('scheduling.paint_house')).toBe('paint house')
  })
})

/** Constants of the same look that are no codes. */
const namesOfOther: ReadonlySet<string> = new Set(['aftercommit_outbox'])
