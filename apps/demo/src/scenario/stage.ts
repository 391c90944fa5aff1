/** Where a scenario is played: the product, the world outside, and a clock. */
import type { SimulatorControl } from '@aftercommit/simulator'
import type { Client } from './client.ts'

export interface Stage {
  readonly client: Client
  readonly control: SimulatorControl
  readonly simulatorUrl: string
  readonly ledger: OutboxLedger
  readonly clock: Clock
  /** Lets everything happen that is due. */
  settle(): Promise<void>
  /** Kills one, starts another. Answers who was killed. */
  killDispatcher(): Promise<string>
  /** Freezes the dispatcher that is in a call held by this fault, until another has done its work. Answers who it was. */
  freezeDispatcher(fault: string): Promise<string>
  dispatcherName(replicaId: string | null): string
  stop(): Promise<void>
}

export interface Clock {
  now(): Promise<Date>
  /** To a moment that is not yet. A clock that nobody can move waits a little instead. */
  moveTo(at: Date): Promise<void>
}

/** What the outbox itself says, seen from outside. */
export interface OutboxLedger {
  /** When the next row falls due; undefined when none is scheduled. */
  nextDueAt(): Promise<Date | undefined>
  /** Rows that are worked on or could be. */
  countBusy(): Promise<number>
  countDead(): Promise<number>
}
