import { expect, test } from '@jest/globals'
import { rewritten } from './plant.ts'

test('a statement is rewritten where it stands', () => {
  expect(rewritten('where id = $1 and fence = $2', { find: ' and fence = $2', replace: '' })).toBe(
    'where id = $1',
  )
})

test('a defect that cannot be planted exactly once is an error, for nobody would find it', () => {
  const rewrite = { find: 'fence', replace: '' }
  expect(() => rewritten('no such word', rewrite)).toThrow('found 0 times')
  expect(() => rewritten('fence and fence', rewrite)).toThrow('found 2 times')
})
