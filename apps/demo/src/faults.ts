/** What the providers were told to do wrong, told when it happens: what it was, and why it did no harm. */
import type { SimulatorControl } from '@aftercommit/simulator'
import type { ScriptedFault } from './cast.ts'
import { attemptsIn, type TraceAnswer } from './client.ts'
import type { Names } from './narrate.ts'
import { HELD_CALL } from './trouble.ts'

type Fault = Awaited<ReturnType<SimulatorControl['readFaults']>>[number]

/** Answers lines for what is new since it was asked last. */
export const faultTeller = (
  control: Pick<SimulatorControl, 'readFaults'>,
  scripted: readonly ScriptedFault[],
): ((trace: TraceAnswer, names: Names) => Promise<readonly string[]>) => {
  const told = new Set<string>()
  const once = (key: string, line: string): readonly string[] => {
    if (told.has(key)) return []
    told.add(key)
    return [line]
  }
  return async (trace, names) => {
    const lines: string[] = []
    for (const fault of await control.readFaults()) {
      const { harmlessBecause } = scripted.find(({ id }) => id === fault.id) ?? {}
      for (const fired of fault.fired) {
        const key = `${fault.id}:${fired.requestId}`
        if (harmlessBecause !== undefined) lines.push(...once(key, `It happens: ${fault.id}.`))
        const fate = fateOf(trace, fault, fired)
        if (fate.type === 'open') continue
        const line =
          fate.type === 'lost' ? thrownAway(fault, names.dispatcherOf(fate.replicaId)) : harmlessBecause
        if (line !== undefined) lines.push(...once(`${key}:fate`, line))
      }
    }
    return lines
  }
}

const thrownAway = ({ id, provider }: Fault, dispatcher: string): string => {
  const what = id === HELD_CALL ? 'the call in the middle of which it was stopped' : `“${id}”`
  return `${provider} answered ${dispatcher} (${what}), which was stopped: thrown away. Its lease had run out, and another asked anew.`
}

type Fate =
  /** Whoever called has noted the answer, or noted that none came. */
  | { readonly type: 'noted' }
  /** Whoever was answered could not settle any more. */
  | { readonly type: 'lost'; readonly replicaId: string }
  | { readonly type: 'open' }

/**
 * What became of an answer. One that was lost is nowhere in the trace, for its dispatcher kept its notes to itself; but
 * there is an attempt of that time whose lease ran out.
 */
const fateOf = (trace: TraceAnswer, { act }: Fault, fired: Fault['fired'][number]): Fate => {
  // A call whose answer was dropped has no id that anybody could note.
  if (act.type === 'drop') return { type: 'noted' }
  const attempts = attemptsIn(trace)
  if (attempts.some(({ calls }) => calls.some(({ requestId }) => requestId === fired.requestId))) {
    return { type: 'noted' }
  }
  const firedMs = Date.parse(fired.at)
  const lost = attempts.find(
    ({ outcome, startedAt, at }) =>
      outcome === 'lease_lost' &&
      startedAt !== undefined &&
      Date.parse(startedAt) <= firedMs &&
      firedMs <= Date.parse(at),
  )
  return lost?.replicaId ? { type: 'lost', replicaId: lost.replicaId } : { type: 'open' }
}
