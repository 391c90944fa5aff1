/** What the outbox says of itself, read from outside as the database's owner. Nothing is written. */
import type pg from 'pg'
import type { OutboxLedger } from './stage.ts'

type Owner = Pick<pg.Pool, 'query'>

/** Of one tenant: a database may hold what others left. */
export const outboxLedger = (owner: Owner, tenantId: string): OutboxLedger => ({
  outlook: async () => {
    // One statement, for a row that falls due in between two would be in neither answer.
    const { rows } = await owner.query<{ busy: string; next: Date | null }>(
      `select count(*) filter (where state in ('ready', 'leased')
                                 or (state in ('scheduled', 'paused') and available_at <= app_now())) as busy,
         min(available_at) filter (where state in ('scheduled', 'paused')) as next
       from outbox where tenant_id = $1`,
      [tenantId],
    )
    const [row] = rows
    const next = row?.next ?? undefined
    // A Date is cut to the millisecond, and a moment before the row is due it is not due.
    return { busy: Number(row?.busy), nextDueAt: next && new Date(next.getTime() + 1) }
  },
  deadCodes: async () => {
    const { rows } = await owner.query<{ code: string }>(
      'select code from outbox_dead where tenant_id = $1',
      [tenantId],
    )
    return rows.map(({ code }) => code)
  },
})

export const readNow = async (owner: Owner): Promise<Date> => {
  const { rows } = await owner.query<{ now: Date }>('select app_now() as now')
  const [row] = rows
  if (!row) throw new Error('the database told no time')
  return row.now
}

/** Until when a dispatcher holds what it holds; undefined when it holds nothing. */
export const heldUntil = async (owner: Owner, replicaId: string): Promise<Date | undefined> => {
  const { rows } = await owner.query<{ until: Date | null }>(
    `select max(lease_until) as until from outbox where state = 'leased' and lease_owner = $1`,
    [replicaId],
  )
  return rows[0]?.until ?? undefined
}

/** The one row that is worked on; undefined while there are others, which would lose their leases with it. */
export const onlyHeldRow = async (
  owner: Owner,
  tenantId: string,
): Promise<{ readonly id: string; readonly replicaId: string; readonly until: Date } | undefined> => {
  const { rows } = await owner.query<{ id: string; replica: string | null; until: Date | null }>(
    `select id, lease_owner as replica, lease_until as until from outbox
       where tenant_id = $1 and state in ('leased', 'ready')`,
    [tenantId],
  )
  const [row, ...more] = rows
  if (!row?.replica || !row.until || more.length > 0) return undefined
  return { id: row.id, replicaId: row.replica, until: row.until }
}

export const isEnded = async (owner: Owner, rowId: string): Promise<boolean> => {
  const { rowCount } = await owner.query('select from outbox_history where id = $1', [rowId])
  return rowCount === 1
}
