/** Provider accounts: their rest, and how many of their rows run at a time. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

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
 * Lets as many rows that wait for a busy account run as the account is named times. Answers the lanes that have work
 * again.
 */
export const resumePaused = async (sql: Sql, accounts: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await sql.query<{ lanes: string[] }>('select outbox_resume($1::text[]) as lanes', [
    accounts,
  ])
  return one(rows).lanes
}
