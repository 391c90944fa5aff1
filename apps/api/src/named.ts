import { z } from 'zod'

/** The names under which schemas stand in the OpenAPI document. */
export const schemaNames = z.registry<{ id: string; description?: string }>()

/** Gives a schema its name in the OpenAPI document. Every body and every answer has one. */
export const named = <Schema extends z.ZodType>(id: string, schema: Schema, description?: string): Schema => {
  schemaNames.add(schema, { id, ...(description !== undefined && { description }) })
  return schema
}
