/** Declared routes as Express routes: one pipeline for all of them. */
import { errorFields } from '@aftercommit/platform/log'
import type { Db } from '@aftercommit/platform/db'
import { Router, type Request, type RequestHandler, type Response } from 'express'
import { readJson } from './body.ts'
import { readMail } from './mail.ts'
import { etagOf, matchesWeakly } from './etag.ts'
import { answerOnce, fingerprintOf, IdempotencyKey, joined } from './idempotency.ts'
import { keyHolderOf, requireScope, type Scope } from './keys.ts'
import { pointerOf, problem, ProblemError, PROBLEM_MEDIA_TYPE, type FieldError } from './problem.ts'
import { chooseForm, TEXT_MEDIA_TYPE, type Form } from './representation.ts'
import { factsOf } from './request.ts'
import type { BodyMedia, Caller, RawRequest, Reply, Route } from './route.ts'
import type { KeptAnswer } from './store.ts'

export const scopeOf = ({ method }: Pick<Route, 'method'>): Scope => (method === 'get' ? 'read' : 'write')

export const mount = (routes: readonly Route[], db: Db): Router => {
  const router = Router({ caseSensitive: true })
  for (const [path, group] of byPath(routes)) {
    const address = path.replaceAll(/\{(\w+)\}/g, ':$1')
    for (const route of group) {
      const handlers = [
        begin(route),
        ...(route.method === 'post' ? readersOf[route.media]() : []),
        serve(route, db),
      ]
      if (route.method === 'get') router.get(address, ...handlers)
      else router.post(address, ...handlers)
    }
    router.all(address, refuseMethod(path, group))
  }
  return router
}

const readersOf = {
  'application/json': readJson,
  'message/rfc822': readMail,
} as const satisfies Record<BodyMedia, () => RequestHandler[]>

const byPath = (routes: readonly Route[]): ReadonlyMap<string, readonly Route[]> => {
  const groups = new Map<string, readonly Route[]>()
  for (const route of routes) groups.set(route.path, [...(groups.get(route.path) ?? []), route])
  return groups
}

/** Before a body is read: whoever may not ask is not listened to. */
const begin =
  (route: Route): RequestHandler =>
  (_request, response, next) => {
    factsOf(response).route = route.path
    requireScope(keyHolderOf(response), scopeOf(route))
    response.set('cache-control', route.method === 'get' ? 'private, no-cache' : 'no-store')
    next()
  }

const serve =
  (route: Route, db: Db): RequestHandler =>
  async (request, response) => {
    // `body` is undefined when none was sent; Express types it as any.
    const body: unknown = request.body
    const { params, query, headers } = request
    const read = route.read({ params, query, headers, body })
    const key = route.method === 'post' ? idempotencyKeyIn(request) : noKey
    if (read.type === 'malformed' || key.type === 'malformed') {
      const errors = [...key.errors, ...(read.type === 'malformed' ? read.errors : [])]
      throw new ProblemError('malformed-input', {
        errors: await withJudged(route, { params, body }, errors, db, response),
      })
    }
    const { work } = read
    const form = chooseForm(route, request, response)
    const caller = {
      tenantId: keyHolderOf(response).tenantId,
      traceParent: factsOf(response).traceParent,
    }
    const answer =
      route.method === 'get'
        ? answerOf(route, await work({ ...caller, db }))
        : await write(route, db, request, { ...caller, key: key.key }, work)
    send(request, response, inForm(route, form, answer))
  }

/**
 * Where the schema has complained, what the domain thinks of the same place is no news. What is malformed is so without a
 * database too: if none answers, only the schema's complaints are told.
 */
