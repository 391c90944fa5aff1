import { z } from 'zod'

/** Where the next page of a list begins. Opaque to clients: its content may change with any release. */
export const cursorFrom = (position: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(position), 'utf8').toString('base64url')

/** A query parameter that carries a cursor of one list, read as the position that `position` describes. */
export const cursorOf = <Position extends z.ZodType>(position: Position) =>
  z
    .string()
    .max(500)
    .meta({ description: '`nextCursor` of the page before. Left out, the list begins.' })
    .transform((text, context): z.output<Position> => {
      const read = position.safeParse(decoded(text))
      if (read.success) return read.data
      context.addIssue({
        code: 'custom',
        message: 'is not a cursor of this list; send `nextCursor` as it was answered',
      })
      return z.NEVER
    })

const decoded = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    // Undefined is no position of any list, so the schema refuses it.
    return undefined
  }
}

export const PageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(100)
  .default(50)
  .meta({ description: 'How many items a page holds at most.', examples: [50] })

/** One page of what was found, and where the next one begins. Ask for one more than a page holds: that tells if there is one. */
export const pageOf = <Item>(
  found: readonly Item[],
  limit: number,
  positionOf: (last: Item) => readonly (string | number)[],
): { readonly items: readonly Item[]; readonly next: { readonly nextCursor?: string } } => {
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items, next: last ? { nextCursor: cursorFrom(positionOf(last)) } : {} }
}
