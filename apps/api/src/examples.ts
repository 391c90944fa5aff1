/** Bodies that can be sent as they stand, and the commands that send them. */
import { isJson, type Json } from './json.ts'

/** An example of a schema: its own, or one put together from the examples of its parts. */
export const exampleOf = (schema: unknown): unknown => {
  if (!isJson(schema)) return undefined
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.oneOf)) return exampleOf(schema.oneOf[0])
  if (schema.type === 'array') return [exampleOf(schema.items)]
  return isJson(schema.properties) ? objectExample(schema.properties) : undefined
}

const objectExample = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const example = exampleOf(property)
      return example === undefined ? [] : [[name, example]]
    }),
  )

/** A command for a POSIX shell in which `API` and `KEY` are set, and a variable per id in the path. */
export const curlOf = (method: string, path: string, body: unknown): string => {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`)
  const lines = [
    `curl -sS ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$API${address}"`,
    '  -H "Authorization: Bearer $KEY"',
  ]
  if (typeof body === 'string') {
    lines.push("  -H 'Content-Type: message/rfc822'", '  --data-binary @mail.eml')
  } else if (body !== undefined) {
    const text = compact(JSON.stringify(body, undefined, 2)).replaceAll("'", String.raw`'\''`)
    lines.push("  -H 'Content-Type: application/json'", `  -d '${text}'`)
  }
  return lines.join(' \\\n')
}

/** A list of plain values on one line. A line break in the text is one of the layout: in a value it would be escaped. */
const compact = (json: string): string =>
  json.replaceAll(
    /\[\n([^[\]{}]*)\n\s*\]/g,
    (_, items: string) => `[${items.trim().replaceAll(/\n\s*/g, ' ')}]`,
  )

/** `meetingId` is `MEETING`, as in the guides. */
const variableOf = (name: string): string =>
  name
    .replace(/Id$/, '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()
