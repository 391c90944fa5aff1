/** The engine's statements through somebody else's Prisma transaction. */
import type { Sql } from '../connection.ts'

/** What Prisma's transaction client offers of raw SQL. Named by its shape, so that nothing here needs Prisma. */
export interface RawQueries {
  $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows>
}

/**
 * The connection of a Prisma transaction (`$transaction(async (tx) => …)`), as `enqueue` and `supersede` take it. Values
 * are sent as parameters, never as part of the text. Prisma reads `int8` as BigInt; here it is text, as `pg` has it.
 */
export const throughPrisma = (tx: RawQueries): Sql => ({
  query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const rows = (await tx.$queryRawUnsafe<object[]>(text, ...values)).map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])) as Row,
    )
    return { rows, rowCount: rows.length }
  },
})

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
