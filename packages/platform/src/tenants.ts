import { createHash, randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'

export interface NewTenant {
  readonly tenantId: string
  /** Shown once; only its SHA-256 is stored. */
  readonly apiKey: string
}

/** Makes a tenant and its first API key, as the owner of the schema. */
export const createTenant = async (ownerUrl: string, name: string): Promise<NewTenant> => {
  const tenantId = randomUUID()
  const apiKey = `ac_${randomBytes(24).toString('base64url')}`
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'aftercommit tenant' })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('insert into tenant (tenant_id, name) values ($1, $2)', [tenantId, name])
    await client.query('insert into api_key (key_hash, tenant_id, label) values ($1, $2, $3)', [
      createHash('sha256').update(apiKey, 'utf8').digest(),
      tenantId,
      'first key',
    ])
    await client.query('commit')
  } finally {
    await client.end()
  }
  return { tenantId, apiKey }
}
