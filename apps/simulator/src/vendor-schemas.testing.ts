/**
 * Holds exchanges with the simulator against the vendors' own JSON Schemas: what the simulator answers, and what
 * a client of it sends. The schemas are not part of this project. `VENDOR_SCHEMAS` names a folder that has them;
 * without it nothing is checked.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { z } from 'zod'
import type { Exchanged } from './exchange.ts'
import { googleVendor } from './google/vendor-schemas.testing.ts'
import { microsoftVendor } from './microsoft/vendor-schemas.testing.ts'

type Schema = Readonly<Record<string, unknown>>

/** One vendor's schemas, and which of them each operation speaks. */
export interface Vendor {
  /** In the folder that `VENDOR_SCHEMAS` names. */
  readonly file: string
  /** The vendors mark next to nothing as required. These are the members that no answer and no request may lack. */
  readonly requiredInAnswers: Readonly<Record<string, readonly string[]>>
  readonly requiredInRequests: Readonly<Record<string, readonly string[]>>
  /** A patch names what it changes; ours always state a draft whole. */
  readonly requiredInPatches: Readonly<Record<string, readonly string[]>>
  /** Definitions that the file lacks. */
  readonly definitions: Readonly<Record<string, Schema>>
  /** The definition of each operation's answer; null where success has no body. */
  readonly answers: Readonly<Record<string, string | null>>
  /** The definition of each operation's request body, for those that have one. */
  readonly requests: Readonly<Record<string, string>>
}

const vendors = { google: googleVendor, microsoft: microsoftVendor } as const

export interface VendorCheck {
  /** To be given to `startSimulator`. */
  readonly observe: (exchanged: Exchanged) => void
  /** What contradicted the schemas since the last time, one sentence each. */
  readonly takeMistakes: () => readonly string[]
}

/**
 * Checks every exchange it is shown. `whose: 'anybody'` leaves the requests alone, for tests that send nonsense
 * on purpose.
 */
export const vendorCheck = (whose: 'ours' | 'anybody', folder = process.env.VENDOR_SCHEMAS): VendorCheck => {
  if (!folder) return { observe: () => undefined, takeMistakes: () => [] }
  const schemas = { google: compiled(vendors.google, folder), microsoft: compiled(vendors.microsoft, folder) }
  const mistakes: string[] = []
  return {
    observe: (exchanged) => {
      if (exchanged.provider === 'webhook') return
      const { answer, request } = schemas[exchanged.provider]
      mistakes.push(...answer(exchanged))
      if (whose === 'ours') mistakes.push(...request(exchanged))
    },
    takeMistakes: () => mistakes.splice(0),
  }
}

/** A token endpoint refuses in words of its own (RFC 6749, 5.2). */
const refusalOf = (operation: string): string => (operation === 'token' ? 'tokenRefusal' : 'refusal')

const tokenRefusal = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
}

type Judge = (exchanged: Exchanged) => readonly string[]

const compiled = (vendor: Vendor, folder: string): { readonly answer: Judge; readonly request: Judge } => {
  const { $defs } = z
    .object({ $defs: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(JSON.parse(readFileSync(join(folder, vendor.file), 'utf8')))
  const definitions = { ...$defs, ...vendor.definitions, tokenRefusal }
  const answerNamed = validators(definitions, vendor.requiredInAnswers)
  const requestNamed = validators(definitions, vendor.requiredInRequests)
  const patchNamed = validators(definitions, vendor.requiredInPatches)
  return {
    answer: (exchanged) => {
      const { operation, status, body } = exchanged
      if (status >= 400) return told(exchanged, 'refusal', answerNamed(refusalOf(operation)), body)
      // A selection answers what was asked for, and nothing of it is required.
      if (exchanged.query.has('$select') || status === 304) return []
      const name = vendor.answers[operation]
      if (name === undefined) return [`${operation}: no schema is named for its answer`]
      if (name === null) return body === undefined ? [] : [`${operation}: a body where there should be none`]
      return told(exchanged, 'answer', answerNamed(name), body)
    },
    request: (exchanged) => {
      const { operation, request } = exchanged
      const name = vendor.requests[operation]
      if (name === undefined) return []
      return operation === 'events.patch'
        ? told(exchanged, 'request', patchNamed(name), withoutNulls(request))
        : told(exchanged, 'request', requestNamed(name), request)
    },
  }
}

/** In a patch null takes a member away; the schemas speak of what is there. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

const told = (
  { provider, operation }: Exchanged,
  what: string,
  validate: ValidateFunction,
  value: unknown,
): readonly string[] => {
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${provider} ${operation} ${what}${instancePath}: ${message ?? 'wrong'} ${JSON.stringify(params)}`,
  )
}

const formats = {
  'date-time': (text: string) => z.iso.datetime({ offset: true }).safeParse(text).success,
  date: (text: string) => z.iso.date().safeParse(text).success,
}

const validators = (
  definitions: Readonly<Record<string, Schema>>,
  requiredByName: Readonly<Record<string, readonly string[]>>,
): ((name: string) => ValidateFunction) => {
  const $defs = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => {
      const required = requiredByName[name]
      return [name, required ? { ...schema, required } : schema]
    }),
  )
  // An unknown name would otherwise require nothing, for ever and in silence.
  const unknown = Object.keys(requiredByName).filter((name) => !(name in definitions))
  if (unknown.length > 0) throw new Error(`the vendor has no ${unknown.join(', ')}`)
  const ajv = new Ajv({ allErrors: true, strict: false, formats })
  ajv.addSchema({ $id: 'vendor', $defs })
  return (name) => {
    const validate = ajv.getSchema(`vendor#/$defs/${name}`)
    if (!validate) throw new Error(`the vendor has no ${name}`)
    return validate
  }
}
