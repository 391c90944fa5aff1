/** What the engine's suites share: a small domain, actions without a history, and eyes on what became of them. */
import { randomUUID } from 'node:crypto'
import type { Db, Tx } from '@aftercommit/platform/db'
import { gate, useDatabase, type TestDatabase } from '@aftercommit/testing'
import { afterAll, beforeAll } from '@jest/globals'
import { z } from 'zod'
import { createEngine, type Engine, type EngineDb, type EngineEvent, type EngineOptions } from './engine.ts'
import { enqueue, type Enqueued } from './enqueue.ts'
import {
  defineAction,
  done,
  go,
  handlerOf,
  type ActionRequest,
  type AnyAction,
  type Attempt,
  type Correlation,
  type Envelope,
  type Outcome,
  type Prepared,
  type Reconciled,
  type Registration,
  type RequestFacets,
  type Settled,
  type SuccessorRule,
} from './index.ts'
import { illegalMoves, WATCH_MOVES } from './moves.testing.ts'
import { claimRows, type Claimant, type ClaimedRow } from './sql.ts'

/** A domain of one table, so that a settle has something to change and to roll back. */
const THINGS = `
  create table thing (
    thing_id uuid primary key,
    tenant_id uuid not null,
    state text not null default 'new',
    changes int not null default 0);
  alter table thing enable row level security;
  create policy own on thing using (tenant_id = (select current_tenant()));
  grant select, insert, update on thing to aftercommit_api, aftercommit_dispatcher;`

export const Payload = z.object({ id: z.uuid(), n: z.int() })
export type Payload = z.infer<typeof Payload>

export interface Shape {
  readonly keyed?: boolean
  readonly onPredecessorDead?: SuccessorRule
  readonly lane?: string
  readonly leaseMs?: number
  readonly attemptsMax?: number
  readonly elapsedMaxMs?: number
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number }
  readonly ageMaxMs?: number
  readonly accountConcurrencyMax?: number
}

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

let actions = 0

/** Each call is an action and a lane of its own, so that tests of one file do not run each other's rows. */
const common = (shape: Shape) => {
  actions += 1
  const { keyed = false, ...rest } = shape
  return {
    name: `test.action_${actions}`,
    payload: Payload,
    payloadVersion: 1,
    policyVersion: 1,
    lane: `lane_${actions}`,
    subject: ({ id }: Payload) => ({ type: 'thing', id }),
    identity: ({ id, n }: Payload) => `${id}:${n}`,
    ...(keyed && { orderingKey: ({ id }: Payload) => `thing:${id}` }),
    onPredecessorDead: 'hold' as SuccessorRule,
    leaseMs: MINUTE,
    attemptsMax: 3,
    elapsedMaxMs: 12 * HOUR,
    backoff: { baseMs: 10_000, maxMs: 80_000 },
    repairOwner: 'operations',
    ...rest,
  }
}

export const safe = (shape: Shape = {}) => defineAction({ ...common(shape), repeat: 'safe' })
export const giveUp = (shape: Shape = {}) => defineAction({ ...common(shape), repeat: 'give_up' })
export const resend = (shape: Shape = {}) => defineAction({ ...common(shape), repeat: 'resend' })
export const GRACE_MS = 10 * MINUTE
export const askable = (shape: Shape = {}) =>
  defineAction({
    ...common(shape),
    repeat: 'reconcile_first',
    reconcile: {
      graceMs: GRACE_MS,
      attemptsMax: 2,
      elapsedMaxMs: 12 * HOUR,
      backoff: { baseMs: 10_000, maxMs: 80_000 },
    },
  })

interface Parts {
  readonly prepare?: (tx: Tx, envelope: Envelope<Payload>) => Promise<Prepared<Payload>>
  readonly perform?: (plan: Payload, attempt: Attempt) => Promise<Outcome<unknown>>
  readonly settle?: (
    tx: Tx,
    envelope: Envelope<Payload>,
    outcome: Settled<unknown>,
    plan: Payload | undefined,
  ) => Promise<readonly ActionRequest[]>
}

const filled = ({ prepare, perform, settle }: Parts) => ({
  prepare: prepare ?? ((_tx: Tx, { payload }: Envelope<Payload>) => Promise.resolve(go(payload))),
  perform: perform ?? (() => Promise.resolve(done<unknown>(undefined))),
  ...(settle && { settle }),
})

export const handle = (
  action: ReturnType<typeof safe> | ReturnType<typeof giveUp> | ReturnType<typeof resend>,
  parts: Parts = {},
): Registration<Tx> => handlerOf<Tx>()(action, filled(parts))

export type Ask = (
  question: Payload,
  correlation: Correlation,
  attempt: Attempt,
) => Promise<Reconciled<unknown>>

