/** Where a scenario is played: the product, the world outside, and a clock. */
import type { SimulatorControl } from '@aftercommit/simulator'
import type { Client } from './client.ts'

export interface Stage {
  readonly client: Client
  readonly control: SimulatorControl
  readonly simulatorUrl: string
  readonly ledger: OutboxLedger
  readonly clock: Clock
  /** Lets everything happen that is due, and looks on meanwhile. Answers when the next thing falls due. */
  settle(look: () => Promise<void>): Promise<Date | undefined>
  /** Kills one, starts another. Answers who was killed, and when. */
  killDispatcher(): Promise<Struck>
  /**
   * Freezes the dispatcher that is in a call which this fault holds, until another has done its work. Nobody else may be at
   * work then. `look` is called when it stands still. Answers who it was, and when it woke.
   */
  freezeDispatcher(fault: string, look: () => Promise<void>): Promise<Struck>
  /** What was done to the processes so far. */
  readonly signals: readonly Signal[]
  readonly dispatcherName: (replicaId: string | null) => string
  readonly stop: () => Promise<void>
}

/** A process that was sent a signal. */
export interface Struck {
  readonly name: string
  /** By the clock of the stage. */
  readonly at: Date
}

export interface Signal {
  readonly id: string
  readonly asked: string
  readonly fired: readonly { readonly at: string }[]
}

export interface Clock {
  /** The world's own: nobody can move it. */
  readonly isReal: boolean
  now(): Promise<Date>
  /** To a moment that is not yet. A real clock is waited for. */
  moveTo(at: Date): Promise<void>
}

export interface Outlook {
  /** Rows that are worked on or could be. */
  readonly busy: number
  /** When the next one falls due; undefined when none is scheduled. */
  readonly nextDueAt: Date | undefined
}

/** What the outbox itself says, seen from outside. */
export interface OutboxLedger {
  /** Of one moment. */
  outlook(): Promise<Outlook>
  /** Why each row died that did. */
  deadCodes(): Promise<readonly string[]>
}
