import type { Sql } from './db.ts'

/** The newest migration that this build was written against. A test holds it against the folder of migrations. */
export const SCHEMA_NEEDED = '20261203000200_exceptions_in_order'

/** Whether the database is reachable and has the schema that this build needs. Throws when it is not reachable. */
export const isMigrated = async (sql: Sql): Promise<boolean> => {
  const { rows } = await sql.query<{ there: boolean }>('select has_migration($1) as there', [SCHEMA_NEEDED])
  return rows[0]?.there === true
}
