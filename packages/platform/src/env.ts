import { z } from 'zod'

/**
 * Reads a process's settings, once, at its start. Throws one error that names every wrong or missing variable and
 * never shows a value.
 */
export const readEnv = <Schema extends z.ZodType>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.output<Schema> => {
  const result = schema.safeParse(env)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`the environment is not usable: ${problems.join('; ')}`)
}

/** A whole number in a variable, within bounds. */
export const wholeNumber = (bounds: { readonly min: number; readonly max: number }) =>
  z.string().regex(/^\d+$/, 'a whole number').transform(Number).pipe(z.int().min(bounds.min).max(bounds.max))
