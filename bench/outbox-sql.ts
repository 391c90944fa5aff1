/** Rows by the hundred thousand, written past the engine as the owner: ground for a scenario, and no part of what is timed. */
import type { Sql } from '@aftercommit/platform/db'
import { noOp } from './contenders/action.ts'

/** Each row is about a thing of its own. */
const THING = `('018f4a6e-0000-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid`
const PAYLOAD = `jsonb_build_object('id', ${THING}, 'n', g, 'pad', repeat('x', 120))`

export interface Ground {
  readonly prefix: string
  readonly count: number
  readonly tenants: readonly string[]
  readonly state: 'ready' | 'scheduled' | 'paused' | 'waiting'
  readonly lanes?: readonly string[]
  readonly accounts?: number
  /** What the accounts' names begin with. */
  readonly accountPrefix?: string
  readonly orderingKey?: string
}

/** Tenants, lanes and accounts take turns. What is not ready waits for tomorrow. */
export const insertRows = async (sql: Sql, ground: Ground): Promise<void> => {
  const { prefix, count, tenants, state, lanes = [noOp.lane], accounts = 0, orderingKey } = ground
  const { accountPrefix = 'account' } = ground
  await sql.query(
    `insert into outbox (tenant_id, identity, action, payload_version, policy_version, payload, aggregate_type,
         aggregate_id, lane, account, ordering_key, successor_rule, state, not_before, available_at, turn)
       select ($3::uuid[])[1 + g % cardinality($3::uuid[])], $1 || g, $4, 1, 1, ${PAYLOAD}, 'thing',
         ${THING}, ($5::text[])[1 + g % cardinality($5::text[])],
         case when $6::int > 0 then $9 || g % nullif($6::int, 0) end, $7, 'run', $8::outbox_state, now(),
         case when $8 = 'ready' then now() else now() + interval '1 day' + g * interval '1 millisecond' end,
         case when $8 = 'ready' then g / cardinality($3::uuid[]) else 0 end
       from generate_series(0, $2::int - 1) g`,
    [prefix, count, tenants, noOp.name, lanes, accounts, orderingKey ?? null, state, accountPrefix],
  )
}

/** Rows that ended long ago, with their attempts and identities. */
export const insertEnded = async (sql: Sql, tenantId: string, count: number): Promise<void> => {
  await sql.query(
    `with ended as (
       insert into outbox_history (id, tenant_id, identity, action, payload_version, payload, aggregate_type, aggregate_id,
           lane, not_before, created_at, fence, claims, attempts, outcome)
         select 1000000000 + g, $1::uuid, 'ended' || g, $2, 1, ${PAYLOAD}, 'thing', ${THING},
           $3, now(), now(), 1, 1, 1, 'succeeded' from generate_series(0, $4::int - 1) g returning id, identity),
     tried as (
       insert into outbox_attempt (outbox_id, tenant_id, fence, attempt, claimed_at, started_at, outcome)
         select id, $1::uuid, 1, 1, now(), now(), 'succeeded' from ended)
     insert into outbox_identity (tenant_id, identity, outbox_id, content_hash)
       select $1::uuid, identity, id, sha256(identity::bytea) from ended`,
    [tenantId, noOp.name, noOp.lane, count],
  )
}

export const createTenants = async (sql: Sql, count: number): Promise<readonly string[]> => {
  const { rows } = await sql.query<{ tenant_id: string }>(
    `insert into tenant (tenant_id, name) select gen_random_uuid(), 'Bench tenant ' || g from generate_series(1, $1::int) g
     returning tenant_id`,
    [count],
  )
  return rows.map(({ tenant_id }) => tenant_id)
}
