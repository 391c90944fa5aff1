import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { fieldErrorsOf } from './problem.ts'
import { ruleOf } from './rules.ts'

const rulesOf = (schema: z.ZodType, input: unknown): readonly string[] => {
  const parsed = schema.safeParse(input, { error: ruleOf })
  return parsed.error
    ? fieldErrorsOf('body', parsed.error).map(({ pointer, rule }) => `${pointer} ${rule}`.trim())
    : []
}

const Choice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('a') }),
  z.strictObject({ type: z.literal('b'), size: z.int() }),
])

test.each<[rule: string, z.ZodType, unknown]>([
  ['is required', z.string(), undefined],
  ['is required', z.int(), undefined],
  ['/name is required', z.object({ name: z.string() }), {}],
  ['must be text', z.string(), 1],
  ['must be text', z.string(), null],
  ['must be a number', z.number(), '5'],
  ['must be a number', z.coerce.number(), 'five'],
  ['must be a whole number', z.int(), 1.5],
  ['must be true or false', z.boolean(), 'yes'],
  ['must be a list', z.array(z.string()), {}],
  ['must be an object', z.object({}), []],
  ['must be an object', z.record(z.string(), z.string()), 'x'],
  ['must be left out', z.undefined(), 1],
  ['must be of the type bigint', z.bigint(), 'x'],
  ['must be at least 5', z.int().min(5), 4],
  ['must be at most 720', z.int().max(720), 721],
  ['must be more than 0', z.number().positive(), 0],
  ['must be less than 0', z.number().negative(), 0],
  ['must be a multiple of 5', z.int().multipleOf(5), 7],
  ['must not be empty', z.string().min(1), ''],
  ['must have at least 2 characters', z.string().min(2), 'a'],
  ['must have at most 1 character', z.string().max(1), 'ab'],
  ['must have exactly 3 characters', z.string().length(3), 'ab'],
  ['must have at least 1 item', z.array(z.string()).min(1), []],
  ['must have at most 2 items', z.array(z.string()).max(2), ['a', 'b', 'c']],
  ['is not one of: required, optional', z.enum(['required', 'optional']), 'perhaps'],
  ['is required; one of: required, optional', z.enum(['required', 'optional']), undefined],
  ['must be automatic', z.literal('automatic'), 'by hand'],
  ['is required', z.literal('automatic'), undefined],
  ['must be an e-mail address, such as ada@example.com', z.email(), 'ada'],
  ['must be a URL with its scheme, such as https://client.example/hook', z.url(), 'client'],
  ['must be a UUID, as answers give it out', z.uuid(), '17'],
  ['must be a date and time with its offset, such as 2027-03-24T12:00:00Z', z.iso.datetime(), 'noon'],
  ['must be a date, such as 2027-03-24', z.iso.date(), 'today'],
  ['must be of the format ipv4', z.ipv4(), 'x'],
  ['must begin with a', z.string().startsWith('a'), 'b'],
  ['must end with a', z.string().endsWith('a'), 'b'],
  ['must contain a', z.string().includes('a'), 'b'],
  ['must match /^a$/', z.string().regex(/^a$/), 'b'],
  ['HH:mm', z.string().regex(/^a$/, 'HH:mm'), 'b'],
  ['/colour is not a known field', z.strictObject({}), { colour: 'red' }],
  ['/type is not one of: a, b', Choice, { type: 'c' }],
  ['/type is required; one of: a, b', Choice, {}],
  ['/size is required', Choice, { type: 'b' }],
  ['must be text; or must be a number', z.union([z.string(), z.number()]), true],
  ['is not accepted', z.string().refine(() => false), 'x'],
  ['/B has a name that must match /^[a-z]$/', z.record(z.string().regex(/^[a-z]$/), z.string()), { B: 'x' }],
])('%s', (rule, schema, input) => {
  expect(rulesOf(schema, input)).toEqual([rule])
})

test('several rules of one field are several sentences', () => {
  expect(rulesOf(z.object({ minutes: z.int().min(5).multipleOf(5) }), { minutes: 3 })).toEqual([
    '/minutes must be at least 5',
    '/minutes must be a multiple of 5',
  ])
})