export const handleAskable = (
  action: ReturnType<typeof askable>,
  parts: Parts & {
    readonly ask: Ask
    readonly load?: (tx: Tx, envelope: Envelope<Payload>) => Promise<Payload>
  },
): Registration<Tx> =>
  handlerOf<Tx>()(action, {
    ...filled(parts),
    reconcile: {
      load: parts.load ?? ((_tx: Tx, { payload }: Envelope<Payload>) => Promise.resolve(payload)),
      ask: parts.ask,
    },
  })

/** Answers one after the other, and the last one for ever. */
export const inTurn = <R>(...answers: readonly [R, ...R[]]): (() => Promise<R>) => {
  let turn = 0
  return () => Promise.resolve(answers[Math.min(turn++, answers.length - 1)] ?? answers[0])
}

export interface Stage extends Eyes {
  readonly database: TestDatabase
  /** An engine that runs these, and what it reports. Retries come with half their backoff's ceiling. */
  engine(
    registrations: readonly Registration<Tx>[],
    options?: Partial<EngineOptions<Tx>>,
  ): { readonly engine: Engine; readonly events: readonly EngineEvent[] }
  /** One life of a dispatcher: a round of work that ends with it, at `die()`, or of its own accord. */
  untilDeath(registrations: (mortal: Mortal) => readonly Registration<Tx>[]): Promise<void>
  /** Claims as a worker that is no engine: a test then lets it be slow or dead. */
  claimed(action: Claimable, rowsMax: number): Promise<readonly ClaimedRow[]>
  /** The one row that is ready. */
  claimedOne(action: Claimable): Promise<ClaimedRow>
  /** Enqueues as a command of the API would, for a new tenant and a new thing unless told which. */
  enqueue(
    requests: (id: string) => readonly ActionRequest[],
    where?: { readonly tenant?: string; readonly id?: string },
  ): Promise<{ readonly tenant: string; readonly id: string; readonly enqueued: readonly Enqueued[] }>
}

export type Claimable = Pick<AnyAction, 'name' | 'lane' | 'leaseMs' | 'accountConcurrencyMax'>

export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

export interface Mortal {
  /** From now on nothing of this dispatcher reaches the database, and nobody answers it. */
  readonly die: () => void
}

/** A dispatcher's database as it is for a process that may be killed: after its death, nothing ever returns. */
const mortalDb = (
  db: Db,
): { readonly db: EngineDb<Tx>; readonly die: () => void; readonly dead: Promise<void> } => {
  const death = gate()
  let alive = true
  const living = <R>(work: () => Promise<R>): Promise<R> => (alive ? work() : new Promise(() => undefined))
  return {
    dead: death.pass(),
    die: () => {
      alive = false
      death.open()
    },
    db: {
      query: (text, values) => living(() => db.query(text, values)),
      transact: (tenantId, work) => living(() => db.transact(tenantId, work)),
      transaction: (work) => living(() => db.transaction(work)),
      listen: (channel, heard, lost) => living(() => db.listen(channel, heard, lost)),
    },
  }
}

export const requestsOf =
  (
    action: { request: (payload: Payload, facets?: RequestFacets) => ActionRequest },
    ns: readonly number[],
    facets: RequestFacets = {},
  ) =>
  (id: string): readonly ActionRequest[] =>
    ns.map((n) => action.request({ id, n }, facets))

/** A worker that is no engine: tests claim as it and then let it be slow or dead. */
export const claimantOf = (
  ...actions: readonly Pick<AnyAction, 'name' | 'leaseMs' | 'accountConcurrencyMax'>[]
): Claimant => ({
  replicaId: randomUUID(),
  terms: actions.map(({ name, leaseMs, accountConcurrencyMax }) => ({
    action: name,
    leaseMs,
    accountConcurrencyMax,
  })),
})

