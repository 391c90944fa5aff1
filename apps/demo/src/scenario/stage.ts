/** Where a scenario is played: the product, the world outside, and a clock. */
import type { SimulatorControl } from '@aftercommit/simulator'
import type { Client } from './client.ts'

export interface Stage {
  readonly client: Client
  readonly control: SimulatorControl
  readonly simulatorUrl: string
  readonly ledger: OutboxLedger
  readonly clock: Clock
  /** Lets everything happen that is due, and looks on meanwhile. */
  settle(look: () => Promise<void>): Promise<void>
  /** Kills one, starts another. Answers who was killed. */
  killDispatcher(): Promise<string>
  /**
   * Freezes the dispatcher that reads this person's calendar and is held in it by this fault, until another has done its
   * work. Answers who it was.
   */
  freezeDispatcher(fault: string, participantId: string): Promise<string>
  dispatcherName(replicaId: string | null): string
  stop(): Promise<void>
}

export interface Clock {
  /** The world's own: nobody can move it. */
  readonly isReal: boolean
  now(): Promise<Date>
  /** To a moment that is not yet. A real clock is waited for. */
  moveTo(at: Date): Promise<void>
}

/** What the outbox itself says, seen from outside. */
export interface OutboxLedger {
  /** When the next row falls due; undefined when none is scheduled. */
  nextDueAt(): Promise<Date | undefined>
  /** Rows that are worked on or could be. */
  countBusy(): Promise<number>
  /** Why each row died that did. */
  deadCodes(): Promise<readonly string[]>
}
