/**
 * Calls that are due at a time and nearly always taken back before. All that fall due in the same while share a timer: one
 * for each of them costs more than the rest of an attempt that ends at once.
 */
export interface Deadlines {
  /** Calls at about `atMs` of `performance.now()`, a moment earlier rather than later. Answers how to take it back. */
  at(atMs: number, call: () => void): () => void
}

const STEP_MS = 100

export const deadlines = (): Deadlines => {
  const callsByStep = new Map<number, Set<() => void>>()
  const open = (step: number): Set<() => void> => {
    const calls = new Set<() => void>()
    callsByStep.set(step, calls)
    const fire = (): void => {
      callsByStep.delete(step)
      for (const call of calls) call()
    }
    // Whoever waits for a deadline has something in hand that keeps the process.
    setTimeout(fire, Math.max(0, step * STEP_MS - performance.now())).unref()
    return calls
  }
  return {
    at: (atMs, call) => {
      const step = Math.floor(atMs / STEP_MS)
      const calls = callsByStep.get(step) ?? open(step)
      calls.add(call)
      return () => void calls.delete(call)
    },
  }
}
