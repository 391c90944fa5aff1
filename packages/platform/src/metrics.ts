/** What every process has in common when it lets itself be measured. */
import { collectDefaultMetrics, Registry } from 'prom-client'

export type { Registry }

export const createMetrics = (): Registry => new Registry()

/** Memory, processor time, event loop and garbage collection of this process. */
export const collectProcessMetrics = (metrics: Registry): void => collectDefaultMetrics({ register: metrics })

export interface Sampling {
  readonly everyMs: number
  readonly sample: () => Promise<void>
  /** A sample failed. What was sampled before stays, with the time at which it was true. */
  readonly onError: (error: unknown) => void
}

/**
 * Samples at once and then at a steady pace, and never when somebody looks: a slow or absent database makes neither a
 * scrape slow nor metrics disappear. One sample at a time. Answers how to stop.
 */
export const startSampling = ({ everyMs, sample, onError }: Sampling): (() => Promise<void>) => {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const round = async (): Promise<void> => {
    await sample().catch(onError)
    if (stopped) return
    timer = setTimeout(() => void (running = round()), everyMs)
    timer.unref()
  }
  let running = round()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