/** The stage of one test file. When the file is through, every move its rows made must have been a legal one. */
export const useStage = (): Stage => {
  // Registered first, because it must look before the database is closed.
  afterAll(async () => {
    const illegal = await illegalMoves(database.owner)
    if (illegal.length > 0)
      throw new Error(`rows made moves that states.ts does not allow: ${illegal.join(', ')}`)
  })
  const database = useDatabase()
  beforeAll(async () => {
    await database.owner.query(THINGS)
    await database.owner.query(WATCH_MOVES)
  })
  const claimed = async (action: Claimable, rowsMax: number): Promise<readonly ClaimedRow[]> =>
    (await claimRows(database.dispatcher, claimantOf(action), action.lane, rowsMax)).rows
  return {
    database,
    claimed,
    claimedOne: async (action) => {
      const [row] = await claimed(action, 1)
      if (!row) throw new Error('no row is ready')
      return row
    },
    engine: (registrations, options = {}) => {
      const events: EngineEvent[] = []
      const report = (event: EngineEvent): void => void events.push(event)
      const db = database.dispatcher
      return {
        engine: createEngine<Tx>({ db, registrations, random: () => 0.5, report, ...options }),
        events,
      }
    },
    untilDeath: async (registrations) => {
      const { db, die, dead } = mortalDb(database.dispatcher)
      const engine = createEngine<Tx>({ db, registrations: registrations({ die }), random: () => 0.5 })
      await Promise.race([engine.drain(), dead])
    },
    enqueue: async (requests, where = {}) => {
      const tenant = where.tenant ?? (await database.createTenant())
      const id = where.id ?? randomUUID()
      const enqueued = await database.api.transact(tenant, async (tx) => {
        const known = 'insert into thing (thing_id, tenant_id) values ($1, $2) on conflict do nothing'
        await tx.sql.query(known, [id, tenant])
        return enqueue(tx, requests(id))
      })
      return { tenant, id, enqueued }
    },
    ...eyesOn(database),
  }
}

export interface LiveRow {
  readonly id: string
  readonly n: number
  readonly action: string
  readonly state: string
  readonly fence: string
  readonly attempts: number
  readonly claims: number
  readonly lost_leases: number
  readonly solo: boolean
  readonly uncertain: boolean
  readonly doomed: boolean
  readonly correlation: unknown
  /** In whole seconds, because the clock goes on while a test looks. */
  readonly due_in_s: number
}

interface Eyes {
  /** The unfinished rows of a thing, in sequence. */
  live(id: string): Promise<readonly LiveRow[]>
  /** `n:state` of each of them. */
  states(id: string): Promise<readonly string[]>
  /** `n:outcome` or `n:outcome:reason`, in the order in which they ended. */
  ended(id: string): Promise<readonly string[]>
  dead(id: string): Promise<readonly DeadRow[]>
  /** `outcome` or `outcome:code` of every attempt at a thing's rows, in order. */
  attempts(id: string): Promise<readonly string[]>
  thing(id: string): Promise<{ readonly state: string; readonly changes: number }>
}

export interface DeadRow {
  readonly id: string
  readonly n: number
  readonly class: string
  readonly code: string
  readonly owner: string
  readonly checkpoint: string
  readonly attempts: number
  readonly fence: string
  readonly uncertain: boolean
  readonly resolution: string | null
  readonly history: readonly { readonly outcome: string }[]
}

const eyesOn = (database: TestDatabase): Eyes => {
  const live = async (id: string): Promise<readonly LiveRow[]> => {
    const { rows } = await database.owner.query<LiveRow>(
      `select id, (payload->>'n')::int as n, action, state::text, fence, attempts, claims, lost_leases, solo, uncertain,
         doomed, correlation, round(extract(epoch from available_at - app_now()))::int as due_in_s
       from outbox where aggregate_id = $1 order by outbox.id`,
      [id],
    )
    return rows
  }
  const texts = async (sql: string, id: string): Promise<readonly string[]> => {
    const { rows } = await database.owner.query<{ text: string }>(sql, [id])
    return rows.map(({ text }) => text)
  }
  return {
    live,
    states: async (id) => (await live(id)).map(({ n, state }) => `${n}:${state}`),
    ended: (id) =>
      texts(
        `select concat_ws(':', payload->>'n', outcome, reason) as text from outbox_history
         where aggregate_id = $1 order by finished_at, id`,
        id,
      ),
    dead: async (id) => {
      const { rows } = await database.owner.query<DeadRow>(
        `select id, (payload->>'n')::int as n, class, code, owner, checkpoint, attempts, fence, uncertain, resolution,
           attempt_history as history
         from outbox_dead where aggregate_id = $1 order by id`,
        [id],
      )
      return rows
    },
    attempts: (id) =>
      texts(
        `select concat_ws(':', a.outcome, a.code) as text from outbox_attempt a
         where a.outbox_id in (select outbox_id from outbox_identity where identity like '%' || $1 || '%')
         order by a.outbox_id, a.fence`,
        id,
      ),
    thing: async (id) => {
      const { rows } = await database.owner.query<{ state: string; changes: number }>(
        'select state, changes from thing where thing_id = $1',
        [id],
      )
      const [row] = rows
      if (!row) throw new Error('there is no such thing')
      return row
    },
  }
}

/** A settle that changes the thing: each call of it that is kept counts once. */
export const changeThing = async (tx: Tx, id: string, state: string): Promise<void> => {
  await tx.sql.query('update thing set state = $2, changes = changes + 1 where thing_id = $1', [id, state])
}
