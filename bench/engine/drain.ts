/**
 * How fast one process drains 10,000 rows of an action that does nothing: claimed, prepared in a transaction, marked,
 * settled under the fence, with history and attempt records. By hand: `npx tsx bench/engine/drain.ts`.
 */
import { randomUUID } from 'node:crypto'
import { benchEngine, doNothing, enqueueMany, median, nothing, openGround, say } from './ground.ts'

const ROWS = 10_000
const RUNS = 5

const ground = await openGround()
const enqueued: number[] = []
const drained: number[] = []
const cpu = { enqueue: [] as number[], drain: [] as number[] }
for (let run = 0; run < RUNS; run++) {
  const tenant = await ground.createTenant()
  const id = randomUUID()
  const began = performance.now()
  const cpuBefore = await ground.cpuMs()
  await enqueueMany(ground, tenant, ROWS, (n) => nothing.request({ id, n }))
  enqueued.push(ROWS / ((performance.now() - began) / 1_000))
  cpu.enqueue.push((await ground.cpuMs()) - cpuBefore)
  await ground.owner.query('vacuum analyze outbox')
  let left = ROWS
  let finished = (): void => undefined
  const all = new Promise<void>((resolve) => (finished = resolve))
  const engine = benchEngine(ground, [doNothing(() => --left === 0 && finished())])
  const started = performance.now()
  const cpuStarted = await ground.cpuMs()
  await engine.start()
  await all
  await engine.stop(10_000)
  drained.push(ROWS / ((performance.now() - started) / 1_000))
  cpu.drain.push((await ground.cpuMs()) - cpuStarted)
}
const rates = (runs: readonly number[]): string => runs.map((rate) => rate.toFixed(0)).join(' ')
say(`enqueue rows/s: median ${median(enqueued).toFixed(0)} of ${rates(enqueued)}`)
say(`drain rows/s: median ${median(drained).toFixed(0)} of ${rates(drained)}`)
const perRow = (runs: readonly number[]): string => `${((median(runs) / ROWS) * 1_000).toFixed(0)} µs`
say(`processor time of client and server per row: enqueue ${perRow(cpu.enqueue)}, drain ${perRow(cpu.drain)}`)
await ground.close()
