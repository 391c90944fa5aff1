/** Which dispatchers live and what they know; rows that nobody knows. */
import type { Sql } from '../connection.ts'
import type { ClaimedRow } from './rows.ts'

/**
 * Tells that a replica lives and which actions it knows. What it knew is remembered after it has stopped, because an
 * action is unknown only when nobody has known it for a while; those long gone are forgotten.
 */
export const beat = async (sql: Sql, replicaId: string, actions: readonly string[]): Promise<void> => {
  await sql.query(
    `with gone as (delete from outbox_replica where seen_at < app_now() - interval '7 days')
     insert into outbox_replica (replica_id, actions) values ($1, $2)
     on conflict (replica_id) do update set seen_at = app_now(), actions = excluded.actions`,
    [replicaId, actions],
  )
}

/** How many rows of a lane are looked at for unknown ones. */
const LOOKED_AT_MAX = 1_000

/** An unfinished row of an action that no replica knows, or that was retired. */
export type UnknownRow = Pick<ClaimedRow, 'id' | 'fence' | 'tenant_id' | 'action' | 'lane' | 'ordering_key'>

/**
 * Takes over rows whose action was retired, or has been known by no replica for `graceMs` although one has lived all
 * that time: a fleet that is being replaced, or was down, is given the time to know it. A row in hand is left until its
 * lease runs out. Answers at most `limit` rows, under a new fence.
 *
 * Looks at the first rows of each lane only, whatever its backlog: claims pass over an unknown row and take those behind
 * it, so that it becomes one of the first.
 */
export const takeUnknownRows = async (
  sql: Sql,
  options: {
    readonly known: readonly string[]
    readonly retired: readonly string[]
    readonly graceMs: number
    readonly leaseMs: number
    readonly limit: number
  },
): Promise<readonly UnknownRow[]> => {
  const { rows } = await sql.query<UnknownRow>(
    `with recursive lived as (
       select coalesce(bool_or(started_at < app_now() - make_interval(secs => $3::float8 / 1000)
                               and seen_at > app_now() - interval '1 minute'), false) as long_enough from outbox_replica),
     heard_of as (
       select distinct unnest(actions) as action from outbox_replica
         where seen_at > app_now() - make_interval(secs => $3::float8 / 1000)),
     lanes as (
       (select lane from outbox where state = 'ready' and not solo order by lane limit 1)
       union all
       select (select o.lane from outbox o where o.state = 'ready' and not o.solo and o.lane > l.lane
                 order by o.lane limit 1)
         from lanes l where l.lane is not null),
     next as materialized (
       select n.* from lanes l, lateral (
           select o.id, o.action, o.available_at from outbox o where o.state = 'ready' and not o.solo and o.lane = l.lane
             order by o.turn, o.id limit ${LOOKED_AT_MAX}) n
         where l.lane is not null
       union all
       (select id, action, available_at from outbox where state = 'ready' and solo
          order by available_at, id limit ${LOOKED_AT_MAX})
       union all
       (select id, action, available_at from outbox where state = 'leased' and lease_until < app_now()
          order by lease_until limit ${LOOKED_AT_MAX})),
     unknown as materialized (
       select o.id from outbox o
       where o.id = any(array(
           select n.id from next n, lived
             where n.action <> all($1)
               and (n.action = any($2) or (lived.long_enough
                    and n.available_at < app_now() - make_interval(secs => $3::float8 / 1000)
                    and not exists (select from heard_of h where h.action = n.action)))
             order by n.id limit $5))
         and (o.state = 'ready' or (o.state = 'leased' and o.lease_until < app_now()))
       for update skip locked)
     update outbox o set state = 'leased', fence = o.fence + 1,
       lease_until = app_now() + make_interval(secs => $4::float8 / 1000)
     where o.id = any(array(select id from unknown))
     returning o.id, o.fence, o.tenant_id, o.action, o.lane, o.ordering_key`,
    [options.known, options.retired, options.graceMs, options.leaseMs, options.limit],
  )
  return rows
}
