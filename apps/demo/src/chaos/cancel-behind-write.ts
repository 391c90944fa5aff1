/** A meeting is cancelled in the middle of its write. */
import { randomBytes } from 'node:crypto'
import { fires, hold, meetingBeside } from './held-call.ts'
import type { Theatre } from './theatre.ts'

/** Whether it came about: a write held at the provider, and a cancellation committed meanwhile. */
export const cancelBehindWrite = async ({ crew, load, owner, leaseMs }: Theatre): Promise<boolean> => {
  const fault = `hold_${randomBytes(6).toString('hex')}`
  const plan = meetingBeside(fault)
  const meeting = await load.open(plan, (address) => hold(crew.control, fault, 'events.insert', address))
  try {
    if (!meeting || !(await fires(crew.control, fault))) return false
    await load.cancel(meeting, plan.purpose)
    // Long enough for a dispatcher that is not told to wait, and short enough for the write's own lease.
    await pause(leaseMs / 4)
    const { rowCount } = await owner.query(
      `select from outbox where aggregate_id = $1 and action = 'scheduling.cancel_event'`,
      [meeting.id],
    )
    return rowCount === 1
  } finally {
    await crew.control.releaseFault(fault)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
