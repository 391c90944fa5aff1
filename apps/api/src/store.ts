/** Every statement on the API's own tables: keys, and what was answered to repeated requests. */
import type { Sql } from '@aftercommit/platform/db'

/** The one read that happens before a tenant is known. Answers for the exact hash of a key that is not revoked. */
export const readKeyHolder = async (
  sql: Sql,
  keyHash: Buffer,
): Promise<{ readonly tenantId: string; readonly scopes: readonly string[] } | undefined> => {
  const { rows } = await sql.query<{ tenant_id: string | null; scopes: string[] | null }>(
    'select tenant_of_api_key($1) as tenant_id, scopes_of_api_key($1) as scopes',
    [keyHash],
  )
  const [row] = rows
  return row?.tenant_id && row.scopes ? { tenantId: row.tenant_id, scopes: row.scopes } : undefined
}

/** The time by which everything is decided, for what is decided outside of a transaction. */
export const readNow = async (sql: Sql): Promise<Date> => {
  const { rows } = await sql.query<{ now: Date }>('select app_now() as now')
  const [row] = rows
  if (!row) throw new Error('the database did not tell the time')
  return row.now
}

/** An Idempotency-Key where it applies: in one tenant, for one operation. */
export interface KeyPlace {
  readonly tenantId: string
  readonly operation: string
  readonly key: string
}

const placeValues = ({ tenantId, operation, key }: KeyPlace): readonly string[] => [tenantId, operation, key]

/**
 * Takes a key for this transaction, if nobody has it or its 24 hours are over. Waits while another transaction that
 * took it is open, and takes it when that one rolls back. Answers whether it was taken.
 */
export const claimKey = async (sql: Sql, place: KeyPlace, fingerprint: Buffer): Promise<boolean> => {
  const { rowCount } = await sql.query(
    `insert into idempotency_key (tenant_id, operation, key, fingerprint) values ($1, $2, $3, $4)
     on conflict (tenant_id, operation, key) do update set fingerprint = excluded.fingerprint, status = null,
       headers = null, body = null, created_at = excluded.created_at, expires_at = excluded.expires_at
       where idempotency_key.expires_at <= app_now()`,
    [...placeValues(place), fingerprint],
  )
  return rowCount === 1
}

/** What is written when the answer is known; commits with what it is the answer to. */
export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export const keepAnswer = async (sql: Sql, place: KeyPlace, answer: KeptAnswer): Promise<void> => {
  await sql.query(
    `update idempotency_key set status = $4, headers = $5, body = $6
       where tenant_id = $1 and operation = $2 and key = $3`,
    [...placeValues(place), answer.status, JSON.stringify(answer.headers), JSON.stringify(answer.body)],
  )
}

/** Read after `claimKey` refused, so the row is committed and has its answer. */
export const readAnswer = async (
  sql: Sql,
  place: KeyPlace,
): Promise<(KeptAnswer & { readonly fingerprint: Buffer }) | undefined> => {
  const { rows } = await sql.query<KeptAnswer & { fingerprint: Buffer }>(
    `select status, headers, body, fingerprint from idempotency_key
       where tenant_id = $1 and operation = $2 and key = $3 and status is not null`,
    placeValues(place),
  )
  return rows[0]
}

/**
 * Removes a few of the tenant's expired keys, and waits for none. Each new key removes more than one, so a tenant's
 * keys stay within what it sent in a day.
 */
export const sweepKeys = async (sql: Sql): Promise<void> => {
  await sql.query(
    `delete from idempotency_key where (tenant_id, operation, key) in (
       select tenant_id, operation, key from idempotency_key where expires_at <= app_now()
         order by expires_at limit 20 for update skip locked)`,
  )
}
