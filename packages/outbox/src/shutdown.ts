/** That running attempts must end, because the grace period of a shutdown is over. */
export interface Shutdown {
  readonly isOver: () => boolean
  /** Calls once, at the end of the grace or at once if it is over. Answers how to be called no more. */
  readonly onOver: (listener: () => void) => () => void
}

/** One for a whole engine: thousands of attempts a second can listen, where a listener on an AbortSignal costs more each. */
export const shutdown = (): Shutdown & { readonly end: () => void } => {
  const listeners = new Set<() => void>()
  let over = false
  return {
    isOver: () => over,
    onOver: (listener) => {
      if (over) listener()
      else listeners.add(listener)
      return () => listeners.delete(listener)
    },
    end: () => {
      over = true
      const heard = [...listeners]
      listeners.clear()
      for (const listener of heard) listener()
    },
  }
}
