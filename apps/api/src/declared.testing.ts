import { isDeepStrictEqual } from 'node:util'
import type { Response } from 'supertest'
import { z } from 'zod'
import { problemsOf } from './openapi.ts'
import { problemNames, problems } from './problems.ts'
import { TEXT_MEDIA_TYPE } from './representation.ts'
import type { Route } from './route.ts'

interface Exchange {
  readonly method: string
  readonly path: string
  readonly answer: Response
}

const ProblemBody = z.strictObject({
  type: z.string().startsWith('/problems/'),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  errors: z
    .array(
      z.strictObject({
        in: z.enum(['body', 'query', 'path', 'header']),
        pointer: z.string().regex(/^(\/.*)?$/),
        rule: z.string().min(1),
      }),
    )
    .min(1)
    .optional(),
})

/**
 * Throws when an answer is not what its route declares: another status, a problem that the route does not name, a
 * body that its schema refuses, or a field that its schema does not know.
 */
export const mustMatchDeclaration = (routes: readonly Route[], { method, path, answer }: Exchange): void => {
  const [address = ''] = path.split('?')
  const route = routes.find((each) => each.method === method && templateOf(each.path).test(address))
  if (answer.status >= 400 && (answer.type === 'application/problem+json' || route)) {
    mustBeProblem(route, answer)
    return
  }
  if (!route || answer.status === 304) return
  const { status, schema, again } = route.answer
  if (answer.status !== status && answer.status !== again?.status)
    throw new Error(`${route.operationId} answered ${answer.status}, not ${status}`)
  for (const name of ['etag', 'location'] as const) {
    if ((answer.headers[name] !== undefined) !== (route.answer.headers ?? []).includes(name)) {
      throw new Error(`${route.operationId} and its answer do not agree on the header ${name}`)
    }
  }
  if (answer.type === TEXT_MEDIA_TYPE && route.answer.text) return
  const body: unknown = answer.body
  const known: unknown = schema.parse(body)
  if (!isDeepStrictEqual(known, body)) {
    throw new Error(`${route.operationId} answered fields that it does not declare: ${answer.text}`)
  }
}

const mustBeProblem = (route: Route | undefined, answer: Response): void => {
  if (answer.type !== 'application/problem+json') {
    throw new Error(`${answer.status} came as ${answer.type} and not as a problem`)
  }
  // A HEAD request gets no body to look at.
  if (answer.text === '') return
  const { type, title, status } = ProblemBody.parse(JSON.parse(answer.text))
  const name = problemNames.find((each) => type === `/problems/${each}`)
  if (
    !name ||
    problems[name].title !== title ||
    problems[name].status !== status ||
    status !== answer.status
  ) {
    throw new Error(`not a problem of the catalogue: ${answer.text}`)
  }
  if (route && !problemsOf(route).includes(name)) {
    throw new Error(`${route.operationId} does not declare ${name}`)
  }
}

const templateOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
