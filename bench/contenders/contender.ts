/**
 * What every contender can do, and the child process in which one does it. Imports nothing of the workspace, because a peer
 * may need a newer Node than the one the workspace runs on, and that Node reads this file as it is.
 */

/** How a contender is set: for many rows, or for few and soon. */
export type Mode = 'throughput' | 'latency'

export interface Contender {
  /** Makes the schema, once per database. */
  prepare(): Promise<void>
  /** Commits rows `from` … `from + count - 1` in the contender's own best way for many. */
  add(from: number, count: number): Promise<void>
  /** One row in a transaction of its own. Calls `committing` when nothing is left to do but the commit. */
  addOne(n: number, committing: () => void): Promise<void>
  /** Opens connections, so that the clock does not count how long that takes. */
  open(mode: Mode): Promise<Opened>
  /** Forgets every row, between repetitions. */
  clear(): Promise<void>
  end(): Promise<void>
}

export interface Opened {
  /** Starts the workers; `handled` is called as a row's handler begins. Answers how to stop them. */
  start(handled: (n: number) => void): Promise<() => Promise<void>>
  /** Whether no row is unfinished. */
  readonly isEmpty: () => Promise<boolean>
  close(): Promise<void>
}

/** The same bytes for everybody: references and a pad, about 200 of them as JSON. Each is about a thing of its own. */
export const payloadOf = (n: number): { id: string; n: number; pad: string } => ({
  id: `018f4a6e-0000-7000-8000-${n.toString(16).padStart(12, '0')}`,
  n,
  pad: 'x'.repeat(120),
})

export type Request =
  | { readonly type: 'prepare' }
  | { readonly type: 'add'; readonly from: number; readonly count: number }
  | { readonly type: 'drain'; readonly rows: number; readonly untilEmpty: boolean }
  | { readonly type: 'latency'; readonly rows: number; readonly gapMs: number }
  | {
      readonly type: 'steady'
      readonly seconds: number
      readonly sampleMs: number
      readonly backlog: number
      readonly from: number
    }
  | { readonly type: 'clear' }
  | { readonly type: 'end' }

export interface Answer {
  /** How long the timed part took. */
  readonly ms?: number
  /** Processor time of this process in the timed part. */
  readonly cpuMs?: number
  /** Milliseconds from commit to handler, or rows per second, sample by sample. */
  readonly samples?: readonly number[]
  /** Rows written by a steady run. */
  readonly written?: number
  readonly error?: string
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** From the start of the workers until every row is done with, in the database and not only in the handler. */
const drain = async (contender: Contender, rows: number, untilEmpty: boolean): Promise<Answer> => {
  const opened = await contender.open('throughput')
  let left = rows
  let finish = (): void => undefined
  const all = new Promise<void>((resolve) => (finish = resolve))
  const cpuBefore = cpuMs()
  const began = performance.now()
  const stop = await opened.start(() => --left === 0 && finish())
  await all
  if (untilEmpty) while (!(await opened.isEmpty())) await pause(2)
  const answer = { ms: performance.now() - began, cpuMs: cpuMs() - cpuBefore }
  await stop()
  await opened.close()
  return answer
}

/** Rows far enough apart that each finds an idle worker. */
const latency = async (contender: Contender, rows: number, gapMs: number): Promise<Answer> => {
  const opened = await contender.open('latency')
  const begunAt = new Map<number, (at: number) => void>()
  const stop = await opened.start((n) => begunAt.get(n)?.(performance.now()))
  await pause(1_000)
  const samples: number[] = []
  for (let n = 0; n < rows; n++) {
    const handled = new Promise<number>((resolve) => begunAt.set(n, resolve))
    let committedAt = 0
    await contender.addOne(n, () => (committedAt = performance.now()))
    samples.push((await handled) - committedAt)
    // Not in step with anybody's polling.
    await pause(gapMs * (0.5 + Math.random()))
  }
  await stop()
  await opened.close()
  return { samples }
}

/** Workers whose queue is never empty, sampled. */
const steady = async (
  contender: Contender,
  { seconds, sampleMs, backlog, from }: Extract<Request, { type: 'steady' }>,
): Promise<Answer> => {
  const opened = await contender.open('throughput')
  let written = 0
  let handled = 0
  const write = async (count: number): Promise<void> => {
    const at = from + written
    written += count
    await contender.add(at, count)
  }
  await write(backlog)
  const stopProducing = new AbortController()
  const producing = (async () => {
    while (!stopProducing.signal.aborted) {
      if (written - handled < backlog) await write(500)
      else await pause(5)
    }
  })()
  const stop = await opened.start(() => {
    handled += 1
  })
  const samples: number[] = []
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    const before = { handled, at: performance.now() }
    await pause(sampleMs)
    samples.push((handled - before.handled) / ((performance.now() - before.at) / 1_000))
  }
  stopProducing.abort()
  await producing
  await stop()
  await opened.close()
  return { samples, written }
}

const answerTo = async (contender: Contender, request: Request): Promise<Answer> => {
  switch (request.type) {
    case 'prepare':
      await contender.prepare()
      return {}
    case 'add': {
      const began = performance.now()
      const cpuBefore = cpuMs()
      await contender.add(request.from, request.count)
      return { ms: performance.now() - began, cpuMs: cpuMs() - cpuBefore }
    }
    case 'drain':
      return drain(contender, request.rows, request.untilEmpty)
    case 'latency':
      return latency(contender, request.rows, request.gapMs)
    case 'steady':
      return steady(contender, request)
    case 'clear':
      await contender.clear()
      return {}
    case 'end':
      await contender.end()
      return {}
  }
}

/** Serves one contender to the parent process, request by request. */
export const serve = (contenderAt: (url: string) => Contender): void => {
  const contender = contenderAt(process.argv[2] ?? '')
  // The parent is gone, or has said that this is the end.
  process.on('disconnect', () => process.exit())
  process.on('message', (request: Request) => {
    answerTo(contender, request)
      .catch((error: unknown): Answer => ({
        error: error instanceof Error ? String(error.stack) : String(error),
      }))
      .then((answer) => {
        process.send?.(answer)
        if (request.type === 'end') process.disconnect()
      })
      .catch((error: unknown) => {
        throw error
      })
  })
}
