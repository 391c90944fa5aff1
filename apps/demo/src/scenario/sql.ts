/** What the outbox says of itself, read from outside as the database's owner. Nothing is written. */
import type pg from 'pg'
import type { OutboxLedger } from './stage.ts'

type Owner = Pick<pg.Pool, 'query'>

/** Of one tenant: a database may hold what others left. */
export const outboxLedger = (owner: Owner, tenantId: string): OutboxLedger => ({
  nextDueAt: async () => {
    const { rows } = await owner.query<{ at: Date | null }>(
      `select min(available_at) as at from outbox where tenant_id = $1 and state in ('scheduled', 'paused')`,
      [tenantId],
    )
    const at = rows[0]?.at ?? undefined
    // A Date is cut to the millisecond, and a moment before the row is due it is not due.
    return at && new Date(at.getTime() + 1)
  },
  countBusy: () =>
    count(
      owner,
      `select count(*) from outbox where tenant_id = $1 and
         (state in ('ready', 'leased') or (state in ('scheduled', 'paused') and available_at <= app_now()))`,
      tenantId,
    ),
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

const count = async (owner: Owner, text: string, tenantId: string): Promise<number> => {
  const { rows } = await owner.query<{ count: string }>(text, [tenantId])
  return Number(rows[0]?.count)
}

/** The row that reads this person's calendar, while somebody works on it. */
export const heldRead = async (
  owner: Owner,
  participantId: string,
): Promise<{ readonly id: string; readonly replicaId: string; readonly until: Date } | undefined> => {
  const { rows } = await owner.query<{ id: string; replica: string; until: Date }>(
    `select id, lease_owner as replica, lease_until as until from outbox
       where state = 'leased' and payload ->> 'participantId' = $1`,
    [participantId],
  )
  const [row] = rows
  return row && { id: row.id, replicaId: row.replica, until: row.until }
}

export const isEnded = async (owner: Owner, rowId: string): Promise<boolean> => {
  const { rowCount } = await owner.query('select from outbox_history where id = $1', [rowId])
  return rowCount === 1
}

/** Whether somebody works on anything but this row. */
export const othersAtWork = async (owner: Owner, tenantId: string, rowId: string): Promise<boolean> => {
  const { rowCount } = await owner.query(
    `select from outbox where tenant_id = $1 and state in ('ready', 'leased') and id <> $2`,
    [tenantId, rowId],
  )
  return rowCount !== 0
}
