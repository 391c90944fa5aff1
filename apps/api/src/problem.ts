import { errorFields } from '@aftercommit/platform/log'
import type { ErrorRequestHandler, Response } from 'express'
import type { z } from 'zod'
import { jsonFaultIn } from './json-fault.ts'
import { isUnavailable } from './unavailable.ts'
import { problems, type ProblemKind, type ProblemName } from './problems.ts'
import { factsOf } from './request.ts'

/** One thing that is wrong: in which part of the request, where in it (RFC 6901), and the rule it broke. */
export interface FieldError {
  readonly in: 'body' | 'query' | 'path' | 'header'
  readonly pointer: string
  readonly rule: string
}

/** RFC 9457. `type` is relative: this server explains it at that address. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail?: string
  readonly errors?: readonly FieldError[]
}

export type ProblemMore = Pick<Problem, 'detail' | 'errors'>

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

export const problem = (name: ProblemName, more: ProblemMore = {}): Problem => {
  const { title, status, detail }: ProblemKind = problems[name]
  return { type: `/problems/${name}`, title, status, ...(detail !== undefined && { detail }), ...more }
}

/** Thrown when a request ends before, or instead of, what it asks for. Whatever it had begun to write is undone. */
export class ProblemError extends Error {
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>
  constructor(name: ProblemName, more: ProblemMore = {}, headers: Readonly<Record<string, string>> = {}) {
    const body = problem(name, more)
    super(body.title)
    this.problem = body
    this.headers = headers
  }
}

export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** What a command found wrong in a body that has the right shape. */
export const malformedBody = (
  errors: readonly { readonly path: readonly PropertyKey[]; readonly reason: string }[],
): ProblemError =>
  new ProblemError('malformed-input', {
    errors: errors.map(({ path, reason }) => ({ in: 'body', pointer: pointerOf(path), rule: reason })),
  })

/** A schema's complaints about one part of a request. An unknown key is named by itself, not by its parent. */
export const fieldErrorsOf = (part: FieldError['in'], error: z.ZodError): readonly FieldError[] =>
  error.issues.flatMap((issue): FieldError[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        in: part,
        pointer: pointerOf([...issue.path, key]),
        rule: `is not a known ${part === 'query' ? 'parameter' : 'field'}`,
      }))
    }
    return [{ in: part, pointer: pointerOf(issue.path), rule: issue.message }]
  })

export const sendProblem = (response: Response, body: Problem): void => {
  response.status(body.status).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(body))
}

const RETRY_AFTER_S = '5'

/** The last middleware: every error ends as a problem document, and only our own faults are logged. */
export const problemHandler: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error)
    return
  }
  const answer =
    error instanceof ProblemError ? error : (requestProblem(error) ?? ourProblem(error, response))
  response.set(answer.headers)
  sendProblem(response, answer.problem)
}

const ourProblem = (error: unknown, response: Response): ProblemError => {
  factsOf(response).log.error('request failed', errorFields(error))
  return isUnavailable(error)
    ? new ProblemError('unavailable', {}, { 'retry-after': RETRY_AFTER_S })
    : new ProblemError('internal')
}

/** What Express and its body parser refuse; they mark their errors with a type or with a client's status. */
const requestProblem = (error: unknown): ProblemError | undefined => {
  if (!(error instanceof Error)) return undefined
  const type: unknown = Reflect.get(error, 'type')
  const status: unknown = Reflect.get(error, 'status')
  switch (type) {
    case 'entity.parse.failed':
      return new ProblemError('malformed-json', jsonDetail(Reflect.get(error, 'body')))
    case 'entity.too.large': {
      const limit: unknown = Reflect.get(error, 'limit')
      const detail = typeof limit === 'number' ? `At most ${limit} bytes are taken.` : undefined
      return new ProblemError('body-too-large', detail === undefined ? {} : { detail })
    }
    case 'encoding.unsupported':
      return new ProblemError(
        'unsupported-media-type',
        { detail: `The body may be compressed with ${ENCODINGS}, or not at all.` },
        { 'accept-encoding': ENCODINGS },
      )
    case 'charset.unsupported':
      return new ProblemError(
        'unsupported-media-type',
        { detail: 'This address takes application/json in UTF-8.' },
        { accept: 'application/json' },
      )
    default:
      return typeof status === 'number' && status >= 400 && status < 500
        ? new ProblemError('unreadable-request')
        : undefined
  }
}

/** What the body parser unpacks. */
const ENCODINGS = 'gzip, deflate, br'

/** Where it stops being JSON. The body is not quoted, which no answer and no log may do. */
const jsonDetail = (text: unknown): ProblemMore => {
  const fault = typeof text === 'string' ? jsonFaultIn(text) : undefined
  if (!fault) return {}
  const { line, column, offset, expected } = fault
  return {
    detail: `It breaks off at character ${offset} (line ${line}, column ${column}): expected ${expected}.`,
  }
}
