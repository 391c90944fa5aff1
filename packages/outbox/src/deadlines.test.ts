import { jest } from '@jest/globals'
import { deadlines } from './deadlines.ts'

// The time of the timers is given by each test, and moves only when told to.
beforeEach(() => {
  jest.useFakeTimers({ now: 0 })
})
afterEach(() => {
  jest.useRealTimers()
})

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

test('a call comes in the last tenth of a second before its time, and never after it', () => {
  const due = deadlines()
  const cameAt: (readonly [number, number])[] = []
  const times = [1, 99, 100, 101, 950, 60_000].map((ms) => performance.now() + ms)
  for (const at of times) due.at(at, () => void cameAt.push([at, performance.now()]))
  pass(60_000)
  expect(cameAt.map(([at]) => at)).toEqual(times)
  for (const [at, now] of cameAt) expect([now <= at, at - now <= 100]).toEqual([true, true])
})

test('a time that has passed is due at once', () => {
  const due = deadlines()
  pass(5_000)
  const called: string[] = []
  due.at(performance.now() - 3_000, () => void called.push('late'))
  pass(1)
  expect(called).toEqual(['late'])
})

test('what is taken back does not come, and those it shared a timer with do', () => {
  const due = deadlines()
  const called: string[] = []
  const at = performance.now() + 1_000
  const undo = due.at(at, () => void called.push('taken back'))
  due.at(at, () => void called.push('kept'))
  undo()
  undo()
  pass(1_000)
  expect(called).toEqual(['kept'])
})

test('many deadlines of one while are one timer', () => {
  const due = deadlines()
  const at = performance.now() + 1_050
  for (let n = 0; n < 1_000; n++) due.at(at + (n % 40), () => undefined)
  expect(jest.getTimerCount()).toBe(1)
})
