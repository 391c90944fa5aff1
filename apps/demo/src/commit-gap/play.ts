/** One case: a booking, a process that is killed at one place, the process started again, and what came of it. */
import { once } from 'node:events'
import { join } from 'node:path'
import type { SimulatorControl } from '@aftercommit/simulator'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { startProcess, type RunningProcess } from '../processes.ts'
import { book, look } from './customer.ts'
import { answersAtCommit, type Gap, type HaltPoint } from './gaps.ts'
import { judge, type Case, type Judged } from './verdict.ts'

export interface PlayOptions {
  /** The booking application's bundle. */
  readonly script: string
  readonly logFolder: string
  readonly databaseUrl: string
  readonly simulatorUrl: string
  readonly control: SimulatorControl
  /** Told of every process that runs, so that none outlives the run. */
  readonly started: (running: RunningProcess) => void
}

export const playCase = async (each: Case, options: PlayOptions): Promise<Judged> => {
  const { way, gap, customer } = each
  const { control } = options
  const name = `${way}-${gap}-${customer}`
  const calendar = `${name}@clinic.example`
  await control.putPeople([
    { address: calendar, provider: 'google', timeZone: 'UTC', refreshToken: calendar },
  ])
  const hold = holdAt[gap]
  if (hold) {
    const act = { type: 'hold', when: hold } as const
    await control.addFault({
      id: name,
      provider: 'google',
      operation: 'events.insert',
      address: calendar,
      act,
    })
  }
  const tenantId = randomUUID()
  const start = (life: number, env: Readonly<Record<string, string>>): Promise<RunningProcess> =>
    startApplication(`${name}-${life}`, { ...env, WAY: way, TENANT_ID: tenantId }, options)

  const first = await start(1, hold ? {} : { HALT_AT: gap })
  const request = book(urlOf(first), calendar)
  await (hold ? control.waitForFault(name) : first.heard(({ type }) => type === 'halted'))
  // Whoever is answered at the commit has the answer by now: nothing on the way to it is held.
  if (answersAtCommit[way] && gap !== 'before_commit') await request.answered
  const exited = once(first.child, 'exit')
  first.child.kill('SIGKILL')
  await exited

  const second = await start(2, {})
  const before = await request.answered
  const asksAgain = !before && customer === 'retries'
  const answered = asksAgain ? await book(urlOf(second), calendar, request.key).answered : before
  await fetch(`${urlOf(second)}/settled`)
  const booking = await look(urlOf(second), request.key)
  const events = (await control.readLedger()).filter(
    (entry) => entry.effect === 'event_created' && entry.calendarAddress === calendar,
  )
  await second.stop()
  return judge({ ...each, answered, booking, events: events.map(({ eventId }) => eventId ?? '') })
}

/** Where the provider holds the call, and so the process: a call that is held before its effect never has it. */
const holdAt: Readonly<Record<Exclude<Gap, HaltPoint>, 'before_effect' | 'after_effect'>> &
  Readonly<Record<HaltPoint, undefined>> = {
  before_commit: undefined,
  before_call: undefined,
  during_call: 'before_effect',
  after_effect: 'after_effect',
  after_answer: undefined,
}

const startApplication = async (
  name: string,
  env: Readonly<Record<string, string>>,
  { script, logFolder, databaseUrl, simulatorUrl, started }: PlayOptions,
): Promise<RunningProcess> => {
  const running = await startProcess({
    name,
    script,
    env: { ...env, DATABASE_URL: databaseUrl, CALENDAR_URL: simulatorUrl },
    logFile: join(logFolder, `${name}.log`),
    isReady: ({ type }) => type === 'listening',
  })
  started(running)
  return running
}

const Listening = z.object({ url: z.url() })
const urlOf = ({ ready }: RunningProcess): string => Listening.parse(ready).url
