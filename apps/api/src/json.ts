/** A JSON object whose fields are not known beforehand. */
export type Json = { readonly [key: string]: unknown }

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
