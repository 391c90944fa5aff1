/** A stage of real processes: what production runs, and real signals. */
import { once } from 'node:events'
import { simulatorControl } from '@aftercommit/simulator'
import pg from 'pg'
import type { Fleet } from '../fleet.ts'
import type { RunningProcess } from '../processes.ts'
import { clientOf } from './client.ts'
import { untilQuiet } from './settling.ts'
import { heldUntil, isEnded, onlyHeldRow, outboxLedger } from './sql.ts'
import type { Clock, Signal, Stage, Struck } from './stage.ts'

export interface ProcessStageOptions {
  readonly fleet: Fleet
  readonly ownerUrl: string
  readonly tenantId: string
  readonly apiKey: string
  readonly clockOver: (owner: pg.Pool) => Clock
}

const LOOK_EVERY_MS = 30
const WAIT_MAX_MS = 30_000

export const processStage = ({
  fleet,
  ownerUrl,
  tenantId,
  apiKey,
  clockOver,
}: ProcessStageOptions): Stage => {
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 2 })
  // Whoever asks hears of it; a connection that nobody uses may go with its server.
  owner.on('error', () => undefined)
  const clock = clockOver(owner)
  const control = simulatorControl(fleet.simulatorUrl)
  const ledger = outboxLedger(owner, tenantId)
  const killed = new Set<RunningProcess>()
  const signals: Signal[] = []
  const note = (id: string, asked: string): void => {
    signals.push({ id, asked, fired: [{ at: new Date().toISOString() }] })
  }
  const replicaIdOf = ({ ready }: RunningProcess): string => String(ready.replicaId)
  /** What is left of a lease is waited for where the clock is real. */
  const passLease = async (until: Date | undefined): Promise<void> => {
    if (until && !clock.isReal) await clock.moveTo(new Date(until.getTime() + 1))
  }

  const killDispatcher = async (): Promise<Struck> => {
    const victim = fleet.dispatchers.find((each) => !killed.has(each))
    if (!victim) throw new Error('there is no dispatcher to kill')
    const exited = once(victim.child, 'exit')
    victim.child.kill('SIGKILL')
    killed.add(victim)
    await exited
    const at = await clock.now()
    note(`${victim.name} is killed right after a commit`, 'SIGKILL')
    await fleet.addDispatcher()
    await passLease(await heldUntil(owner, replicaIdOf(victim)))
    return { name: victim.name, at }
  }

  const freezeDispatcher = async (fault: string, look: () => Promise<void>): Promise<Struck> => {
    await control.waitForFault(fault)
    const held = await eventually(() => onlyHeldRow(owner, tenantId))
    const frozen = fleet.dispatchers.find((each) => replicaIdOf(each) === held.replicaId)
    if (!frozen) throw new Error('a dispatcher holds the row that nobody started')
    frozen.child.kill('SIGSTOP')
    note(
      `${frozen.name} is frozen in the middle of a call`,
      'SIGSTOP, SIGCONT after another has done its work',
    )
    await look()
    await passLease(held.until)
    await eventually(async () => ((await isEnded(owner, held.id)) ? true : undefined))
    await control.releaseFault(fault)
    frozen.child.kill('SIGCONT')
    await within(
      WAIT_MAX_MS,
      frozen.heard(({ message }) => message === 'stale'),
    )
    return { name: frozen.name, at: await clock.now() }
  }

  return {
    client: clientOf(fleet.apiUrl, apiKey),
    control,
    simulatorUrl: fleet.simulatorUrl,
    ledger,
    clock,
    settle: (look) => untilQuiet(ledger, look),
    killDispatcher,
    freezeDispatcher,
    signals,
    dispatcherName: (replicaId) =>
      fleet.dispatchers.find((each) => replicaIdOf(each) === replicaId)?.name ?? 'nobody',
    stop: () => owner.end(),
  }
}

const eventually = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  const giveUpAt = Date.now() + WAIT_MAX_MS
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (Date.now() > giveUpAt) throw new Error('what the story waits for did not happen')
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
