/** Every refusal of a schema in plain words: the rule that was broken, with its bound. */
import { z } from 'zod'

type Issue = Parameters<z.core.$ZodErrorMap>[0]

/** Makes these the words of every schema in this process that brings none of its own. */
export const speakPlainly = (): void => {
  z.config({ localeError: ruleOf })
}

export const ruleOf = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : (typeRules[issue.expected] ?? typeRule(issue.expected))
    case 'invalid_value':
      return valueRule(issue.input, issue.values)
    case 'too_small':
      return sizeRule(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')
    case 'too_big':
      return sizeRule(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return formatRule(issue)
    case 'unrecognized_keys':
      return `has fields that are not known: ${issue.keys.join(', ')}`
    case 'invalid_union':
      return unionRule(issue)
    case 'invalid_key':
      return `has a name that ${firstOf(issue.issues)}`
    case 'invalid_element':
      return `has an entry that ${firstOf(issue.issues)}`
    case 'custom':
      return 'is not accepted'
  }
}

const typeRule = (expected: string): string => `must be of the type ${expected}`

const typeRules: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  tuple: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
  undefined: 'must be left out',
  never: 'must be left out',
  null: 'must be null',
}

const valueRule = (input: unknown, values: readonly unknown[]): string => {
  if (input === undefined)
    return values.length === 1 ? 'is required' : `is required; one of: ${listed(values)}`
  return values.length === 1 ? `must be ${listed(values)}` : `is not one of: ${listed(values)}`
}

const listed = (values: readonly unknown[]): string => values.map(String).join(', ')

const sizeRule = (
  { origin, exact }: { readonly origin: string; readonly exact?: boolean },
  bound: number | bigint,
  relation: string,
): string => {
  const [one, many] = units[origin] ?? []
  const how = exact ? 'exactly' : relation
  if (one === undefined) return `must be ${how} ${bound}`
  if (how === 'at least' && bound === 1 && origin === 'string') return 'must not be empty'
  return `must have ${how} ${bound} ${bound === 1 ? one : many}`
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
}

const formatRules: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address, such as ada@example.com',
  url: 'must be a URL with its scheme, such as https://client.example/hook',
  uuid: 'must be a UUID, as answers give it out',
  datetime: 'must be a date and time with its offset, such as 2027-03-24T12:00:00Z',
  date: 'must be a date, such as 2027-03-24',
  time: 'must be a time of day, such as 09:00',
}

const formatRule = (issue: Extract<Issue, { readonly code: 'invalid_format' }>): string => {
  const { format, pattern } = issue
  if (format === 'starts_with') return `must begin with ${String(issue.prefix)}`
  if (format === 'ends_with') return `must end with ${String(issue.suffix)}`
  if (format === 'includes') return `must contain ${String(issue.includes)}`
  if (format === 'regex') return `must match ${String(pattern)}`
  return formatRules[format] ?? `must be of the format ${format}`
}

const unionRule = (issue: Extract<Issue, { readonly code: 'invalid_union' }>): string => {
  if (Array.isArray(issue.options) && issue.discriminator !== undefined) {
    const given: unknown = Reflect.get(Object(issue.input), issue.discriminator)
    return valueRule(given, issue.options)
  }
  const forms = issue.errors.map((faults) => faults.map(worded).join(' and '))
  return forms.length === 0 ? 'has more than one form at once' : [...new Set(forms)].join('; or ')
}

const worded = ({
  path,
  message,
}: {
  readonly path: readonly PropertyKey[]
  readonly message: string
}): string => (path.length === 0 ? message : `${path.map(String).join('.')} ${message}`)

const firstOf = (issues: readonly { readonly message: string }[]): string =>
  issues[0]?.message ?? 'is not accepted'
