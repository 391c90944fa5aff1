import type { Prisma } from '@aftercommit/platform/db'

/** JSON as Prisma takes it. Dates become text, undefined fields vanish. */
export const json = (value: unknown): Prisma.InputJsonValue =>
  JSON.parse(JSON.stringify(value)) as Prisma.InputJsonValue
