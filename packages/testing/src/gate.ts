/** A place where a test holds another thread of work, sees that it has arrived, and lets it go. */
export interface Gate {
  /** Called by the held work: reports its arrival and waits. */
  pass(): Promise<void>
  /** Resolves when the work has arrived. */
  readonly arrived: Promise<void>
  open(): void
}

export const gate = (): Gate => {
  const arrival = resolvers()
  const opening = resolvers()
  return {
    pass: async () => {
      arrival.resolve()
      await opening.promise
    },
    arrived: arrival.promise,
    open: () => opening.resolve(),
  }
}

// Promise.withResolvers is younger than the oldest Node we support.
const resolvers = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
