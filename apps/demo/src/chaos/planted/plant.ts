/** Plants a defect. Whatever is not found exactly once is an error: a defect that was not planted would not be found either. */
import { z } from 'zod'
import type { Owner } from '../owner.ts'
import type { Defect, Rewrite } from './defects.ts'

export const rewritten = (text: string, { find, replace }: Rewrite): string => {
  const [before, after, ...more] = text.split(find)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(
      `the statement to be broken was found ${text.split(find).length - 1} times, and not once: ${find}`,
    )
  }
  return `${before}${replace}${after}`
}

export const plantInBundle = (bundle: string, { inDispatcher }: Defect): string =>
  inDispatcher.reduce(rewritten, bundle)

export const plantInDatabase = async (owner: Owner, { inDatabase }: Defect): Promise<void> => {
  if (!inDatabase) return
  const { rows } = await owner.query(
    'select pg_get_functiondef(oid) as text from pg_proc where proname = $1',
    [inDatabase.function],
  )
  const { text } = z.object({ text: z.string() }).parse(rows[0])
  await owner.query(rewritten(text, inDatabase))
}
