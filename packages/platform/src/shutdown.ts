import { errorFields, type Log } from './log.ts'

/**
 * Runs `stop` once, at the first SIGTERM or SIGINT, and ends the process with its result. A second signal ends it at
 * once: whoever sends two does not want to wait.
 */
export const onShutdown = (log: Log, stop: (signal: NodeJS.Signals) => Promise<void>): void => {
  let stopping = false
  const handle = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130)
    stopping = true
    log.info('stopping', { signal })
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('did not stop cleanly', errorFields(error))
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
}
