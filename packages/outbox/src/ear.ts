import type { SettleTx } from './db.ts'
import { WAKE_CHANNEL } from './hints.ts'
import type { Runtime } from './runtime.ts'
import { notifyLanes } from './sql.ts'

const LISTEN_AGAIN_MS = 2_000
/** No lane is called so; a dispatcher sends it to itself. */
const TEST_PREFIX = 'ear:'

export interface Ear {
  /**
   * Sends this ear a hint of its own and looks whether the last one arrived. A pooler in transaction mode, or a
   * connection that died without a word, swallows hints; the ear is opened anew then, and polling delivers meanwhile.
   */
  test(): Promise<void>
  stop(): Promise<void>
}

/** Keeps one listening connection open, and opens a new one when it is lost. Until then, polling delivers. */
export const keepListening = async <T extends SettleTx>(
  runtime: Runtime<T>,
  heard: (lane: string | undefined) => void,
): Promise<Ear> => {
  const token = `${TEST_PREFIX}${runtime.replicaId}`
  let close: (() => Promise<void>) | undefined
  let again: NodeJS.Timeout | undefined
  let awaited = false
  let stopped = false

  const take = (payload: string): void => {
    if (payload === token) awaited = false
    else if (!payload.startsWith(TEST_PREFIX)) heard(payload === '' ? undefined : payload)
  }
  const lost = (error: unknown): void => {
    close = undefined
    awaited = false
    if (stopped) return
    runtime.report({ type: 'error', where: 'listen', error })
    clearTimeout(again)
    again = setTimeout(() => void open(), LISTEN_AGAIN_MS)
  }
  const open = async (): Promise<void> => {
    try {
      const opened = await runtime.db.listen(WAKE_CHANNEL, take, lost)
      if (stopped) {
        await opened()
        return
      }
      close = opened
      // Whatever was announced while nobody listened.
      heard(undefined)
    } catch (error) {
      lost(error)
    }
  }
  await open()
  return {
    test: async () => {
      if (!close) return
      if (awaited) {
        const deaf = close
        lost(new Error('the listening connection does not hear its own hints'))
        return deaf()
      }
      awaited = true
      await notifyLanes(runtime.db, WAKE_CHANNEL, [token])
    },
    stop: async () => {
      stopped = true
      clearTimeout(again)
      await close?.()
    },
  }
}
