/**
 * What is going to be done to the product, and what is asked of it meanwhile. Pure: the same seed gives the same plan.
 * When exactly each process is struck is up to the machine, and no seed repeats that.
 */
import type { FaultAct } from '@aftercommit/simulator'
import { chanceOf, type Chance } from './random.ts'
import type { Crash } from './server.ts'

export const DISPATCHERS = 3

/** Trouble at the providers: the next so many calls of an operation meet it, whoever makes them. */
export interface Trouble {
  readonly provider: 'google' | 'microsoft' | 'webhook'
  readonly operation: string
  readonly times: number
  readonly act: FaultAct
}

export type Step =
  /** SIGKILL, and another one in its place after a while. */
  | { readonly type: 'kill_dispatcher'; readonly slot: number; readonly downMs: number }
  | { readonly type: 'kill_api'; readonly downMs: number }
  | { readonly type: 'crash_database'; readonly how: Crash }
  /** About so many of a hundred connections are cut by the server. */
  | { readonly type: 'cut_connections'; readonly percent: number }
  /** SIGSTOP until everything it held is somebody else's, and SIGCONT. */
  | { readonly type: 'freeze_dispatcher'; readonly slot: number }
  /** The same to whoever is in a certain call, which goes on being held when it wakes: its settle meets a row that lives. */
  | { readonly type: 'freeze_in_call' }
  /** A meeting is cancelled while its event is being written: the cancellation must wait for the write. */
  | { readonly type: 'cancel_behind_write' }
  | { readonly type: 'trouble'; readonly troubles: readonly Trouble[] }

export type TimedStep = Step & { readonly pauseMs: number }

export type Fate = 'keep' | 'cancel_at_once' | 'cancel_later' | 'reschedule' | 'reschedule_and_cancel'

export interface MeetingPlan {
  readonly purpose: string
  readonly organizer: 'google' | 'microsoft'
  readonly fate: Fate
  /** From the answer before to the next request about it. */
  readonly pauseMs: number
}

/** The n-th meeting that is asked for, and how long after the one before it. */
export const meetingAt = (seed: number, n: number): MeetingPlan & { readonly gapMs: number } => {
  const chance = chanceOf(seed * 7_919 + n)
  return {
    purpose: `Chaos ${n}`,
    organizer: chance.pick<'google' | 'microsoft'>(['google', 'microsoft']),
    fate: chance.pick<Fate>([
      'keep',
      'keep',
      'cancel_at_once',
      'cancel_later',
      'reschedule',
      'reschedule_and_cancel',
    ]),
    pauseMs: chance.between(0, 1_500),
    gapMs: chance.between(300, 900),
  }
}

/** The steps of one round in the order in which they are taken. Every round has every kind of step. */
export const roundAt = (seed: number, round: number): readonly TimedStep[] => {
  const chance = chanceOf(seed * 104_729 + round)
  const steps: readonly Step[] = [
    ...Array.from({ length: 3 }, (): Step => ({
      type: 'kill_dispatcher',
      slot: slotBy(chance),
      downMs: chance.between(0, 1_500),
    })),
    { type: 'kill_api', downMs: chance.between(0, 1_500) },
    { type: 'crash_database', how: chance.pick<Crash>(['kill', 'immediate_stop']) },
    { type: 'cut_connections', percent: chance.between(20, 80) },
    { type: 'cut_connections', percent: chance.between(20, 80) },
    { type: 'freeze_dispatcher', slot: slotBy(chance) },
    { type: 'freeze_in_call' },
    { type: 'cancel_behind_write' },
  ]
  // Trouble at the providers first and again halfway, for everything else is to happen in the midst of it.
  const [first, ...others] = chance.shuffled(steps)
  const half = Math.floor(others.length / 2)
  return [
    troubleBy(chance),
    first,
    ...others.slice(0, half),
    troubleBy(chance),
    ...others.slice(half),
  ].flatMap((step) => (step ? [{ ...step, pauseMs: chance.between(200, 1_500) }] : []))
}

const slotBy = (chance: Chance): number => chance.between(1, DISPATCHERS)

const TOO_MANY: FaultAct = {
  type: 'answer',
  status: 429,
  body: { error: { code: 429 } },
  headers: { 'retry-after': '1' },
}
const BROKEN: FaultAct = { type: 'answer', status: 503, body: { error: { code: 503 } } }

/** Slow for longer than a call may take, and never so slow that absence would be believed meanwhile. */
const late = (chance: Chance, when: 'before_effect' | 'after_effect'): FaultAct => ({
  type: 'delay',
  delayMs: chance.between(1_600, 6_000),
  when,
})

const troubleBy = (chance: Chance): Step => {
  const unkind = (): readonly FaultAct[] => [
    { type: 'drop', when: 'after_effect' },
    { type: 'drop', when: 'before_effect' },
    { type: 'truncate' },
    { type: 'html' },
    late(chance, 'after_effect'),
    late(chance, 'before_effect'),
    TOO_MANY,
    BROKEN,
  ]
  const of = (provider: Trouble['provider'], operation: string, act: FaultAct): Trouble => ({
    provider,
    operation,
    times: chance.between(1, 2),
    act,
  })
  const two = (provider: Trouble['provider'], operation: string): readonly Trouble[] =>
    chance
      .shuffled(unkind())
      .slice(0, 2)
      .map((act) => of(provider, operation, act))
  return {
    type: 'trouble',
    troubles: [
      // Of every round some answers to writes are lost, with the effect and without.
      of('google', 'events.insert', { type: 'drop', when: 'after_effect' }),
      of('microsoft', 'events.create', { type: 'drop', when: 'before_effect' }),
      ...two('google', 'events.insert'),
      ...two('microsoft', 'events.create'),
      ...two('google', 'events.patch'),
      ...two('microsoft', 'events.patch'),
      ...two('google', 'events.delete'),
      ...two('microsoft', 'events.cancel'),
      of('google', 'freebusy.query', chance.pick<FaultAct>([TOO_MANY, BROKEN, { type: 'html' }])),
      of(
        'microsoft',
        'calendar.getSchedule',
        chance.pick<FaultAct>([TOO_MANY, BROKEN, { type: 'truncate' }]),
      ),
      of('google', 'events.get', late(chance, 'after_effect')),
      of('google', 'events.list', chance.pick<FaultAct>([BROKEN, { type: 'drop', when: 'after_effect' }])),
      ...two('webhook', 'webhook.deliver'),
    ],
  }
}
