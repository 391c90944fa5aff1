import { createHash } from 'node:crypto'
import type { z } from 'zod'

/**
 * What the engine may assume when an attempt ends without an answer.
 *
 * - `safe`: the effect is idempotent or the provider dedupes, so the attempt may simply be made again.
 * - `reconcile_first`: the provider can be asked; the row rests in `outcome_unknown` until a read has told.
 * - `give_up` / `resend`: nobody can be asked (SMTP, SMS). One of the two errors is worse, and the action says which.
 */
export type RepeatRule = 'safe' | 'reconcile_first' | 'give_up' | 'resend'

/** What becomes of a row whose predecessor under the same ordering key died. */
export type SuccessorRule = 'run' | 'die' | 'hold'

export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

export interface ReconcilePolicy {
  /** How long the provider may still hide an effect that exists. Absence counts as proof only after it. */
  readonly graceMs: number
  readonly attemptsMax: number
  readonly elapsedMaxMs: number
  readonly backoff: Backoff
}

export interface Subject {
  readonly type: string
  /** UUID of the aggregate. */
  readonly id: string
}

interface ActionSpec<Name extends string, Payload extends z.ZodType, Repeat extends RepeatRule> {
  /** `domain.verb_noun`. Stored in rows: never renamed. */
  readonly name: Name
  /** A contract with rows already written: fields are added as optional, a new meaning is a new action. */
  readonly payload: Payload
  readonly payloadVersion: number
  /** Raised when policy (not payload) changes, so that a row tells under which it was written. */
  readonly policyVersion: number
  /** Lanes have their own workers: a slow or flooded lane delays no other. */
  readonly lane: string
  readonly subject: (payload: z.output<Payload>) => Subject
  /** Unique per logical transition within a tenant. Two requests with one identity are one action. */
  readonly identity: (payload: z.output<Payload>) => string
  /** Rows of one key run in sequence. A key belongs to one aggregate, whose lock the enqueuing command holds. */
  readonly orderingKey?: (payload: z.output<Payload>) => string
  readonly repeat: Repeat
  readonly onPredecessorDead: SuccessorRule
  readonly leaseMs: number
  readonly attemptsMax: number
  readonly elapsedMaxMs: number
  readonly backoff: Backoff
  /** How long a row may be throttled, counted from its first attempt; then it is dead. A week when left out. */
  readonly ageMaxMs?: number
  /** How many rows of one provider account may be worked on at a time, over all dispatchers. */
  readonly accountConcurrencyMax?: number
  /** Who repairs a dead letter of this action, when its handler names nobody closer. */
  readonly repairOwner: string
}

export type ActionDefinition<
  Name extends string = string,
  Payload extends z.ZodType = z.ZodType,
  Repeat extends RepeatRule = RepeatRule,
> = ActionSpec<Name, Payload, Repeat> &
  (Repeat extends 'reconcile_first'
    ? { readonly reconcile: ReconcilePolicy }
    : { readonly reconcile?: never }) & {
    /** Builds the request that `enqueue` writes. Throws on a payload that does not fit: that is a defect. */
    readonly request: (payload: z.input<Payload>, facets?: RequestFacets) => ActionRequest
  }

/** The parts of an envelope that vary with the occasion and not with the action. */
export interface RequestFacets {
  readonly notBefore?: Date
  /** The provider account whose pauses and caps apply, e.g. a calendar connection's id. */
  readonly account?: string
  readonly aggregateRevision?: number
  readonly participantRevision?: number
  readonly consentRef?: string
  /** W3C traceparent of what caused this. */
  readonly traceParent?: string
}

/** A row to be written. Plain data: a decision returns it, a command enqueues it. */
export interface ActionRequest extends RequestFacets {
  readonly action: string
  readonly identity: string
  readonly payloadVersion: number
  readonly policyVersion: number
  readonly payload: unknown
  readonly subject: Subject
  readonly lane: string
  readonly orderingKey: string | undefined
  readonly successorRule: SuccessorRule
}

/** Every action a domain may ask of the world, by the key its handler map uses. */
export type Catalog = Readonly<Record<string, AnyAction>>
/** A definition of which only the outline is known. */
export type AnyAction = Omit<
  // The payload is an argument of a definition's functions, so the general form cannot name it there.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  ActionDefinition<string, any>,
  'payload' | 'repeat' | 'reconcile'
> & {
  readonly payload: z.ZodType
  readonly repeat: RepeatRule
  readonly reconcile?: ReconcilePolicy
}

/** The question about an unknown effect is stored under the action's name and a suffix after "#". */
const NAME_MAX = 100

/** Throws on a name that could not be stored. */
export const defineAction = <
  const Name extends string,
  Payload extends z.ZodType,
  const Repeat extends RepeatRule,
>(
  spec: Omit<ActionDefinition<Name, Payload, Repeat>, 'request'> & ActionSpec<Name, Payload, Repeat>,
): ActionDefinition<Name, Payload, Repeat> => {
  if (spec.name.length > NAME_MAX || spec.name.includes('#')) {
    throw new Error(`an action’s name has no "#" and at most ${NAME_MAX} characters: ${spec.name}`)
  }
  const request = (input: z.input<Payload>, facets: RequestFacets = {}): ActionRequest => {
    const payload = spec.payload.parse(input)
    return {
      ...facets,
      action: spec.name,
      identity: `${spec.name}:${spec.identity(payload)}`,
      payloadVersion: spec.payloadVersion,
      policyVersion: spec.policyVersion,
      payload,
      subject: spec.subject(payload),
      lane: spec.lane,
      orderingKey: spec.orderingKey?.(payload),
      successorRule: spec.onPredecessorDead,
    }
  }
  return { ...spec, request } as unknown as ActionDefinition<Name, Payload, Repeat>
}

/**
 * The name under which the world may know an action: a UUID (version 8) made from tenant and identity alone, so it is
 * the same on every dispatcher, attempt and replay, and tells nothing about its subject.
 */
export const operationIdOf = (tenantId: string, identity: string): string => {
  const hex = createHash('sha256').update(`${tenantId}\n${identity}`).digest('hex')
  const variant = ((parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
