import { z } from 'zod'

/** The names under which schemas stand in the OpenAPI document. */
export const schemaNames = z.registry<{ id: string }>()

/** What each named schema is, by its name; a registry of names cannot be listed. */
export const descriptionByName = new Map<string, string>()

/** Gives a schema its name in the OpenAPI document. Every body and every answer has one. */
export const named = <Schema extends z.ZodType>(id: string, schema: Schema, description?: string): Schema => {
  schemaNames.add(schema, { id })
  if (description !== undefined) descriptionByName.set(id, description)
  return schema
}
