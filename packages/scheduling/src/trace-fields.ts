/** The fields that entries of a trace are made of. Pure. */
import { z } from 'zod'
import { deciders, decisionTypes } from './decision.ts'

export const Instant = z.iso.datetime()
export const Id = z.uuid()
export const Code = z.string().nullable()

/** What an action is about, by id. Nothing personal: a payload is references only. */
export const About = z
  .object({
    participantId: Id,
    proposalId: Id,
    round: z.int(),
    number: z.int(),
    event: z.string(),
    kind: z.string(),
    look: z.string(),
    endpointId: Id,
  })
  .partial()
  .meta({ description: 'What the action is about; people are named by id.' })
export type About = z.output<typeof About>

/** One exchange with a provider. Redacted: no address, no token, no body. */
export const TracedCall = z.object({
  provider: z.string(),
  operation: z.string(),
  startedAt: Instant,
  durationMs: z.number(),
  status: z.number().nullish(),
  outcome: z.string(),
  requestId: z
    .string()
    .nullish()
    .meta({ description: "The provider's own id for the request, if it gave one." }),
})
export type TracedCall = z.output<typeof TracedCall>

/** How a text names what an entry knows by id. */
export interface Naming {
  /** `p2` */
  readonly person: (participantId: string) => string
  /** `d1`: a dispatcher. */
  readonly replica: (replicaId: string) => string
  /** `proposal 1` */
  readonly proposal: (proposalId: string) => string
  /** `the webhook endpoint`, or `webhook endpoint 2` where the client has several. */
  readonly endpoint: (endpointId: string) => string
}

export const action = {
  actionId: z.string(),
  action: z.string(),
  kind: z.enum(['effect', 'reconcile']).meta({
    description: 'An effect changes or reads the world; a reconcile only asks what became of an effect.',
  }),
  about: About,
}

export type ActionFields = z.output<z.ZodObject<typeof action>>

export const attempt = {
  ...action,
  attempt: z.int(),
  replicaId: z.string().nullable().meta({ description: 'The dispatcher that held it.' }),
  claimedAt: Instant.optional(),
  startedAt: Instant.optional().meta({ description: 'Absent: it ended before anybody was contacted.' }),
  outcome: z.string(),
  code: Code,
  durationMs: z.number().optional(),
  calls: z.array(TracedCall),
}
export type AttemptFields = z.output<z.ZodObject<typeof attempt>>

export const ending = {
  ...action,
  outcome: z.string(),
  code: Code,
  attempts: z.int(),
  owner: z.string().optional().meta({ description: 'Who must repair it; of a dead action only.' }),
}
export type EndingFields = z.output<z.ZodObject<typeof ending>>

export const decision = {
  decision: z.enum(decisionTypes),
  by: z.enum(deciders).meta({ description: 'By what right; `rule` is what the meeting itself says.' }),
  because: z.string().optional().meta({ description: 'Why a time is looked for once more.' }),
  participantIds: z.array(Id).meta({ description: 'Whom it is about.' }),
  revision: z.int(),
  round: z.int().meta({ description: 'The round that it leads to.' }),
}
export type DecisionFields = z.output<z.ZodObject<typeof decision>>
