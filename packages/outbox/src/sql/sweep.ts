/** Looking whether every key's rows are in order. */
import type { Sql } from '../connection.ts'
import { one } from './rows.ts'

export interface KeyRef {
  readonly tenantId: string
  readonly key: string
}

/** How many of a key's first rows are looked at. */
const ROWS_PER_KEY = 20

/**
 * Of the next keys after the given one, those whose rows are out of order: a first row that waits for nobody, or a later
 * one that does not wait. It holds at every commit that there is none, so what is found is a defect and no race.
 * `last` is where the next look begins; undefined at the end.
 */
export const findBrokenKeys = async (
  sql: Sql,
  after: KeyRef | undefined,
  keysMax: number,
): Promise<{ readonly broken: readonly KeyRef[]; readonly last: KeyRef | undefined }> => {
  const { rows } = await sql.query<KeyRef & { broken: boolean; keys: number }>(
    `with recursive keys as (
       (select tenant_id, ordering_key from outbox
          where ordering_key is not null and (tenant_id, ordering_key) > ($1::uuid, $2::text)
          order by tenant_id, ordering_key limit 1)
       union all
       select n.tenant_id, n.ordering_key from keys k, lateral (
         select o.tenant_id, o.ordering_key from outbox o
           where o.ordering_key is not null and (o.tenant_id, o.ordering_key) > (k.tenant_id, k.ordering_key)
           order by o.tenant_id, o.ordering_key limit 1) n),
     page as materialized (select k.*, row_number() over () as nth from (select * from keys limit $3) k),
     judged as (
       select p.*, exists (
         select from (
           select o.state, row_number() over (order by o.id) as place from (
             select id, state from outbox where tenant_id = p.tenant_id and ordering_key = p.ordering_key
               order by id limit ${ROWS_PER_KEY}) o) h
         where (h.place = 1 and (h.state = 'waiting'
                                 or (h.state = 'held' and not outbox_key_has_dead(p.tenant_id, p.ordering_key))))
            or (h.place > 1 and h.state in ('ready', 'scheduled', 'paused'))) as broken
       from page p)
     select tenant_id as "tenantId", ordering_key as key, broken, (select count(*) from page)::int as keys
       from judged where broken or nth = (select max(nth) from page) order by nth`,
    [after?.tenantId ?? '00000000-0000-0000-0000-000000000000', after?.key ?? '', keysMax],
  )
  const last = rows.at(-1)
  return {
    broken: rows.filter(({ broken }) => broken).map(({ tenantId, key }) => ({ tenantId, key })),
    last: last && last.keys >= keysMax ? { tenantId: last.tenantId, key: last.key } : undefined,
  }
}

/** Puts a key's rows in order, under the key's lock. Answers how many it moved and the lane that has work now. */
export const mendKey = async (
  sql: Sql,
  { tenantId, key }: KeyRef,
): Promise<{ readonly mended: number; readonly lane: string | undefined }> => {
  const { rows } = await sql.query<{ mended: number; lane: string | null }>(
    'select mended, lane from outbox_mend_key($1, $2)',
    [tenantId, key],
  )
  const { mended, lane } = one(rows)
  return { mended, lane: lane ?? undefined }
}
