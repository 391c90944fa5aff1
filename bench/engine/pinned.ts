/**
 * What becomes of an engine while an old snapshot is open, so that nobody may clear away what it leaves behind: a
 * producer keeps its lane full, and the rate with the snapshot is held against the rate without.
 * By hand: `npx tsx bench/engine/pinned.ts [seconds]`.
 */
import { randomUUID } from 'node:crypto'
import type { Claimant } from '../../packages/outbox/src/sql.ts'
import { claimRows, finishRows, noteLaneTurn } from '../../packages/outbox/src/sql.ts'
import { watermark, type Watermark } from '../../packages/outbox/src/watermark.ts'
import { benchEngine, doNothing, enqueueMany, median, nothing, openGround, say } from './ground.ts'

const PINNED_S = Number(process.argv[2] ?? 40)
const BACKLOG = 5_000
const SAMPLE_MS = 2_000

const ground = await openGround()
const claimant: Claimant = {
  replicaId: randomUUID(),
  terms: [{ action: nothing.name, leaseMs: nothing.leaseMs }],
}

/** Holds one snapshot open, as a long report would. */
const pin = async (): Promise<() => Promise<void>> => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  let pinned = (): void => undefined
  const taken = new Promise<void>((resolve) => (pinned = resolve))
  const report = ground.owner.transaction(async (sql) => {
    await sql.query('set transaction isolation level repeatable read')
    await sql.query('set local idle_in_transaction_session_timeout = 0')
    await sql.query('select count(*) from tenant')
    pinned()
    await held
  })
  await taken
  return async () => {
    release()
    await report
  }
}

/** The claim and the settle by themselves, three workers, as fast as they go: the worst that a table is put through. */
const bareWorkers = (marked: boolean, done: (rows: number) => void) => {
  const stop = new AbortController()
  const mark: Watermark = watermark()
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const from = marked ? mark.from() : undefined
      const { rows, last } = await claimRows(ground.dispatcher, claimant, nothing.lane, 100, from)
      if (marked) mark.note(from, last)
      if (last && Math.random() < 0.02)
        await noteLaneTurn(ground.dispatcher, nothing.lane, BigInt(last.turn) + 1n)
      const ends = rows.map(({ id, fence }) => ({
        id,
        fence,
        outcome: 'succeeded' as const,
        reason: undefined,
        calls: [],
      }))
      if (ends.length > 0) done((await finishRows(ground.dispatcher, ends)).size)
    }
  }
  const works = [work(), work(), work()]
  return async () => {
    stop.abort()
    await Promise.all(works)
  }
}

const engineWorkers = (done: (rows: number) => void) => {
  const engine = benchEngine(ground, [doNothing(() => done(1))])
  const started = engine.start()
  return async () => {
    await started
    await engine.stop(10_000)
  }
}

/** What one sample saw: by the clock, and by the processor time that client and server spent, writing rows included. */
interface Sample {
  readonly perSecond: number
  readonly perCpuSecond: number
}

/** Samples of workers whose lane is never empty. */
const run = async (
  workers: (done: (rows: number) => void) => () => Promise<void>,
  seconds: number,
): Promise<readonly Sample[]> => {
  const tenant = await ground.createTenant()
  const id = randomUUID()
  let written = 0
  let ended = 0
  const stopProducing = new AbortController()
  const write = async (rows: number): Promise<void> => {
    const from = written
    written += rows
    await enqueueMany(ground, tenant, rows, (n) => nothing.request({ id, n: from + n }))
  }
  await write(BACKLOG)
  const producing = (async () => {
    while (!stopProducing.signal.aborted) {
      if (written - ended < BACKLOG) await write(500)
      else await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const stop = workers((rows) => void (ended += rows))
  const samples: Sample[] = []
  for (let at = 0; at < seconds * 1_000; at += SAMPLE_MS) {
    const before = { ended, atMs: performance.now(), cpuMs: await ground.cpuMs() }
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
    const rows = ended - before.ended
    samples.push({
      perSecond: rows / ((performance.now() - before.atMs) / 1_000),
      perCpuSecond: rows / (((await ground.cpuMs()) - before.cpuMs) / 1_000),
    })
  }
  stopProducing.abort()
  await producing
  await stop()
  await ground.owner.query('delete from outbox')
  await ground.owner.query('vacuum analyze outbox')
  return samples
}

const compare = async (
  what: string,
  workers: (done: (rows: number) => void) => () => Promise<void>,
): Promise<void> => {
  const free = await run(workers, 10)
  const unpin = await pin()
  const pinned = await run(workers, PINNED_S)
  await unpin()
  await ground.owner.query('vacuum analyze outbox')
  const late = pinned.slice(-5)
  for (const by of ['perSecond', 'perCpuSecond'] as const) {
    const [before, after] = [free, late].map((samples) => median(samples.map((sample) => sample[by])))
    const ratio = ((after ?? 0) / (before ?? 0)).toFixed(2)
    say(
      `${what}, rows ${by}: free ${before?.toFixed(0)}, at the end of ${PINNED_S} s ${after?.toFixed(0)}: ${ratio}x`,
    )
  }
  say(`  every 2 s: ${pinned.map(({ perSecond }) => perSecond.toFixed(0)).join(' ')}`)
}

await compare('claim and settle, without a mark', (done) => bareWorkers(false, done))
await compare('claim and settle, with the mark', (done) => bareWorkers(true, done))
await compare('the whole engine', engineWorkers)
await ground.close()
