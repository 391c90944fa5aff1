import { notifyLanes, type Sql } from './sql.ts'

export const WAKE_CHANNEL = 'aftercommit_outbox'

/** How long later hints gather after one has been sent. The first of them never waits. */
const GATHER_MS = 10

/**
 * Tells every dispatcher that lanes have work. The first hint goes out at once; those that come while it is under
 * way, or shortly after, go together, because notifications of one database are committed one after another.
 */
const announcerOn = (outside: Sql): ((lanes: readonly string[]) => Promise<void>) => {
  const gathered = new Set<string>()
  let sending = false
  return async (lanes) => {
    for (const lane of lanes) gathered.add(lane)
    if (sending) return
    sending = true
    try {
      while (gathered.size > 0) {
        const now = [...gathered]
        gathered.clear()
        await notifyLanes(outside, WAKE_CHANNEL, now)
        await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
      }
    } finally {
      sending = false
    }
  }
}

const announcers = new WeakMap<Sql, ReturnType<typeof announcerOn>>()

/** Hints are lost with the process and whenever this fails; polling finds what no hint announced. */
export const announce = (outside: Sql, lanes: readonly string[]): Promise<void> => {
  let announcer = announcers.get(outside)
  if (!announcer) {
    announcer = announcerOn(outside)
    announcers.set(outside, announcer)
  }
  return announcer(lanes)
}
