import { expect, test } from '@jest/globals'
import { startSampling } from './metrics.ts'

/** Resolves when it has been called so many times. */
const counted = (times: number) => {
  let reached: () => void = () => undefined
  const done = new Promise<void>((resolve) => (reached = resolve))
  let calls = 0
  const call = (): void => {
    if (++calls === times) reached()
  }
  return { call, done }
}

test('samples go on after one that failed, and the failure is told', async () => {
  const [samples, failures] = [counted(3), counted(2)]
  const stop = startSampling({
    everyMs: 1,
    sample: () => {
      samples.call()
      return Promise.reject(new Error('no database'))
    },
    onError: failures.call,
  })
  await Promise.all([samples.done, failures.done])
  await stop()
})

test('stopping waits for the sample that runs, and there is none after it', async () => {
  let taken = 0
  let finish: () => void = () => undefined
  const stop = startSampling({
    everyMs: 1,
    sample: async () => {
      await new Promise<void>((resolve) => (finish = resolve))
      taken++
    },
    onError: () => undefined,
  })
  const stopped = stop()
  finish()
  await stopped
  expect(taken).toBe(1)
})
