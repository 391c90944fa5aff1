import type { ErrorRequestHandler, Response } from 'express'
import { errorFields, type Log } from '@aftercommit/platform/log'
import { ZodError } from 'zod'

/** RFC 9457. `errors` names each field by JSON pointer (RFC 6901) and the rule it broke. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail?: string
  readonly errors?: readonly { readonly pointer: string; readonly rule: string }[]
}

const TYPE_BASE = 'https://aftercommit.dev/problems/'

export const problem = (
  status: number,
  name: string,
  title: string,
  more: Pick<Problem, 'detail' | 'errors'> = {},
): Problem => ({ type: `${TYPE_BASE}${name}`, title, status, ...more })

export const sendProblem = (response: Response, body: Problem): void => {
  response.status(body.status).type('application/problem+json').send(JSON.stringify(body))
}

/** Thrown by a route or its middleware when the answer is a problem; the error handler sends it. */
export class ProblemError extends Error {
  readonly problem: Problem
  constructor(body: Problem) {
    super(body.title)
    this.problem = body
  }
}

export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export const malformed = (errors: readonly { path: readonly PropertyKey[]; rule: string }[]): Problem =>
  problem(400, 'malformed-input', 'The input is malformed; nothing was written.', {
    errors: errors.map(({ path, rule }) => ({ pointer: pointerOf(path), rule })),
  })

/** The last middleware: every error ends as a problem document, and only defects are logged. */
export const problemHandler =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error)
    const answer = problemOf(error)
    if (!answer) log.error('request failed', errorFields(error))
    sendProblem(
      response,
      answer ?? problem(500, 'internal', 'This is our fault. Nothing is known to be lost.'),
    )
  }

const problemOf = (error: unknown): Problem | undefined => {
  if (error instanceof ProblemError) return error.problem
  if (error instanceof ZodError) {
    return malformed(error.issues.map((issue) => ({ path: issue.path, rule: issue.message })))
  }
  // body-parser marks its errors with a type.
  switch (error instanceof Error ? Reflect.get(error, 'type') : undefined) {
    case 'entity.parse.failed':
      return problem(400, 'malformed-json', 'The body is not JSON.')
    case 'entity.too.large':
      return problem(413, 'body-too-large', 'The body is larger than this endpoint takes.')
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return problem(415, 'unsupported-encoding', "The body's encoding is not supported.")
    case 'request.aborted':
      return problem(400, 'request-aborted', 'The request ended before its body did.')
    default:
      return undefined
  }
}
