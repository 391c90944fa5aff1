import { expect, test } from '@jest/globals'
import { tokenBuckets } from './rate-limit.ts'

test('a bucket gives its burst at once and then its rate, and says how long until the next', () => {
  const waitMs = tokenBuckets({ perSecond: 2, burst: 3 })
  expect([waitMs('a', 0), waitMs('a', 0), waitMs('a', 0)]).toEqual([0, 0, 0])
  expect(waitMs('a', 0)).toBe(500)
  expect(waitMs('a', 250)).toBe(250)
  expect(waitMs('a', 500)).toBe(0)
  expect(waitMs('a', 500)).toBe(500)
})

test('a bucket that rested is full and not fuller', () => {
  const waitMs = tokenBuckets({ perSecond: 1, burst: 2 })
  waitMs('a', 0)
  expect([waitMs('a', 3_600_000), waitMs('a', 3_600_000)]).toEqual([0, 0])
  expect(waitMs('a', 3_600_000)).toBeGreaterThan(0)
})

test('nobody draws from the bucket of another', () => {
  const waitMs = tokenBuckets({ perSecond: 1, burst: 1 })
  expect(waitMs('a', 0)).toBe(0)
  expect(waitMs('b', 0)).toBe(0)
  expect(waitMs('a', 0)).toBe(1000)
})
