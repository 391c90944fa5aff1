import type { SettleTx } from './db.ts'
import type { Attempt } from './handler.ts'
import { leaseEndsAtMs } from './held.ts'
import type { RecordedCall } from './outcome.ts'
import { settleReserveMs, type Runtime } from './runtime.ts'
import type { ClaimedRow } from './sql.ts'

export interface OpenAttempt {
  readonly attempt: Attempt
  readonly calls: readonly RecordedCall[]
  /**
   * The work's result, or undefined when it does not heed its signal: a handler that never returns must cost neither
   * its row the lease nor its lane a worker.
   */
  readonly inTime: <R>(work: () => Promise<R>) => Promise<R | undefined>
  readonly close: () => void
}

/**
 * An attempt whose signal aborts in time to settle before the lease ends, measured on this process's own clock. The signal
 * is made when somebody asks for it: it costs more than the rest of an attempt that ends at once.
 */
export const openAttempt = <T extends SettleTx>(runtime: Runtime<T>, row: ClaimedRow): OpenAttempt => {
  const calls: RecordedCall[] = []
  const leaseMs = runtime.leaseMsOf(row.action)
  let isOver = false
  let controller: AbortController | undefined
  let leeway: NodeJS.Timeout | undefined
  let gaveUp = false
  let onGiveUp = (): void => undefined
  const end = (): void => {
    if (isOver) return
    isOver = true
    controller?.abort()
    leeway = setTimeout(
      () => {
        gaveUp = true
        onGiveUp()
      },
      settleReserveMs(leaseMs) / 2,
    )
  }
  const undo = runtime.deadlines.at(leaseEndsAtMs(row, leaseMs) - settleReserveMs(leaseMs), end)
  const deafen = runtime.shutdown.onOver(end)
  return {
    attempt: {
      now: row.now,
      get signal() {
        controller ??= new AbortController()
        if (isOver) controller.abort()
        return controller.signal
      },
      record: (call) => void calls.push(call),
      traceParent: row.trace_parent ?? undefined,
    },
    calls,
    inTime: (work) => {
      if (gaveUp) return Promise.resolve(undefined)
      return new Promise((resolve, reject) => {
        onGiveUp = () => resolve(undefined)
        work().then(resolve, reject)
      })
    },
    close: () => {
      undo()
      if (leeway !== undefined) clearTimeout(leeway)
      deafen()
    },
  }
}
