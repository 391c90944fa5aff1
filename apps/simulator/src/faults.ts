import type { Fault, FaultSpec, Peer } from './contract.ts'
import type { World } from './state.ts'

export interface ScriptedFault {
  readonly spec: FaultSpec
  readonly fired: Fault['fired']
  /** Matching calls let through so far because of `skip`. */
  passed: number
  readonly gate: Gate
  /** Told after every firing, so that a test can wait for one. */
  readonly watchers: Set<() => void>
}

/** A promise that somebody else resolves. */
interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
  isOpen: boolean
}

const closedGate = (): Gate => {
  let resolve: () => void = () => undefined
  const opened = new Promise<void>((done) => (resolve = done))
  const gate = {
    opened,
    isOpen: false,
    open: () => {
      gate.isOpen = true
      resolve()
    },
  }
  return gate
}

/** Scripts a fault; undefined if the name is taken. */
export const addFault = (world: World, spec: FaultSpec): ScriptedFault | undefined => {
  if (findFault(world, spec.id)) return undefined
  const fault = { spec, fired: [], passed: 0, gate: closedGate(), watchers: new Set<() => void>() }
  world.faults.push(fault)
  return fault
}

export const findFault = (world: World, id: string): ScriptedFault | undefined =>
  world.faults.find(({ spec }) => spec.id === id)

/** Forgets every fault; calls they hold go on. */
export const clearFaults = (world: World): void => {
  for (const fault of world.faults.splice(0)) fault.gate.open()
}

/** What a fault is matched against: one call as it arrives. */
export interface Arrival {
  readonly provider: Peer
  readonly operation: string
  readonly requestId: string
  readonly addresses: readonly string[]
  readonly at: Date
}

/**
 * The first scripted fault that this call meets, noted as fired; counts the call against every `skip` on the
 * way.
 */
export const takeFault = (world: World, arrival: Arrival): ScriptedFault | undefined => {
  for (const fault of world.faults) {
    if (!concerns(fault.spec, arrival) || fault.fired.length >= fault.spec.times) continue
    if (fault.passed < fault.spec.skip) {
      fault.passed += 1
      continue
    }
    const { operation, requestId } = arrival
    fault.fired.push({ at: arrival.at.toISOString(), operation, requestId })
    for (const watcher of fault.watchers) watcher()
    return fault
  }
  return undefined
}

const concerns = (spec: FaultSpec, arrival: Arrival): boolean =>
  spec.provider === arrival.provider &&
  spec.operation === arrival.operation &&
  (spec.address === undefined || arrival.addresses.includes(spec.address))

/** Resolves when the fault has fired that often, or with false when the time is up. */
export const firedAtLeast = (fault: ScriptedFault, count: number, timeoutMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const finish = (reached: boolean) => {
      clearTimeout(timer)
      fault.watchers.delete(look)
      resolve(reached)
    }
    const look = () => {
      if (fault.fired.length >= count) finish(true)
    }
    const timer = setTimeout(() => finish(false), timeoutMs)
    fault.watchers.add(look)
    look()
  })

export const faultView = ({ spec, fired, gate }: ScriptedFault): Fault => ({
  ...spec,
  released: gate.isOpen,
  fired,
})
