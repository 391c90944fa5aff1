/** What waits for a time. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

/**
 * Moves rows whose time has come into the claim index, each behind what its tenant has there, or, while their account
 * rests, to `paused`. Bounded. Answers how many it moved.
 */
export const releaseDueRows = async (sql: Sql, limit: number): Promise<number> => {
  const { rowCount } = await sql.query(
    `with due as materialized (
       select id from outbox_due($1) as id),
     rested as materialized (
       select account, until from outbox_account_pause where until > app_now()),
     moving as materialized (
       select d.id, d.tenant_id, d.lane, p.until,
         row_number() over (partition by d.tenant_id, d.lane, p.until is null order by d.available_at, d.id) - 1 as nth
       from (select * from outbox where id = any(array(select id from due))) d
         left join rested p on p.account = d.account),
     lines as materialized (
       select tenant_id, lane, outbox_next_turn(tenant_id, lane) as turn
       from (select distinct tenant_id, lane from moving where until is null) f)
     update outbox o set
       state = case when m.until is null then 'ready' else 'paused' end::outbox_state,
       available_at = coalesce(m.until, app_now()),
       budget_from = case when m.until is null then o.budget_from else o.budget_from + (m.until - app_now()) end,
       turn = case when m.until is null then l.turn + m.nth else o.turn end
     from moving m left join lines l on l.tenant_id = m.tenant_id and l.lane = m.lane
     where o.id = m.id`,
    [limit],
  )
  return rowCount ?? 0
}

/** How long until the next row falls due, in milliseconds; undefined when none is scheduled. */
export const nextDueInMs = async (sql: Sql): Promise<number | undefined> => {
  const { rows } = await sql.query<{ ms: number | null }>(
    `select (extract(epoch from min(available_at) - app_now()) * 1000)::float8 as ms
       from outbox where state in ('scheduled', 'paused')`,
  )
  const { ms } = one(rows)
  return ms === null ? undefined : Math.max(0, Math.ceil(ms))
}
