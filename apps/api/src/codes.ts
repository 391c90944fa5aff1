import { z } from 'zod'

/**
 * Words of a list that grows, each with what it means, in the form that JSON Schema has for it. `other` says what a word
 * that is not in the list is: a client must expect one.
 */
export const codesOf = (meanings: Readonly<Record<string, string>>, other: string) =>
  z.union([
    ...Object.entries(meanings).map(([code, description]) => z.literal(code).meta({ description })),
    z.string().meta({ description: other }),
  ])

/** The same for a list that is complete. */
export const closedCodesOf = <const Code extends string>(meanings: Readonly<Record<Code, string>>) =>
  z.union(
    Object.entries<string>(meanings).map(([code, description]) =>
      // Object.entries widens the keys that it was given.
      z.literal(code as Code).meta({ description }),
    ),
  )