const withJudged = async (
  { judge }: Route,
  { params, body }: Pick<RawRequest, 'params' | 'body'>,
  errors: readonly FieldError[],
  db: Db,
  response: Response,
): Promise<readonly FieldError[]> => {
  const { tenantId } = keyHolderOf(response)
  const judging = async () => (judge ? judge(body, { db, tenantId }, params) : [])
  const judged = await judging().catch((error: unknown) => {
    factsOf(response).log.warn('a malformed body was not judged by the domain', errorFields(error))
    return []
  })
  const known = new Set(errors.map((error) => `${error.in}${error.pointer}`))
  const more = judged
    .map(({ path, reason }): FieldError => ({ in: 'body', pointer: pointerOf(path), rule: reason }))
    .filter((error) => !known.has(`${error.in}${error.pointer}`))
  // Two who look through one body may find the same.
  const once = new Map(more.map((error) => [`${error.pointer} ${error.rule}`, error]))
  return [...errors, ...once.values()]
}

type Sent = KeptAnswer & { readonly replayed?: boolean; readonly text?: string }

/** What is kept and compared is the answer; only what is sent has a form. */
const inForm = ({ answer }: Route, form: Form, kept: KeptAnswer & { readonly replayed?: boolean }): Sent => {
  if (form === 'json' || !answer.text || kept.status >= 400) return kept
  const headers = { ...kept.headers, 'content-type': `${TEXT_MEDIA_TYPE}; charset=utf-8` }
  return { ...kept, headers, text: answer.text.render(kept.body) }
}

/** A command and its answer are one transaction, with a key or without. */
const write = (
  route: Route,
  db: Db,
  request: Request,
  { key, ...caller }: Omit<Caller, 'db'> & { readonly key: string | undefined },
  work: (caller: Caller) => Promise<Reply>,
): Promise<KeptAnswer & { readonly replayed?: boolean }> => {
  if (key === undefined) {
    return db.transact(caller.tenantId, async (tx) =>
      answerOf(route, await work({ ...caller, db: joined(db, tx) })),
    )
  }
  const path = request.baseUrl + request.path
  const keyed = {
    place: { tenantId: caller.tenantId, operation: route.operationId, key },
    fingerprint: fingerprintOf(request.method, path, request.body),
  }
  return answerOnce(db, keyed, async (tx) => answerOf(route, await work({ ...caller, db: joined(db, tx) })))
}

const noKey = { type: 'read', key: undefined, errors: [] } as const

const idempotencyKeyIn = (request: Request) => {
  const key = IdempotencyKey.optional().safeParse(request.get('idempotency-key'))
  if (key.success) return { type: 'read', key: key.data, errors: [] } as const
  const rule = key.error.issues[0]?.message ?? ''
  const error: FieldError = { in: 'header', pointer: '/idempotency-key', rule }
  return { type: 'malformed', errors: [error] } as const
}

const answerOf = (route: Route, reply: Reply): KeptAnswer => {
  if (reply.type === 'refused') {
    const body = problem(reply.name, reply.more)
    return { status: body.status, headers: { 'content-type': PROBLEM_MEDIA_TYPE }, body }
  }
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(reply.location !== undefined && { location: reply.location }),
    ...(reply.etag !== undefined && { etag: etagOf(reply.etag) }),
  }
  const { status } = (reply.again ? route.answer.again : undefined) ?? route.answer
  return { status, headers, body: reply.body }
}

const send = (
  request: Request,
  response: Response,
  { status, headers, body, replayed, text }: Sent,
): void => {
  response.set(headers)
  if (replayed) response.set('idempotent-replayed', 'true')
  const wanted = request.get('if-none-match')
  if (request.method !== 'POST' && wanted !== undefined && matchesWeakly(wanted, headers.etag ?? '')) {
    response.removeHeader('content-type')
    return void response.status(304).end()
  }
  response.status(status).send(text ?? JSON.stringify(body))
}

const refuseMethod = (path: string, routes: readonly Route[]): RequestHandler => {
  const allow = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : ['POST'])).join(', ')
  return (request, response) => {
    factsOf(response).route = path
    response.set('allow', allow)
    if (request.method === 'OPTIONS') return void response.status(204).end()
    throw new ProblemError('method-not-allowed')
  }
}
