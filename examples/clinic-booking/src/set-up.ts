/** Makes the database ready, as its owner: Aftercommit's schema, the clinic's, and the two logins. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { migrate } from '@aftercommit/platform/migrate'
import pg from 'pg'

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

export const setUp = async (ownerUrl: string, logins: { app: string; worker: string }): Promise<void> => {
  await migrate(ownerUrl, MIGRATIONS)
  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  try {
    await owner.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'))
    await makeLogin(owner, logins.app, 'clinic_app')
    await makeLogin(owner, logins.worker, 'clinic_worker')
  } finally {
    await owner.end()
  }
}

const makeLogin = async (owner: pg.Client, url: string, role: string): Promise<void> => {
  const { username, password } = new URL(url)
  const login = owner.escapeIdentifier(decodeURIComponent(username))
  await owner.query(
    `create role ${login} login password ${owner.escapeLiteral(decodeURIComponent(password))} in role ${role}`,
  )
}
