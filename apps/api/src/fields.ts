/** A JSON Schema as the rows of a table: each field with its type, its rules as sentences, and what it is for. */
import { isJson, type Json } from './json.ts'

export interface FieldRow {
  /** From the body's root: `participants[].address`. */
  readonly path: string
  /** A reference to a named schema is its name, in braces. */
  readonly type: string
  readonly required: boolean
  readonly rules: readonly string[]
  readonly description: string
}

export const fieldRows = (schema: Json, prefix = ''): readonly FieldRow[] => {
  if (Array.isArray(schema.oneOf)) return formRows(schema.oneOf.filter(isJson), prefix)
  if (!isJson(schema.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    isJson(property) ? rowsOf(prefix + name, property, required.includes(name)) : [],
  )
}

const rowsOf = (path: string, schema: Json, required: boolean): readonly FieldRow[] => {
  const row = { path, type: typeOf(schema), required, rules: rulesOf(schema) }
  const inner = schema.type === 'array' && isJson(schema.items) ? schema.items : schema
  const nested = inner === schema ? `${path}.` : `${path}[].`
  return [{ ...row, description: descriptionOf(schema) }, ...fieldRows(inner, nested)]
}

/** What it is for, and what each of its words means. */
const descriptionOf = ({ description, anyOf }: Json): string => {
  const meanings = wordsIn(anyOf).map(({ word, meaning }) =>
    word === undefined ? meaning : `\`${word}\`: ${meaning}`,
  )
  return [...(typeof description === 'string' ? [description] : []), ...meanings].join('\n\n')
}

/** The words of a union that is a list of words, each with its meaning; the last may be any other word. */
const wordsIn = (
  anyOf: unknown,
): readonly { readonly word: string | undefined; readonly meaning: string }[] =>
  Array.isArray(anyOf)
    ? anyOf
        .filter(isJson)
        .flatMap(({ const: word, description: meaning }) =>
          typeof meaning === 'string' ? [{ word: typeof word === 'string' ? word : undefined, meaning }] : [],
        )
    : []

/** The forms of a union in one list: their discriminant once, and each other field with the forms that have it. */
const formRows = (forms: readonly Json[], prefix: string): readonly FieldRow[] => {
  const named = forms.map((form) => ({ form, type: discriminantOf(form) }))
  const kinds = named.map(({ type }) => String(type?.const))
  const meanings = named.map(({ type }) =>
    typeof type?.description === 'string' ? `\`${String(type.const)}\`: ${type.description}` : '',
  )
  const discriminant = {
    path: `${prefix}type`,
    type: 'text',
    required: true,
    rules: [`One of: ${kinds.join(', ')}.`],
    description: meanings.filter((meaning) => meaning !== '').join('\n\n'),
  }
  const others = named.flatMap(({ form, type }) =>
    fieldRows(form, prefix)
      .filter(({ path }) => path !== discriminant.path)
      .map((row) => ({ ...row, rules: [`With \`${String(type?.const)}\`.`, ...row.rules] })),
  )
  return [discriminant, ...merged(others)]
}

/** A field that several forms have alike is one row. */
const merged = (rows: readonly FieldRow[]): readonly FieldRow[] => {
  const rowByContent = new Map<string, FieldRow>()
  for (const row of rows) {
    const [form = '', ...rules] = row.rules
    const content = JSON.stringify({ ...row, rules })
    const known = rowByContent.get(content)
    const forms = known ? `${known.rules[0]?.slice(0, -1) ?? ''}, ${form.slice('With '.length)}` : form
    rowByContent.set(content, { ...row, rules: [forms, ...rules] })
  }
  return [...rowByContent.values()]
}

const discriminantOf = ({ properties }: Json): Json | undefined =>
  isJson(properties) && isJson(properties.type) ? properties.type : undefined

const typeByFormat: Readonly<Record<string, string>> = {
  'date-time': 'date and time',
  email: 'e-mail address',
  uuid: 'UUID',
  uri: 'URL',
}
const typeByType: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
}

export const typeOf = (schema: Json): string => {
  const { $ref, type, format, items, anyOf } = schema
  if (typeof $ref === 'string') return `{${$ref.slice($ref.lastIndexOf('/') + 1)}}`
  if (type === 'array') return `list of ${isJson(items) ? typeOf(items) : 'anything'}`
  if (Array.isArray(anyOf)) return [...new Set(anyOf.filter(isJson).map(typeOf))].join(' or ')
  if (Array.isArray(schema.oneOf)) return 'object'
  if (typeof format === 'string' && typeByFormat[format] !== undefined) return typeByFormat[format]
  return typeof type === 'string' ? (typeByType[type] ?? type) : 'anything'
}

/** One sentence per rule. */
export const rulesOf = (schema: Json): readonly string[] => {
  const { minimum, maximum, multipleOf, minLength, maxLength, minItems, maxItems } = schema
  const sentences = [
    bound('At least', minimum),
    bound('At most', maximum),
    bound('A multiple of', multipleOf),
    bound('At least', minLength, 'character'),
    bound('At most', maxLength, 'character'),
    bound('At least', minItems, 'item'),
    bound('At most', maxItems, 'item'),
    Array.isArray(schema.enum) ? `One of: ${schema.enum.map(String).join(', ')}.` : undefined,
    wordsSentence(schema),
    'const' in schema ? `Always ${String(schema.const)}.` : undefined,
    'default' in schema ? `When left out: ${JSON.stringify(schema.default)}.` : undefined,
    exampleSentence(schema),
    ...(isJson(schema.items) ? rulesOf(schema.items).map((rule) => `Each: ${lowered(rule)}`) : []),
  ]
  return sentences.filter((sentence) => sentence !== undefined)
}

const wordsSentence = ({ anyOf }: Json): string | undefined => {
  const words = wordsIn(anyOf)
  const known = words.flatMap(({ word }) => word ?? []).join(', ')
  if (known === '') return undefined
  return `One of: ${known}${words.some(({ word }) => word === undefined) ? '; there may be others' : ''}.`
}

const bound = (what: string, value: unknown, unit?: string): string | undefined => {
  // zod writes the limits of JavaScript's whole numbers into every schema of one.
  if (typeof value !== 'number' || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return undefined
  return `${what} ${value}${unit === undefined ? '' : ` ${unit}${value === 1 ? '' : 's'}`}.`
}

/** Where a list of values or a literal says it already, no example is needed. */
const exampleSentence = (schema: Json): string | undefined =>
  Array.isArray(schema.examples) && !('enum' in schema) && !('const' in schema)
    ? `Such as \`${JSON.stringify(schema.examples[0])}\`.`
    : undefined

const lowered = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
