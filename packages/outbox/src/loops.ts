import type { SettleTx } from './db.ts'
import { WAKE_CHANNEL } from './enqueue.ts'
import type { Runtime } from './runtime.ts'
import { beat, forgetReplica, nextDueInMs, type ClaimedRow } from './sql.ts'

export interface LaneOptions {
  /** Rows of this lane that one dispatcher works on at a time. */
  readonly concurrency: number
  /** Rows taken by one claim. */
  readonly claimMax: number
}

export interface LoopParts {
  readonly laneOf: (lane: string) => LaneOptions
  readonly pollMs: number
  readonly claim: (lane: string, rowsMax: number) => Promise<readonly ClaimedRow[]>
  readonly run: (row: ClaimedRow) => Promise<void>
  readonly releaseDue: () => Promise<number>
  readonly rescue: () => Promise<number>
}

export interface RunningLoops {
  /** Resolves when every loop and every row it had in hand has ended. */
  stop(): Promise<void>
}

const BEAT_MS = 5_000
const LISTEN_AGAIN_MS = 5_000

/** One loop per lane, one for what falls due, all woken by hints and, without them, by their poll. */
export const runLoops = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
): Promise<RunningLoops> => {
  const alarms = runtime.registry.lanes.map((lane) => ({ lane, alarm: alarm() }))
  const dueAlarm = alarm()
  const wakeAll = (): void => alarms.forEach((each) => each.alarm.ring())
  const heard = (payload: string): void => {
    for (const each of alarms) if (payload === '' || payload === each.lane) each.alarm.ring()
    dueAlarm.ring()
  }
  const ear = await keepListening(runtime, heard)
  await beat(runtime.db, runtime.replicaId, runtime.registry.names)
  const loops = [
    ...alarms.map((each) => laneLoop(runtime, parts, each.lane, each.alarm)),
    dueLoop(runtime, parts, dueAlarm, wakeAll),
  ]
  return {
    stop: async () => {
      wakeAll()
      dueAlarm.ring()
      await Promise.all(loops)
      await ear.stop()
      await forgetReplica(runtime.db, runtime.replicaId).catch((error: unknown) =>
        runtime.report({ type: 'error', where: 'heartbeat', error }),
      )
    },
  }
}

const laneLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  lane: string,
  wake: Alarm,
): Promise<void> => {
  const { concurrency, claimMax } = parts.laneOf(lane)
  const inHand = new Set<Promise<void>>()
  while (!runtime.stopping()) {
    const free = concurrency - inHand.size
    const rows =
      free > 0 ? await guarded(runtime, 'claim', () => parts.claim(lane, Math.min(free, claimMax)), []) : []
    for (const row of rows) {
      const work: Promise<void> = parts.run(row).finally(() => {
        inHand.delete(work)
        wake.ring()
      })
      inHand.add(work)
    }
    if (rows.length === 0) await wake.wait(jittered(parts.pollMs, runtime.random()))
  }
  await Promise.all(inHand)
}

const dueLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  wake: Alarm,
  wakeLanes: () => void,
): Promise<void> => {
  let beatInMs = BEAT_MS
  while (!runtime.stopping()) {
    const freed = await guarded(
      runtime,
      'due',
      async () => (await parts.releaseDue()) + (await parts.rescue()),
      0,
    )
    if (freed > 0) wakeLanes()
    const dueInMs = await guarded(runtime, 'due', () => nextDueInMs(runtime.db), undefined)
    const pauseMs = Math.min(jittered(parts.pollMs, runtime.random()), dueInMs ?? parts.pollMs)
    await wake.wait(Math.max(pauseMs, 5))
    beatInMs -= pauseMs
    if (beatInMs <= 0) {
      beatInMs = BEAT_MS
      const { db, replicaId, registry } = runtime
      await guarded(runtime, 'heartbeat', () => beat(db, replicaId, registry.names), undefined)
    }
  }
}

/** A loop outlives its errors: the database may be away for any length of time. */
const guarded = async <T extends SettleTx, R>(
  runtime: Runtime<T>,
  where: string,
  work: () => Promise<R>,
  otherwise: R,
): Promise<R> => {
  try {
    return await work()
  } catch (error) {
    runtime.report({ type: 'error', where, error })
    return otherwise
  }
}

/** Between half and one and a half of the pause, so that replicas do not poll in step. */
const jittered = (pauseMs: number, random: number): number => Math.round(pauseMs * (0.5 + random))

interface Alarm {
  ring(): void
  /** Resolves at the next ring, or at once if one came since the last wait, or after the pause. */
  wait(pauseMs: number): Promise<void>
}

const alarm = (): Alarm => {
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

/** Keeps one listening connection open, and opens a new one when it is lost. Until then, polling delivers. */
const keepListening = async <T extends SettleTx>(
  runtime: Runtime<T>,
  heard: (payload: string) => void,
): Promise<{ stop(): Promise<void> }> => {
  let close: (() => Promise<void>) | undefined
  let again: NodeJS.Timeout | undefined
  let stopped = false
  const open = async (): Promise<void> => {
    try {
      close = await runtime.db.listen(WAKE_CHANNEL, heard, (error) => {
        runtime.report({ type: 'error', where: 'listen', error })
        retry()
      })
    } catch (error) {
      runtime.report({ type: 'error', where: 'listen', error })
      retry()
    }
  }
  const retry = (): void => {
    close = undefined
    if (!stopped) again = setTimeout(() => void open(), LISTEN_AGAIN_MS)
  }
  await open()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(again)
      await close?.()
    },
  }
}
