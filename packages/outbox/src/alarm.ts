/** What a loop sleeps on. */
export interface Alarm {
  ring(): void
  /** Resolves at the next ring, or at once if one came since the last wait, or after the pause. */
  wait(pauseMs: number): Promise<void>
}

export const alarm = (): Alarm => {
  let rung = false
  let release: (() => void) | undefined
  return {
    ring: () => {
      rung = true
      release?.()
    },
    wait: (pauseMs) =>
      new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(timer)
          release = undefined
          rung = false
          resolve()
        }
        const timer = setTimeout(finish, pauseMs)
        release = finish
        if (rung) finish()
      }),
  }
}
