/** How much lies where. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

/** Counts stop here: more than this is "many", and counting on would cost what it measures. */
export const GAUGED_ROWS_MAX = 10_000

export interface LaneGauge {
  readonly lane: string
  readonly state: 'ready' | 'scheduled' | 'paused' | 'leased' | 'outcome_unknown' | 'dead'
  /** At most one more than GAUGED_ROWS_MAX, over all lanes of the state; for ready rows in each lane. */
  readonly rows: number
  /** How long the oldest ready row has been ready; null for every other state. */
  readonly oldestAgeMs: number | null
}

/**
 * How much lies where, over all tenants, at one instant of the database. Each state is counted along its own partial
 * index and up to a bound, so that a sample costs the same on a backlog of millions. A lane's oldest row is looked for
 * among the next to be claimed, where every tenant's oldest is. An unknown row is found by the
 * question that is always written with it.
 */
export const sampleGauges = async (
  sql: Sql,
): Promise<{ readonly observedAt: Date; readonly gauges: readonly LaneGauge[] }> => {
  const { rows } = await sql.query<LaneGauge & { observedAt: Date }>(
    `with recursive ready_lanes as (
       (select lane from outbox where state = 'ready' and not solo order by lane limit 1)
       union all
       select (select o.lane from outbox o where o.state = 'ready' and not o.solo and o.lane > l.lane
                 order by o.lane limit 1)
         from ready_lanes l where l.lane is not null),
     ready as (
       select l.lane, counted.rows, counted.available_at
         from ready_lanes l,
           lateral (select count(*) as rows, min(available_at) as available_at from (select o.available_at from outbox o
                      where o.state = 'ready' and not o.solo and o.lane = l.lane order by o.turn, o.id limit $1)) counted
         where l.lane is not null
       union all
       select lane, count(*), min(available_at)
         from (select lane, available_at from outbox where state = 'ready' and solo
                 order by available_at, id limit $1) group by lane),
     counted as (
       select lane, 'ready' as state, sum(rows) as rows, app_now() - min(available_at) as age from ready group by lane
       union all
       select lane, state::text, count(*), null
         from (select lane, state from outbox where state in ('scheduled', 'paused')
                 order by available_at, id limit $1) group by lane, state
       union all
       select lane, 'leased', count(*), null
         from (select lane from outbox where state = 'leased' order by lease_until limit $1) group by lane
       union all
       select lane, 'outcome_unknown', count(*), null
         from (select u.lane from outbox q join outbox u on u.id = q.target_id and u.state = 'outcome_unknown'
                 where q.target_id is not null limit $1) group by lane
       union all
       select lane, 'dead', count(*), null
         from (select lane from outbox_dead where resolution is null limit $1) group by lane)
     select now.at as "observedAt", c.lane, c.state, c.rows::int,
         case when c.age is not null then greatest(extract(epoch from c.age) * 1000, 0)::float8 end as "oldestAgeMs"
       from (select app_now() as at) now left join counted c on true`,
    [GAUGED_ROWS_MAX + 1],
  )
  // The clock is always answered; a row without a lane says that nothing lies anywhere.
  const { observedAt } = one(rows)
  return { observedAt, gauges: rows.filter(({ lane }: { lane: string | null }) => lane !== null) }
}
