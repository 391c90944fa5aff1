import { alarm, type Alarm } from './alarm.ts'
import type { SettleTx } from './db.ts'
import { keepListening } from './ear.ts'
import { RESCUED_ROWS_MAX } from './rescue.ts'
import type { Runtime } from './runtime.ts'
import { beat, ensurePartitions, nextDueInMs, type ClaimedRow } from './sql.ts'

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
  readonly claimSolo: () => Promise<ClaimedRow | undefined>
  /** Never rejects. */
  readonly run: (row: ClaimedRow) => Promise<void>
  readonly releaseDue: () => Promise<number>
  readonly rescue: () => Promise<number>
  readonly buryUnknown: () => Promise<number>
  readonly sweepOrder: () => Promise<number>
  /** One step of retention; answers whether there may be more to do. Absent when everything is kept. */
  readonly retain?: () => Promise<boolean>
}

export interface RunningLoops {
  /** Resolves when every loop and every row it had in hand has ended. */
  stop(): Promise<void>
}

const BEAT_MS = 5_000
/** Rows of unknown actions wait for minutes anyway. */
const BEATS_PER_UNKNOWN = 12
const BEATS_PER_SWEEP = 2
const RETAIN_MS = 10 * 60_000
/** Between two steps of retention: it has all the time in the world, and whoever settles has not. */
const RETAIN_AGAIN_MS = 100
const PARTITIONS_MS = 6 * 60 * 60_000
const MONTHS_AHEAD = 2

/**
 * One loop per lane, one for rows that are claimed alone, and those that keep house: what falls due, whose lease ran
 * out, that this replica lives, and what is old enough to be forgotten. None waits for another. All are woken by hints and, without them, by their poll.
 */
export const runLoops = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
): Promise<RunningLoops> => {
  const laneAlarms = new Map(runtime.registry.lanes.map((lane) => [lane, alarm()]))
  const solo = alarm()
  const house = { due: alarm(), rescue: alarm(), beat: alarm(), retain: alarm() }
  const ringLanes = (): void => {
    for (const each of laneAlarms.values()) each.ring()
    solo.ring()
  }
  const ear = await keepListening(runtime, (lane) =>
    lane === undefined ? ringLanes() : laneAlarms.get(lane)?.ring(),
  )
  const loops = [
    ...[...laneAlarms].map(([lane, wake]) => laneLoop(runtime, parts, lane, wake)),
    soloLoop(runtime, parts, solo),
    dueLoop(runtime, parts, house.due, ringLanes),
    rescueLoop(runtime, parts, house.rescue, ringLanes),
    beatLoop(runtime, parts, house.beat, () => ear.test()),
    ...(parts.retain ? [retainLoop(runtime, parts.retain, house.retain)] : []),
  ]
  return {
    stop: async () => {
      ringLanes()
      for (const each of Object.values(house)) each.ring()
      await Promise.all(loops)
      await ear.stop()
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
  let inHand = 0
  const ended = (): void => {
    inHand -= 1
    wake.ring()
  }
  while (!runtime.stopping()) {
    const free = concurrency - inHand
    const rows =
      free > 0 ? await guarded(runtime, 'claim', () => parts.claim(lane, Math.min(free, claimMax)), []) : []
    for (const row of rows) {
      inHand += 1
      void parts.run(row).then(ended)
    }
    if (rows.length === 0) await wake.wait(jittered(parts.pollMs, runtime.random()))
  }
  while (inHand > 0) await wake.wait(parts.pollMs)
}

/** Rows that lost a lease, one at a time: if one of them kills this process, it kills no other that did before. */
const soloLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  wake: Alarm,
): Promise<void> => {
  while (!runtime.stopping()) {
    const row = await guarded(runtime, 'claim', parts.claimSolo, undefined)
    if (row) await parts.run(row)
    else await wake.wait(jittered(parts.pollMs, runtime.random()))
  }
}

const dueLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  wake: Alarm,
  ringLanes: () => void,
): Promise<void> => {
  while (!runtime.stopping()) {
    if ((await guarded(runtime, 'due', parts.releaseDue, 0)) > 0) ringLanes()
    const dueInMs = await guarded(runtime, 'due', () => nextDueInMs(runtime.db), undefined)
    const pollMs = jittered(parts.pollMs, runtime.random())
    await wake.wait(Math.max(Math.min(pollMs, dueInMs ?? pollMs), 5))
  }
}

const rescueLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  wake: Alarm,
  ringLanes: () => void,
): Promise<void> => {
  while (!runtime.stopping()) {
    const rescued = await guarded(runtime, 'rescue', parts.rescue, 0)
    if (rescued > 0) ringLanes()
    if (rescued < RESCUED_ROWS_MAX) await wake.wait(jittered(parts.pollMs, runtime.random()))
  }
}

const beatLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  parts: LoopParts,
  wake: Alarm,
  testEar: () => Promise<void>,
): Promise<void> => {
  const { db, replicaId, registry } = runtime
  for (let beats = 0; !runtime.stopping(); beats++) {
    await guarded(runtime, 'heartbeat', () => beat(db, replicaId, registry.names), undefined)
    await guarded(runtime, 'listen', testEar, undefined)
    if (beats % BEATS_PER_UNKNOWN === 0) await guarded(runtime, 'unknown', parts.buryUnknown, 0)
    if (beats % BEATS_PER_SWEEP === 0) await guarded(runtime, 'order', parts.sweepOrder, 0)
    if (beats % Math.ceil(PARTITIONS_MS / BEAT_MS) === 0) {
      await guarded(runtime, 'partitions', () => ensurePartitions(db, MONTHS_AHEAD), undefined)
    }
    await wake.wait(BEAT_MS)
  }
}

const retainLoop = async <T extends SettleTx>(
  runtime: Runtime<T>,
  retain: () => Promise<boolean>,
  wake: Alarm,
): Promise<void> => {
  while (!runtime.stopping()) {
    const more = await guarded(runtime, 'retention', retain, false)
    await wake.wait(more ? RETAIN_AGAIN_MS : jittered(RETAIN_MS, runtime.random()))
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
