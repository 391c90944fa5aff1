/** The kinds of trace entries that a story tells of, as a client of the REST API reads them. */
import type { TraceEntry as ApiEntry } from '@aftercommit/scheduling'
import { z } from 'zod'

/** Any entry. A client lives with kinds and fields that it does not know: there will be more. */
export const TraceEntry = z.looseObject({ type: z.string(), at: z.string() })
export type TraceEntry = z.output<typeof TraceEntry>

const Call = z.looseObject({
  provider: z.string(),
  operation: z.string(),
  status: z.number().nullish(),
  outcome: z.string(),
  durationMs: z.number(),
  requestId: z.string().nullish(),
})
const action = {
  actionId: z.string(),
  action: z.string(),
  kind: z.string(),
  about: z.looseObject({ participantId: z.string().optional() }),
}

/** What this client looks into of each kind. A kind that the API tells of and that is not here does not compile. */
const schemas = {
  meeting_opened: z.looseObject({}),
  exception_opened: z.looseObject({ code: z.string(), owner: z.string() }),
  exception_ended: z.looseObject({ code: z.string(), state: z.string() }),
  action_enqueued: z.looseObject({}),
  attempt: z.looseObject({
    ...action,
    at: z.string(),
    startedAt: z.string().optional(),
    attempt: z.number(),
    replicaId: z.string().nullable(),
    outcome: z.string(),
    code: z.string().nullable(),
    calls: z.array(Call),
  }),
  unknown_resolved: z.looseObject({ ...action, outcome: z.string(), code: z.string().nullable() }),
  action_ended: z.looseObject({ ...action, outcome: z.string(), owner: z.string().optional() }),
  evidence: z.looseObject({ participantId: z.string(), learned: z.string() }),
  proposal: z.looseObject({ start: z.string(), end: z.string() }),
  approval: z.looseObject({ authority: z.string() }),
  hold_placed: z.looseObject({}),
  hold_released: z.looseObject({ people: z.number(), state: z.string() }),
  decision: z.looseObject({
    decision: z.string(),
    by: z.string(),
    because: z.string().optional(),
    participantIds: z.array(z.string()),
  }),
  event_written: z.looseObject({ provider: z.string(), eventId: z.string() }),
  completion_verified: z.looseObject({ checks: z.array(z.string()) }),
  message_sent: z.looseObject({
    participantId: z.string().optional(),
    kind: z.string(),
    outcome: z.string(),
  }),
  reply_received: z.looseObject({ participantId: z.string(), unclear: z.array(z.string()) }),
  repair_resolved: z.looseObject({ code: z.string(), choice: z.string().optional() }),
  repair_opened: z.looseObject({ code: z.string(), owner: z.string() }),
} satisfies Readonly<Record<ApiEntry['type'], z.ZodType>>
export type KnownEntries = { readonly [Type in keyof typeof schemas]: z.output<(typeof schemas)[Type]> }
export const knownEntries: { readonly [Type in keyof KnownEntries]: z.ZodType<KnownEntries[Type]> } = schemas
export type Attempt = KnownEntries['attempt']
