import express, { type Request, type RequestHandler } from 'express'
import { pointerOf, ProblemError } from './problem.ts'

const BODY_MAX_BYTES = 256 * 1024
/** Deeper than any body that a schema here accepts, and shallow enough for everything that walks one. */
const DEPTH_MAX = 32

/** Keys that mean something to JavaScript objects. No schema here has such a field. */
const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Reads a JSON body; refuses other media types, and keys and depths that no schema should have to meet. */
export const readJson = (): RequestHandler[] => [
  (request, _response, next) => {
    if (hasBody(request) && !request.is('application/json')) {
      const detail = 'This address takes application/json in UTF-8.'
      throw new ProblemError('unsupported-media-type', { detail }, { accept: 'application/json' })
    }
    next()
  },
  // Not strict: a word or `null` is JSON, and the schema says what else it should be.
  express.json({ limit: BODY_MAX_BYTES, strict: false }),
  (request, _response, next) => {
    // An empty body is no body, whatever the parser makes of it.
    if (!hasBody(request)) request.body = undefined
    refuseStrangeKeys(request.body)
    next()
  },
]

/** RFC 9112, 6.3: a request has a body when it says how long it is, or that it comes in chunks. */
const hasBody = (request: Request): boolean => {
  const length = request.get('content-length')
  return request.get('transfer-encoding') !== undefined || (length !== undefined && length !== '0')
}

/** NUL, which PostgreSQL's text cannot hold, and halves of surrogate pairs, which are no characters. */
const UNSTORABLE = /\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Iterative, because the depth is the sender's choice. */
const refuseStrangeKeys = (body: unknown): void => {
  const open: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: body, path: [] }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string' && UNSTORABLE.test(value))
      throw strange(path, 'must hold neither NUL nor half of a surrogate pair')
    if (typeof value !== 'object' || value === null) continue
    if (path.length >= DEPTH_MAX) throw strange(path, `must not be nested more than ${DEPTH_MAX} deep`)
    for (const [key, inner] of Object.entries(value)) {
      if (RESERVED.has(key)) throw strange([...path, key], 'is a reserved name')
      open.push({ value: inner, path: [...path, key] })
    }
  }
}

const strange = (path: readonly string[], rule: string): ProblemError =>
  new ProblemError('malformed-input', { errors: [{ in: 'body', pointer: pointerOf(path), rule }] })
