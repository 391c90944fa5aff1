import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { jsonFaultIn } from './json-fault.ts'

test.each([
  ['', 1, 1, 'a value'],
  ['{"a":', 1, 6, 'a value'],
  ['{"a":1', 1, 7, 'a comma or }'],
  ['[1 2]', 1, 4, 'a comma or ]'],
  ['{"a":1,}', 1, 8, 'a name in double quotes'],
  ["{'a':1}", 1, 2, 'a name in double quotes or }'],
  ['{"a" 1}', 1, 6, 'a colon'],
  ['[1,]', 1, 4, 'a value'],
  ['[', 1, 2, 'a value or ]'],
  ['{\n  "a": 1,\n  "b": nan\n}', 3, 8, 'a value'],
  ['{"a": 1} x', 1, 10, 'the end'],
  ['{"a":"unended}', 1, 6, 'a value'],
  ['01', 1, 1, 'a value'],
  ['[1}', 1, 3, 'a comma or ]'],
])('%j is no JSON from line %d, column %d on', (text, line, column, expected) => {
  expect(jsonFaultIn(text)).toMatchObject({ line, column, expected })
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('it agrees with the parser on what is JSON, and says a place within the text', () => {
  const cut = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', '"', ',', '}', ']', ':', '-', '\\', 'e1'),
    )
    .map(([text, n, removed, put]) => {
      const at = n % (text.length + 1)
      return text.slice(0, at) + put + text.slice(at + removed)
    })
  fc.assert(
    fc.property(fc.oneof(fc.json(), cut), (text) => {
      const fault = jsonFaultIn(text)
      expect(fault === undefined).toBe(isJson(text))
      expect(fault?.offset ?? 0).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: 2_000 },
  )
})

test('depth and length are nothing to it', () => {
  expect(jsonFaultIn(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBeUndefined()
  expect(jsonFaultIn(`"${'x'.repeat(250_000)}`)?.offset).toBe(0)
})
