/** Does to the processes what the plan says, one step after the other. */
import { randomBytes } from 'node:crypto'
import { cancelBehindWrite } from './cancel-behind-write.ts'
import type { Worker } from './crew.ts'
import { freezeInCall, freezeUntilLost } from './freeze.ts'
import type { Owner } from './owner.ts'
import { roundAt, type Step } from './plan.ts'
import type { Theatre } from './theatre.ts'

/** Round after round until the time is over, and one round in any case: what was not done proves nothing. */
export const makeDisorder = async (
  theatre: Theatre,
  untilMs: number,
  stopping: () => boolean,
): Promise<void> => {
  for (let round = 1; round === 1 || Date.now() < untilMs; round++) {
    for (const { pauseMs, ...step } of roundAt(theatre.seed, round)) {
      if (stopping() || (round > 1 && Date.now() > untilMs)) return
      await pause(pauseMs)
      theatre.tell(`${new Date().toISOString().slice(11, 19)}  ${sentenceOfStep(step)}`)
      await perform(theatre, step)
    }
  }
}

const perform = async (theatre: Theatre, step: Step): Promise<void> => {
  const { server, owner, crew, tally } = theatre
  switch (step.type) {
    case 'kill_dispatcher': {
      const worker = crew.workers.get(step.slot)
      if (!worker) throw new Error(`no dispatcher is in place ${step.slot}`)
      await crew.killWorker(worker)
      tally.add('dispatchers killed')
      await pause(step.downMs)
      await crew.startWorker(step.slot)
      return
    }
    case 'kill_api':
      await crew.killApi()
      tally.add('APIs killed')
      await pause(step.downMs)
      await crew.startApi()
      return
    case 'crash_database':
      await server.crash(step.how)
      tally.add('databases crashed')
      return
    case 'cut_connections':
      tally.add('connections cut', await cutConnections(owner, step.percent))
      return
    case 'freeze_dispatcher': {
      const worker = crew.workers.get(step.slot)
      if (worker) await freeze(theatre, worker)
      return
    }
    case 'freeze_in_call':
      if (await comesAbout(() => freezeInCall(theatre))) tally.add('dispatchers frozen past their lease')
      return
    case 'cancel_behind_write':
      if (await comesAbout(() => cancelBehindWrite(theatre))) tally.add('cancellations behind a write')
      return
    case 'trouble':
      for (const trouble of step.troubles) {
        await crew.control.addFault({ id: `trouble_${randomBytes(6).toString('hex')}`, ...trouble })
      }
      return
  }
}

const TRIES_MAX = 3

/** What has to be met in the middle of a call is tried more than once. */
const comesAbout = async (arrange: () => Promise<boolean>): Promise<boolean> => {
  for (let tries = 1; tries <= TRIES_MAX; tries++) if (await arrange()) return true
  return false
}

const freeze = async ({ owner, leaseMs, tally }: Theatre, worker: Worker): Promise<void> => {
  worker.running.child.kill('SIGSTOP')
  try {
    await freezeUntilLost(owner, worker, leaseMs)
    tally.add('dispatchers frozen past their lease')
  } finally {
    worker.running.child.kill('SIGCONT')
  }
}

/** Of the product's own connections, not of the observer's. Answers how many were cut. */
const cutConnections = async (owner: Owner, percent: number): Promise<number> => {
  const { rows } = await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
       where (usename like 'dispatcher%' or usename = 'api') and random() * 100 < $1`,
    [percent],
  )
  return rows.length
}

const sentenceOfStep = (step: Step): string => {
  switch (step.type) {
    case 'kill_dispatcher':
      return `the dispatcher in place ${step.slot} is killed`
    case 'kill_api':
      return 'the API is killed'
    case 'crash_database':
      return step.how === 'kill' ? 'PostgreSQL is killed' : 'PostgreSQL is stopped at once'
    case 'cut_connections':
      return `about ${step.percent} % of the connections are cut`
    case 'freeze_dispatcher':
      return `the dispatcher in place ${step.slot} is frozen until its leases are over`
    case 'freeze_in_call':
      return 'a dispatcher is frozen in a call, and wakes while its row lives on elsewhere'
    case 'cancel_behind_write':
      return 'a meeting is cancelled while its event is being written'
    case 'trouble':
      return 'the providers answer late, wrongly or not at all'
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
