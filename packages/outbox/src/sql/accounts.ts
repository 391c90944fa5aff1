/** Provider accounts: their rest, and how many of their rows run at a time. */
import type { Sql } from '../connection.ts'
import { one, type Hold } from './rows.ts'

/**
 * Rests a provider account: new and ready rows of it leave the claim index until `delayMs` has passed. A pause never
 * shortens one already there. Bounded: what one call leaves ready, the next throttled answer takes.
 */
export const pauseAccount = async (
  sql: Sql,
  pause: {
    readonly account: string
    readonly delayMs: number
    readonly code: string
    readonly limit: number
  },
): Promise<void> => {
  await sql.query(
    `insert into outbox_account_pause as p (account, until, code)
       values ($1, app_now() + make_interval(secs => $2::float8 / 1000), $3)
     on conflict (account) do update set until = greatest(p.until, excluded.until), code = excluded.code`,
    [pause.account, pause.delayMs, pause.code],
  )
  await sql.query(
    `with resting as materialized (
       select id from outbox where account = $1 and state = 'ready' order by id limit $2 for update skip locked)
     update outbox o set state = 'paused', available_at = p.until, budget_from = o.budget_from + (p.until - app_now())
     from outbox_account_pause p
     where p.account = $1 and o.id = any(array(select id from resting))`,
    [pause.account, pause.limit],
  )
}

/**
 * Asks for a slot of its account for each claimed row; see the function in the migration. Answers the ids that got one.
 * The others are no longer held by the caller.
 */
export const takeSlots = async (
  sql: Sql,
  rows: readonly (Hold & { readonly slotsMax: number })[],
): Promise<ReadonlySet<string>> => {
  const result = await sql.query<{ id: string }>(
    'select id from outbox_take_slots($1::bigint[], $2::bigint[], $3::int[]) as id',
    [rows.map(({ id }) => id), rows.map(({ fence }) => fence), rows.map(({ slotsMax }) => slotsMax)],
  )
  return new Set(result.rows.map(({ id }) => id))
}

/**
 * Frees the slots of these holders, each only if it is still the one that got it, and every slot whose time is over.
 * Answers the lanes that have work again.
 */
export const freeSlots = async (sql: Sql, holds: readonly Hold[]): Promise<readonly string[]> => {
  const { rows } = await sql.query<{ lanes: string[] }>(
    'select outbox_free_slots($1::bigint[], $2::bigint[]) as lanes',
    [holds.map(({ id }) => id), holds.map(({ fence }) => fence)],
  )
  return one(rows).lanes
}
