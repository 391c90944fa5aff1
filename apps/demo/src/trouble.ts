/** Blows to the dispatchers themselves, dealt while the story runs: real signals to real processes. */
import { once } from 'node:events'
import type { SimulatorControl } from '@aftercommit/simulator'
import { attemptsIn, type ApiClient, type TraceAnswer } from './client.ts'
import type { RunningProcess } from './processes.ts'
import type { Stack } from './stack.ts'

/** A blow that was planned, and when it landed. */
export interface Blow {
  readonly id: string
  readonly asked: string
  readonly fired: { at: string }[]
}

/** The call in the middle of which a dispatcher is stopped. */
export const HELD_CALL = 'the call during which a dispatcher is stopped'

const LOOK_EVERY_MS = 40
const WAIT_MAX_MS = 30_000

/**
 * Delivers one claim twice: a dispatcher is stopped in the middle of its call, its lease runs out, another one does
 * the work, and then the first one wakes and tries to settle what it no longer holds.
 */
export const deliverTwice = (
  stack: Stack,
  control: SimulatorControl,
  address: string,
  tell: (line: string) => void,
): {
  readonly blow: Blow
  readonly arrange: () => Promise<void>
  readonly run: (api: ApiClient, meetingId: string) => Promise<void>
} => {
  const blow: Blow = {
    id: 'one claim is delivered to two dispatchers',
    asked: 'SIGSTOP in the middle of a call, SIGCONT after another dispatcher has finished the work',
    fired: [],
  }
  const hold = HELD_CALL
  const run = async (api: ApiClient, meetingId: string): Promise<void> => {
    await control.waitForFault(hold)
    const held = await eventually(async () => heldRead(await api.trace(meetingId), stack.dispatchers))
    held.process.child.kill('SIGSTOP')
    tell(`${held.process.name} is stopped (SIGSTOP) in the middle of a read. Its lease will run out.`)
    await eventually(async () => {
      const attempts = attemptsIn(await api.trace(meetingId))
      return attempts.find(({ actionId, outcome }) => actionId === held.actionId && outcome === 'succeeded')
    })
    await control.releaseFault(hold)
    held.process.child.kill('SIGCONT')
    await within(
      WAIT_MAX_MS,
      held.process.heard((line) => line.message === 'stale'),
    )
    blow.fired.push({ at: new Date().toISOString() })
    tell(`${held.process.name} woke and tried to settle: its fencing token is stale, and it changed nothing.`)
  }
  const arrange = async (): Promise<void> => {
    await control.addFault({
      id: hold,
      provider: 'google',
      operation: 'freebusy.query',
      address,
      skip: 0,
      times: 1,
      act: { type: 'hold', when: 'after_effect' },
    })
  }
  return { blow, arrange, run }
}

const heldRead = (
  trace: TraceAnswer,
  dispatchers: readonly RunningProcess[],
): { readonly actionId: string; readonly process: RunningProcess } | undefined => {
  for (const { action, actionId, heldBy } of trace.pending) {
    const process = dispatchers.find(({ ready }) => ready.replicaId === heldBy)
    if (action === 'scheduling.read_availability' && process) return { actionId, process }
  }
  return undefined
}

/** Kills a dispatcher the moment that a commit has been answered, and starts another one. */
export const killAfterCommit = (
  stack: Stack,
  tell: (line: string) => void,
): { readonly blow: Blow; readonly run: () => Promise<void> } => {
  const blow: Blow = { id: 'a dispatcher is killed right after a commit', asked: 'SIGKILL', fired: [] }
  return {
    blow,
    run: async () => {
      const [victim] = stack.dispatchers
      if (!victim) throw new Error('there is no dispatcher to kill')
      const exited = once(victim.child, 'exit')
      victim.child.kill('SIGKILL')
      await exited
      blow.fired.push({ at: new Date().toISOString() })
      tell(
        `${victim.name} is killed (SIGKILL) right after the commit. The row is the work: nothing was in its memory.`,
      )
      await stack.addDispatcher()
    },
  }
}

const eventually = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  const until = Date.now() + WAIT_MAX_MS
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (Date.now() > until) throw new Error('what the story waits for did not happen')
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

const within = async (ms: number, work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('what the story waits for did not happen')), ms)
  })
  await Promise.race([work, tooLate])
  clearTimeout(timer)
}
