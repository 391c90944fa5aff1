/** Everything that is known of a run when it is over: what the client remembers, the database holds, and the providers saw. */
import type { LedgerEntry, RequestEntry } from '@aftercommit/simulator'
import { z } from 'zod'
import type { Asked } from './client.ts'
import type { HoldNote } from './hold-log.ts'

export const SeenMeeting = z.object({
  id: z.string(),
  purpose: z.string(),
  state: z.string(),
  standingProposalId: z.string().nullable(),
})
export type SeenMeeting = z.output<typeof SeenMeeting>

/** One row of the outbox, live or ended. */
export const SeenRow = z.object({
  id: z.string(),
  action: z.string(),
  meetingId: z.string(),
  orderingKey: z.string().nullable(),
  /** Null once it has ended. */
  state: z.string().nullable(),
  /** Null while it lives. */
  outcome: z.string().nullable(),
  code: z.string().nullable(),
  notBefore: z.date(),
  /** When somebody first began to work on it; null if nobody did. */
  startedAt: z.date().nullable(),
  endedAt: z.date().nullable(),
  /** Live, and meant for much later. */
  isForLater: z.boolean(),
  payload: z.looseObject({
    proposalId: z.string().optional(),
    event: z.string().optional(),
    occasionId: z.string().optional(),
  }),
})
export type SeenRow = z.output<typeof SeenRow>

/** What was approved: the one event that may stand for it. */
export const SeenApproval = z.object({
  proposalId: z.string(),
  meetingId: z.string(),
  operationId: z.string(),
  start: z.string(),
  end: z.string(),
})
export type SeenApproval = z.output<typeof SeenApproval>

export interface Seen {
  readonly asked: readonly Asked[]
  readonly meetings: readonly SeenMeeting[]
  readonly rows: readonly SeenRow[]
  readonly approvals: readonly SeenApproval[]
  /** Proposals whose event is recorded, and those whose completion is. */
  readonly written: readonly { readonly proposalId: string; readonly meetingId: string }[]
  readonly completed: readonly { readonly proposalId: string; readonly meetingId: string }[]
  readonly holds: readonly HoldNote[]
  readonly ledger: readonly LedgerEntry[]
  readonly requests: readonly RequestEntry[]
  /** Messages that the client's own system took, each once. */
  readonly told: readonly Told[]
}

export const Told = z.object({
  type: z.string(),
  data: z.object({ meetingId: z.string(), occasionId: z.string() }),
})
export type Told = z.output<typeof Told>
