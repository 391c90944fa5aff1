/** A dispatcher that sleeps through the end of its lease, and wakes when its rows are somebody else's. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Worker } from './crew.ts'
import { fires, hold, meetingBeside } from './held-call.ts'
import type { Owner } from './owner.ts'
import type { Theatre } from './theatre.ts'

const LOOK_EVERY_MS = 50
const HOLDS_MAX = 40

const until = async (withinMs: number, happened: () => Promise<boolean>): Promise<boolean> => {
  for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt;) {
    if (await happened()) return true
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return false
}

/** Resolves when no row is leased to it any more, or when everything it could hold has run out. */
export const freezeUntilLost = async (owner: Owner, worker: Worker, leaseMs: number): Promise<void> => {
  // A statement that it sent before it was stopped may still be on its way.
  const soonestMs = Date.now() + leaseMs
  await until(leaseMs * 4, async () => {
    const { rowCount } = await owner.query(
      `select from outbox where state = 'leased' and lease_owner = $1 limit 1`,
      [worker.replicaId],
    )
    return Date.now() > soonestMs && rowCount === 0
  })
}

const Held = z.object({ id: z.string(), fence: z.string(), replicaId: z.string() })

/**
 * Freezes whoever reads back a certain event. The call is held for whoever makes it again, so the row lives on under
 * newer fences, and what the sleeper settles when it wakes would reach it. Answers whether it came about.
 */
export const freezeInCall = async ({ crew, load, owner, leaseMs }: Theatre): Promise<boolean> => {
  const fault = `hold_${randomBytes(6).toString('hex')}`
  const before = (address: string) => hold(crew.control, fault, 'events.get', address, HOLDS_MAX)
  const meeting = await load.open(meetingBeside(fault), before)
  let frozen: Worker | undefined
  try {
    if (!meeting || !(await fires(crew.control, fault))) return false
    const { rows } = await owner.query(
      `select id, fence, lease_owner as "replicaId" from outbox
         where aggregate_id = $1 and action = 'scheduling.read_back_event' and state = 'leased'`,
      [meeting.id],
    )
    const held = Held.safeParse(rows[0])
    frozen = held.success
      ? [...crew.workers.values()].find(({ replicaId }) => replicaId === held.data.replicaId)
      : undefined
    if (!held.success || !frozen) return false
    frozen.running.child.kill('SIGSTOP')
    const lost = await until(leaseMs * 4, async () => {
      const { rowCount } = await owner.query('select from outbox where id = $1 and fence > $2', [
        held.data.id,
        String(BigInt(held.data.fence) + 1n),
      ])
      return rowCount === 1
    })
    frozen.running.child.kill('SIGCONT')
    // It wakes, gives up its call, and tries to settle, all while the row is still somebody's.
    await new Promise((resolve) => setTimeout(resolve, leaseMs / 3))
    return lost
  } finally {
    frozen?.running.child.kill('SIGCONT')
    await crew.control.releaseFault(fault)
  }
}
